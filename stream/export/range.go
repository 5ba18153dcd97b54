package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"netsim/fault"
	"netsim/infra/objects"
)

// Part opens n bytes of a file from an offset on, fault.NotFound when there is no such
// file. A file that is shorter gives fewer bytes.
func (d *Directory) Part(_ context.Context, name string, at, n int64) (io.ReadCloser, error) {
	f, err := os.Open(filepath.Join(d.Path, name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "%s has no %s", d.Path, name)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	return struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(f, at, n), f}, nil
}

// Part opens n bytes of an object from an offset on.
func (b *Bucket) Part(ctx context.Context, name string, at, n int64) (content io.ReadCloser, err error) {
	err = b.call(ctx, func() error {
		content, err = b.Store.GetRange(ctx, b.Prefix+name, at, n)
		return err
	})
	return content, err
}

// Publish writes a small file unless there is one with this name, fault.Conflict.
func (d *Directory) Publish(ctx context.Context, name string, content []byte) error {
	created, err := d.Create(ctx)
	if err != nil {
		return err
	}
	draft := created.(*draftFile)
	defer draft.Discard()
	if _, err := draft.Write(content); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	err = draft.finish(name, func() error { return os.Link(draft.Name(), filepath.Join(d.Path, name)) })
	if errors.Is(err, os.ErrExist) {
		return fault.New(fault.Conflict, "%s already has %s", d.Path, name)
	}
	return err
}

// Publish writes a small object unless there is one with this name, fault.Conflict.
func (b *Bucket) Publish(ctx context.Context, name string, content []byte) error {
	err := b.call(ctx, func() error { return b.Store.PutNew(ctx, b.Prefix+name, contentType(name), content) })
	if errors.Is(err, objects.ErrExists) {
		return fault.New(fault.Conflict, "the object store already has %s", b.Prefix+name)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
