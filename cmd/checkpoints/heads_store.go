package checkpoints

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"netsim/audit"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/objects"
)

// headsPrefix begins the keys of the heads of log checkpoints in the object store. The
// names of the objects are the SHA-256 of their contents before compression.
const headsPrefix = "heads/"

func indexName(sum events.Hash) string { return sum.String() + ".txt" }
func headsName(sum events.Hash) string { return sum.String() + ".zst" }

const headsUploads = 4 // at a time

// put stores the spooled heads and then their index, and returns the SHA-256 of the
// index. It stores objects again that are there already, so that they count as new for
// Sweep.
func (s *spooled) put(ctx context.Context, store *objects.Store) (events.Hash, error) {
	group, uploads := errgroup.WithContext(ctx)
	group.SetLimit(headsUploads)
	for sum := range s.at {
		group.Go(func() error {
			_, err := store.Put(uploads, headsPrefix+headsName(sum), "application/zstd", s.content(sum))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return events.Hash{}, fmt.Errorf("store the heads: %w", err)
	}
	index := events.HeadsIndex(s.parts)
	sum := events.Hash(sha256.Sum256(index))
	if _, err := store.Put(ctx, headsPrefix+indexName(sum), "text/plain; charset=utf-8", bytes.NewReader(index)); err != nil {
		return events.Hash{}, fmt.Errorf("store the index of the heads: %w", err)
	}
	return sum, nil
}

// Stored returns the heads in an object store.
func Stored(store *objects.Store) audit.Heads { return storedHeads{store} }

// Directory returns the heads in a directory, which has files of the object store, or the
// decompressed ones that Copied writes.
func Directory(path string) audit.Heads { return headsDirectory(path) }

// storedHeads reads heads from the object store.
type storedHeads struct{ *objects.Store }

// Index implements audit.Heads.
func (s storedHeads) Index(ctx context.Context, sum events.Hash) (io.ReadCloser, error) {
	return s.open(ctx, indexName(sum))
}

// Partition implements audit.Heads.
func (s storedHeads) Partition(ctx context.Context, part events.HeadsPart) (io.ReadCloser, error) {
	file, err := s.open(ctx, headsName(part.Sum))
	if err != nil {
		return nil, err
	}
	return decompressed(file)
}

func (s storedHeads) open(ctx context.Context, name string) (io.ReadCloser, error) {
	file, _, err := s.Get(ctx, headsPrefix+name)
	if fault.CodeOf(err) == fault.NotFound {
		return nil, fmt.Errorf("%s is not in the object store, which keeps the heads of the newest %d checkpoints and of the first of every month: %w",
			headsPrefix+name, audit.KeptNewest, fs.ErrNotExist)
	}
	return file, err
}

// headsDirectory reads heads from a directory.
type headsDirectory string

// Index implements audit.Heads.
func (d headsDirectory) Index(_ context.Context, sum events.Hash) (io.ReadCloser, error) {
	return os.Open(filepath.Join(string(d), indexName(sum)))
}

// Partition implements audit.Heads.
func (d headsDirectory) Partition(_ context.Context, part events.HeadsPart) (io.ReadCloser, error) {
	plain, err := os.Open(filepath.Join(string(d), indexName(part.Sum)))
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return plain, err
	}
	file, err := os.Open(filepath.Join(string(d), headsName(part.Sum)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has neither %s nor %s: %w", d, indexName(part.Sum), headsName(part.Sum), err)
	}
	if err != nil {
		return nil, err
	}
	return decompressed(file)
}

// maxWindow bounds the memory for decompressing heads, in bytes.
const maxWindow = 8 << 20

// decompressed reads a file with zstd. Closing it closes the file.
func decompressed(file io.ReadCloser) (io.ReadCloser, error) {
	reader, err := zstd.NewReader(file, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("decompress the heads: %w", err), file.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{reader, closers{reader.IOReadCloser(), file}}, nil
}

// closers closes several things in order.
type closers []io.Closer

// Close implements io.Closer.
func (all closers) Close() error {
	var errs []error
	for _, c := range all {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
