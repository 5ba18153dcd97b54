package traces

import (
	"context"
	"fmt"
	"io"
	"strings"

	"netsim/content/library"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/objects"
	"netsim/projections"
	"netsim/simulator/archive"
	"netsim/simulator/chakra"
	"netsim/simulator/compressed"
)

// Folder returns the key prefix of the files of a library with the layout prefix.
func Folder(hash string) string { return library.Prefix(hash) + "files/" }

// Workload is the rank files of a traceset, as chakra.Inspect takes them.
type Workload struct {
	Files  []chakra.File
	Groups chakra.Groups // nil when the traceset defines none
}

// Open lists the rank files of a traceset and reads its process groups. It returns
// NotFound if the file of the groups is not stored, Unprocessable if it is invalid.
// Opening a rank file that is not stored returns NotFound later. The context applies
// to every file that is opened.
func Open(ctx context.Context, store *objects.Store, t *projections.Traceset) (Workload, error) {
	files, err := t.FileList()
	if err != nil {
		return Workload{}, err
	}
	if t.Layout == events.LayoutFolder {
		if files, err = Unpacked(ctx, store, t.LibraryHash); err != nil {
			return Workload{}, err
		}
	}
	var w Workload
	for _, f := range files {
		switch {
		case f.Name == archive.GroupsFile:
			if w.Groups, err = readGroups(ctx, store, f); err != nil {
				return w, err
			}
		case f.Role == events.RolePrimary:
			w.Files = append(w.Files, chakra.File{Name: f.Name, Open: func() (io.ReadCloser, error) { return get(ctx, store, f) }})
		}
	}
	return w, nil
}

// Unpacked lists the files in a library's folder, without their hashes. Files
// whose names contain a rank are primary.
func Unpacked(ctx context.Context, store *objects.Store, libraryHash string) ([]events.TracesetFile, error) {
	folder := Folder(libraryHash)
	var files []events.TracesetFile
	for info, err := range store.List(ctx, folder) {
		if err != nil {
			return nil, err
		}
		f := events.TracesetFile{Name: strings.TrimPrefix(info.Key, folder), Size: info.Size, Role: events.RoleSupporting, ObjectKey: info.Key}
		if _, err := chakra.RankOf(f.Name); err == nil {
			f.Role = events.RolePrimary
		}
		files = append(files, f)
	}
	return files, nil
}

func readGroups(ctx context.Context, store *objects.Store, f events.TracesetFile) (chakra.Groups, error) {
	body, err := get(ctx, store, f)
	if err != nil {
		return nil, err
	}
	defer body.Close() //nolint:errcheck // it was only read
	watched := compressed.Watch(body)
	groups, err := chakra.ReadGroups(watched)
	switch {
	case watched.Err != nil:
		return nil, fmt.Errorf("read %s: %w", f.ObjectKey, watched.Err)
	case err != nil:
		return nil, refuse(f.Name, "%s", err.Error())
	}
	return groups, nil
}

func get(ctx context.Context, store *objects.Store, f events.TracesetFile) (io.ReadCloser, error) {
	body, _, err := store.Get(ctx, f.ObjectKey)
	if fault.Is(err, fault.NotFound) {
		return nil, fault.New(fault.NotFound, "file %s of the traceset is not stored", f.Name)
	}
	return body, err
}

// refusal is the reason why a traceset's files cannot be used.
type refusal struct{ file, reason string }

func (r *refusal) Error() string {
	if r.file == "" {
		return r.reason
	}
	return r.file + ": " + r.reason
}

// Unwrap gives a refusal the code fault.Unprocessable.
func (r *refusal) Unwrap() error { return fault.New(fault.Unprocessable, "%s", r.reason) }

func refuse(file, format string, args ...any) error {
	return &refusal{file, fmt.Sprintf(format, args...)}
}
