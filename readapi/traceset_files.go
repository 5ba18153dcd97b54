package readapi

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"netsim/api"
	"netsim/content/library"
	"netsim/content/traces"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/objects"
	"netsim/projections"
	"netsim/simulator/chakra"
)

// Storage is the location of the libraries' objects, for programs that read them
// without this service.
type Storage struct {
	Bucket string
	Mount  string // folder in which the libraries are mounted, without a trailing slash
}

// url returns the URL of an object, or of a folder of objects.
func (s Storage) url(key string) string { return "s3://" + s.Bucket + "/" + key }

// path returns the path at which an object is mounted.
func (s Storage) path(key string) string {
	return s.Mount + "/" + strings.TrimPrefix(key, library.All)
}

// TracesetDownload returns a download link for a file of a traceset. The file ""
// is the primary file of the lowest rank (completions.md section 6.4).
func (a *API) TracesetDownload(ctx context.Context, id, file string) (api.TracesetDownload, error) {
	t, err := a.traceset(ctx, id)
	if err != nil {
		return api.TracesetDownload{}, err
	}
	files, err := t.FileList()
	if err != nil {
		return api.TracesetDownload{}, err
	}
	i := slices.IndexFunc(files, func(f events.TracesetFile) bool { return f.Name == file })
	if file == "" {
		i = first(files)
	}
	if i < 0 || files[i].ObjectKey == "" {
		return api.TracesetDownload{}, fault.New(fault.NotFound, "traceset %s has no file '%s'", id, file)
	}
	link, err := a.Objects.PresignGet(ctx, files[i].ObjectKey, files[i].Name, files[i].ContentType, objects.LinkLife)
	return api.TracesetDownload{URL: link.URL, File: files[i].Name, ExpiresAt: timestamp(link.Expires)}, err
}

// TracesetResolution returns the locations of a traceset's files. It returns
// Validation if there are none (completions.md section 6.4).
func (a *API) TracesetResolution(ctx context.Context, id string) (api.TracesetResolution, error) {
	t, err := a.traceset(ctx, id)
	if err != nil {
		return api.TracesetResolution{}, err
	}
	files, err := t.FileList()
	if err != nil {
		return api.TracesetResolution{}, err
	}
	if t.LibraryHash == "" || len(files) == 0 {
		return api.TracesetResolution{}, fault.New(fault.Validation, "traceset %s has no files", id)
	}
	prefix := library.Prefix(t.LibraryHash)
	r := api.TracesetResolution{TracesetID: id, Name: t.Name, TotalSize: t.TotalSize, Layout: api.LibraryLayout(t.Layout)}
	r.Dra.Bucket, r.Dra.MountPath, r.Dra.StorePath = a.Storage.Bucket, a.Storage.path(prefix), a.Storage.url(prefix)
	if t.Layout == events.LayoutFolder {
		if t.FileCount == 0 {
			return r, fault.New(fault.Validation, "the library of traceset %s is missing", id)
		}
		r.FileCount, r.RootPath = t.FileCount, a.Storage.path(traces.Folder(t.LibraryHash))
		return r, nil
	}
	for _, f := range files {
		r.Files = append(r.Files, api.ResolvedFile{
			Name: f.Name, Role: api.UploadRole(f.Role), Size: f.Size,
			MountPath: a.Storage.path(f.ObjectKey), StoreKey: f.ObjectKey, StorePath: a.Storage.url(f.ObjectKey),
		})
	}
	return r, nil
}

// TracesetUse returns the partition key of a traceset's stream, and whether a use of
// the traceset must be recorded now. No use is recorded if the traceset never
// expires, is deleted, or was used within the last hour (completions.md section 8
// row 37).
func (a *API) TracesetUse(ctx context.Context, id string) (partition string, due bool, err error) {
	t, err := projections.FindTraceset(ctx, a.DB, id)
	if fault.Is(err, fault.NotFound) {
		return "", false, nil
	}
	return t.Partition, err == nil && t.UseIsDue(a.Now()), err
}

// first returns the index of the primary file of the lowest rank, -1 for none.
// Files whose names have no rank come last.
func first(files []events.TracesetFile) int {
	order := func(f events.TracesetFile) int {
		if rank, err := chakra.RankOf(f.Name); err == nil {
			return rank
		}
		return math.MaxInt
	}
	best := -1
	for i, f := range files {
		if f.Role == events.RolePrimary && (best < 0 || cmp.Or(cmp.Compare(order(f), order(files[best])), cmp.Compare(f.Name, files[best].Name)) < 0) {
			best = i
		}
	}
	return best
}
