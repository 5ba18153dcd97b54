package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"netsim/fault"
)

// Directory is a Target on disk.
type Directory struct {
	Path string
	lock *os.File
}

// partial is the beginning of the names of files that are not complete.
const partial = ".partial-"

// Begin makes the directory and locks it.
func (d *Directory) Begin(context.Context) error {
	if err := os.MkdirAll(d.Path, 0o755); err != nil {
		return fmt.Errorf("make the directory: %w", err)
	}
	lock, err := os.Open(d.Path)
	if err != nil {
		return fmt.Errorf("open the directory: %w", err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = lock.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return fault.New(fault.Conflict, "another export writes to %s", d.Path)
		}
		return fmt.Errorf("lock %s: %w", d.Path, err)
	}
	d.lock = lock
	return nil
}

// Close releases the lock.
func (d *Directory) Close() error {
	if d.lock == nil {
		return nil
	}
	return d.lock.Close()
}

// Names lists the complete files. A writer, which holds the lock, removes the others.
func (d *Directory) Names(ctx context.Context) ([]string, error) {
	entries, err := os.ReadDir(d.Path)
	if err != nil {
		return nil, fmt.Errorf("list the files: %w", err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), partial) {
			if d.lock == nil {
				continue
			}
			if err := d.Remove(ctx, e.Name()); err != nil {
				return nil, err
			}
			continue
		}
		names = append(names, e.Name())
	}
	return names, nil
}

// Open opens a file.
func (d *Directory) Open(_ context.Context, name string) (io.ReadCloser, error) {
	f, err := os.Open(filepath.Join(d.Path, name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "%s has no %s", d.Path, name)
	}
	return f, err
}

// Replace writes a small file.
func (d *Directory) Replace(ctx context.Context, name string, content []byte) error {
	draft, err := d.Create(ctx)
	if err != nil {
		return err
	}
	defer draft.Discard()
	if _, err := draft.Write(content); err != nil {
		return err
	}
	return draft.Finish(ctx, name)
}

// Remove removes a file.
func (d *Directory) Remove(_ context.Context, name string) error {
	if err := os.Remove(filepath.Join(d.Path, name)); err != nil {
		return fmt.Errorf("remove what is not complete: %w", err)
	}
	return nil
}

// Create begins a file.
func (d *Directory) Create(context.Context) (Draft, error) {
	f, err := os.CreateTemp(d.Path, partial+"*")
	if err != nil {
		return nil, fmt.Errorf("make a file: %w", err)
	}
	return &draftFile{File: f, directory: d}, nil
}

type draftFile struct {
	*os.File
	directory *Directory
	finished  bool
}

func (f *draftFile) Finish(_ context.Context, name string) error {
	err := f.finish(name, func() error { return os.Rename(f.Name(), filepath.Join(f.directory.Path, name)) })
	f.finished = err == nil
	return err
}

// finish makes the file durable, and durably gives it its name.
func (f *draftFile) finish(name string, rename func() error) error {
	for _, step := range []func() error{
		f.Sync,
		func() error { return f.Chmod(0o644) },
		f.Close,
		rename,
		f.directory.lock.Sync,
	} {
		if err := step(); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

func (f *draftFile) Discard() {
	if !f.finished {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
}
