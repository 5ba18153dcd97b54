package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"netsim/fault"
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
