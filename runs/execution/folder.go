package execution

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"netsim/events"
	"netsim/fault"
	"netsim/simulator/archive"
	"netsim/simulator/chakra"
)

// Folder opens the files of an order in a directory, by their names.
type Folder struct {
	// Dir has the files as they were uploaded. It is only read.
	Dir *os.Root
	// Unpack is the directory for the files of archives. It is empty at first.
	Unpack *os.Root
	// MaxUnpacked limits the unpacked files, in bytes; 0 is 500 GB.
	MaxUnpacked int64
}

// unpackedKey is the key of files in Folder.Unpack.
const unpackedKey = "unpacked"

// Open implements Files.
func (d *Folder) Open(_ context.Context, f File) (io.ReadCloser, error) {
	dir := d.Dir
	if f.Key == unpackedKey {
		dir = d.Unpack
	}
	file, err := dir.Open(f.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "file %s is not there", f.Name)
	}
	return file, err
}

// Unpacked implements Files.
func (d *Folder) Unpacked(ctx context.Context, t *Traceset) ([]File, error) {
	var files []File
	u := archive.Unpacking{MaxBytes: d.MaxUnpacked, Put: func(name string, _ int64, content io.Reader) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		f := File{Name: name, Role: events.RoleSupporting, Key: unpackedKey}
		if _, err := chakra.RankOf(name); err == nil {
			f.Role = events.RolePrimary
		}
		files = append(files, f)
		return d.write(name, content)
	}}
	var others []File
	for _, f := range t.Files {
		var is bool
		var err error
		if f.Role == events.RolePrimary {
			is, err = u.File(f.Name, func() (io.ReadCloser, error) { return d.Open(ctx, f) })
		}
		if refused := new(archive.Refusal); errors.As(err, &refused) {
			return nil, unfit("%w", err)
		}
		if err != nil {
			return nil, err
		}
		if !is {
			others = append(others, f)
		}
	}
	for _, f := range others {
		if err := u.Beside(f.Name); err != nil {
			return nil, unfit("%w", err)
		}
	}
	files = append(files, others...)
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}

func (d *Folder) write(name string, content io.Reader) error {
	file, err := d.Unpack.Create(name)
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, content); err != nil {
		file.Close() //nolint:errcheck // the first error is the one to return
		return err
	}
	return file.Close()
}

// Check checks that every input of an order is in the directory and has the right
// hash. It returns a line for each missing or different file.
func (d *Folder) Check(ctx context.Context, o *Order) (wrong []string, err error) {
	for _, f := range o.Inputs() {
		is, err := d.hash(ctx, f)
		switch {
		case fault.Is(err, fault.NotFound):
			wrong = append(wrong, fmt.Sprintf("%s is missing", f.Name))
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", f.Name, err)
		case is != f.Hash:
			wrong = append(wrong, fmt.Sprintf("%s has the hash %s, not %s", f.Name, is, f.Hash))
		}
	}
	return wrong, nil
}

func (d *Folder) hash(ctx context.Context, f File) (string, error) {
	body, err := d.Open(ctx, f)
	if err != nil {
		return "", err
	}
	defer body.Close() //nolint:errcheck // it was only read
	sum := newSummed(body)
	_, err = io.Copy(io.Discard, sum)
	return sumText(sum.sum.Sum(nil)), err
}
