package checkpoints

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"netsim/audit"
	"netsim/events"
)

// Copied returns heads that are written to a directory, decompressed, as they are read.
func Copied(heads audit.Heads, directory string) audit.Heads { return &copiedHeads{heads, directory} }

// copiedHeads copies all heads that are read to a directory.
type copiedHeads struct {
	audit.Heads
	directory string
}

// Index implements audit.Heads.
func (h *copiedHeads) Index(ctx context.Context, sum events.Hash) (io.ReadCloser, error) {
	file, err := h.Heads.Index(ctx, sum)
	if err != nil {
		return nil, err
	}
	return h.copy(file, indexName(sum))
}

// Partition implements audit.Heads.
func (h *copiedHeads) Partition(ctx context.Context, part events.HeadsPart) (io.ReadCloser, error) {
	file, err := h.Heads.Partition(ctx, part)
	if err != nil {
		return nil, err
	}
	return h.copy(file, indexName(part.Sum))
}

// copy returns a reader that copies what is read: not more than the reader of heads
// accepts, although the digest is checked only at the end.
func (h *copiedHeads) copy(from io.ReadCloser, name string) (io.ReadCloser, error) {
	to, err := os.Create(filepath.Join(h.directory, name))
	if err != nil {
		return nil, errors.Join(err, from.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{io.TeeReader(from, to), closers{from, to}}, nil
}
