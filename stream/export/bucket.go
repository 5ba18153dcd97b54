package export

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"netsim/infra/objects"
	"netsim/infra/wait"
)

// Bucket is a Target in an object store. Two exports to one prefix at the same time are
// not noticed.
type Bucket struct {
	Store  *objects.Store
	Prefix string // of the keys: "" or with a slash at the end
	// Pause waits before a call is repeated; wait.For when nil.
	Pause func(context.Context, time.Duration) error
}

// attempts is how often a call is made, and firstPause the time before the second one;
// every later pause is twice as long.
const (
	attempts   = 6
	firstPause = 500 * time.Millisecond
)

// call makes a call to the store, and repeats it unless the store refuses it.
func (b *Bucket) call(ctx context.Context, f func() error) error {
	pause := b.Pause
	if pause == nil {
		pause = wait.For
	}
	pauses := wait.Doubling(firstPause, firstPause<<attempts)
	for n := 1; ; n++ {
		err := f()
		if _, refused := objects.Refused(err); err == nil || refused || ctx.Err() != nil || !objects.Failed(err) {
			return err
		}
		if n == attempts {
			return fmt.Errorf("the object store did not answer %d times: %w", n, err)
		}
		if err := pause(ctx, pauses.NextBackOff()); err != nil {
			return err
		}
	}
}

// Begin does nothing: objects appear as a whole.
func (*Bucket) Begin(context.Context) error { return nil }

// Close does nothing.
func (*Bucket) Close() error { return nil }

// Names lists the objects.
func (b *Bucket) Names(ctx context.Context) (names []string, err error) {
	err = b.call(ctx, func() error {
		names = nil
		for info, err := range b.Store.List(ctx, b.Prefix) {
			if err != nil {
				return err
			}
			if name := strings.TrimPrefix(info.Key, b.Prefix); !strings.Contains(name, "/") {
				names = append(names, name)
			}
		}
		return nil
	})
	return names, err
}

// Open opens an object.
func (b *Bucket) Open(ctx context.Context, name string) (content io.ReadCloser, err error) {
	err = b.call(ctx, func() error {
		content, _, err = b.Store.Get(ctx, b.Prefix+name)
		return err
	})
	return content, err
}

// Replace writes a small object.
func (b *Bucket) Replace(ctx context.Context, name string, content []byte) error {
	return b.put(ctx, name, bytes.NewReader(content))
}

// Remove removes an object.
func (b *Bucket) Remove(ctx context.Context, name string) error {
	return b.call(ctx, func() error { return b.Store.Delete(ctx, b.Prefix+name) })
}

func (b *Bucket) put(ctx context.Context, name string, content io.Reader) error {
	u := b.Store.Create(ctx, b.Prefix+name, contentType(name))
	u.Call = func(f func() error) error { return b.call(ctx, f) }
	if _, err := io.Copy(u, content); err != nil {
		_ = u.Abort()
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := u.Close(); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func contentType(name string) string {
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case Parquet:
		return "application/vnd.apache.parquet"
	case CSV:
		return "text/csv; charset=utf-8"
	case NDJSON:
		return "application/x-ndjson"
	}
	return "application/json"
}

// Create begins a file, on disk: its content is sent when it is complete, because its
// name has its last offset. The file has no name, so nothing is left of it.
func (b *Bucket) Create(context.Context) (Draft, error) {
	f, err := os.CreateTemp("", "netsim-export-*")
	if err == nil {
		err = os.Remove(f.Name())
	}
	if err != nil {
		return nil, fmt.Errorf("make a file for what is sent to the object store: %w", err)
	}
	return &spooled{f, b}, nil
}

type spooled struct {
	*os.File
	bucket *Bucket
}

func (s *spooled) Finish(ctx context.Context, name string) error {
	if _, err := s.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return s.bucket.put(ctx, name, s.File)
}

func (s *spooled) Discard() { _ = s.Close() }
