// Package archive reads archives of rank files: tar, also gzipped or in zstd.
//
// An archive is not trusted: what leads out of it, what is no file, bombs and
// names that are there already are refused. Every error about the archive is a
// Refusal; others are of what it is read from, or put into.
//
// Source: completions.md 6.2, many ranks.
package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Bounds of what archives unpack to.
const (
	maxUnpacked  = 500_000_000_000 // bytes of a traceset
	maxEntries   = 200_000         // of a traceset
	maxRatio     = 256             // of unpacked to packed bytes, past the first
	freeOfRatio  = 16 << 20        // bytes
	maxWindow    = 32 << 20        // of zstd
	maxEntryName = 255             // bytes, as of an uploaded file
)

// Refusal is why an archive cannot be used. Its text is safe to show.
type Refusal struct{ File, Reason string }

// Error implements error.
func (r *Refusal) Error() string { return r.File + ": " + r.Reason }

func refuse(file, format string, args ...any) error {
	return &Refusal{file, fmt.Sprintf(format, args...)}
}

// Archive is the content of a tar file, decompressed.
type Archive struct {
	*tar.Reader

	name  string
	raw   *watcher  // the bytes as stored
	inner io.Reader // the bytes decompressed
	plain int64     // how many of inner were read
	first *tar.Header
}

// Open opens a file as an archive, or returns nil when its content is none. The
// error is that of reading.
func Open(name string, stored io.Reader) (*Archive, error) {
	a := &Archive{name: name, raw: &watcher{r: stored}}
	buffered := bufio.NewReaderSize(a.raw, 64<<10)
	head, _ := buffered.Peek(4)
	var err error
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		a.inner, err = gzip.NewReader(buffered)
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		a.inner, err = newZstd(buffered)
	default:
		a.inner = buffered
	}
	if err == nil {
		a.Reader = tar.NewReader(bounded{a})
		a.first, err = a.Reader.Next()
	}
	switch {
	case a.raw.err != nil:
		return nil, a.raw.err
	case err != nil:
		return nil, nil //nolint:nilerr,nilnil // it is another kind of file
	}
	return a, nil
}

// newZstd decompresses in the goroutine that reads: nothing is left to close.
func newZstd(r io.Reader) (io.Reader, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
}

// bounded reads the decompressed bytes and refuses bombs.
type bounded struct{ *Archive }

func (b bounded) Read(p []byte) (int, error) {
	n, err := b.inner.Read(p)
	b.plain += int64(n)
	switch {
	case b.plain > maxUnpacked:
		return 0, refuse(b.name, "the archive has more than %d bytes", int64(maxUnpacked))
	case b.plain > freeOfRatio && b.plain/maxRatio > b.raw.n:
		return 0, refuse(b.name, "the archive decompresses to more than %d times its size", maxRatio)
	}
	return n, err
}

// next returns the next entry, or io.EOF when the whole file has been read, so
// that a checksum at its end has been looked at.
func (a *Archive) next() (*tar.Header, error) {
	if h := a.first; h != nil {
		a.first = nil
		return h, nil
	}
	h, err := a.Reader.Next()
	if !errors.Is(err, io.EOF) {
		return h, a.failure(err)
	}
	if _, err := io.Copy(io.Discard, bounded{a}); err != nil {
		return nil, a.failure(err)
	}
	return nil, io.EOF
}

// failure tells what is wrong with the archive from what is wrong with the
// store.
func (a *Archive) failure(err error) error {
	known := new(Refusal)
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case a.raw.err != nil:
		return fmt.Errorf("read %s: %w", a.name, a.raw.err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return refuse(a.name, "the archive ends in the middle")
	default:
		return refuse(a.name, "the archive cannot be read: %s", err.Error())
	}
}

// watcher keeps what reading failed with, which tells a source that fails from
// content that cannot be read.
type watcher struct {
	r   io.Reader
	n   int64
	err error // never io.EOF
}

func (w *watcher) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}
