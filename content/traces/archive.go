package traces

import (
	"bytes"
	"context"
	"io"
	"strings"

	"golang.org/x/sync/errgroup"

	"netsim/events"
	"netsim/infra/objects"
	"netsim/simulator/archive"
)

const (
	smallEntry = 1 << 20 // bytes
	putsAtOnce = 8       // concurrent puts of small entries
)

// unpacking stores the files of a traceset in its library's folder.
type unpacking struct {
	archive.Unpacking

	store  *objects.Store
	folder string
	puts   errgroup.Group // running puts of small entries
}

func newUnpacking(ctx context.Context, store *objects.Store, folder string) *unpacking {
	u := &unpacking{store: store, folder: folder}
	u.puts.SetLimit(putsAtOnce)
	u.Put = func(name string, size int64, content io.Reader) error { return u.put(ctx, name, size, content) }
	return u
}

// put stores an entry. Small entries are stored concurrently while the rest of
// the archive is read, because each costs the latency of a request.
func (u *unpacking) put(ctx context.Context, name string, size int64, content io.Reader) error {
	if size > smallEntry {
		_, err := u.store.Put(ctx, u.folder+name, contentType(name), content)
		return err
	}
	whole, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	u.puts.Go(func() error {
		_, err := u.store.Put(ctx, u.folder+name, contentType(name), bytes.NewReader(whole))
		return err
	})
	return nil
}

// copy stores an uploaded file next to those of the archives.
func (u *unpacking) copy(ctx context.Context, f events.TracesetFile) error {
	if err := u.Beside(f.Name); err != nil {
		return err
	}
	return u.store.Copy(ctx, f.ObjectKey, u.folder+f.Name)
}

func contentType(name string) string {
	if strings.HasSuffix(name, ".json") {
		return "application/json"
	}
	return "application/octet-stream"
}
