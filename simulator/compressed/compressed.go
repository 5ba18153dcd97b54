// Package compressed reads files that may be compressed with gzip or zstd. It does not trust
// their content: it bounds the decompressed size, and separates errors of the source from
// faults of the content.
package compressed

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	bufferSize  = 64 << 10
	maxWindow   = 32 << 20 // bytes, of zstd: enough for levels 1 to 20 without --long
	freeOfRatio = 16 << 20 // bytes before Limits.Ratio applies
)

// Limits bound what a file decompresses to.
type Limits struct {
	Bytes int64
	Ratio int64 // of decompressed to stored bytes; applies to files of more than 16 MiB decompressed
}

// Reader reads the decompressed content of a file.
type Reader struct {
	Stored *Watched // the bytes as stored

	inner  io.Reader
	read   int64 // of inner
	limits Limits
	refuse func(reason string) error
}

// Open starts to read a file. It returns an error of reading the file or of its compression
// header. If the file exceeds the limits, Read returns the result of refuse. The reason is
// a predicate without its subject, such as "has more than 100 bytes".
func Open(stored io.Reader, limits Limits, refuse func(reason string) error) (*Reader, error) {
	r := &Reader{Stored: Watch(stored), limits: limits, refuse: refuse}
	buffered := bufio.NewReaderSize(r.Stored, bufferSize)
	head, _ := buffered.Peek(len(zstdMagic))
	var err error
	switch {
	case r.Stored.Err != nil:
		err = r.Stored.Err
	case bytes.HasPrefix(head, []byte(gzipMagic)):
		r.inner, err = gzip.NewReader(buffered)
	case bytes.HasPrefix(head, []byte(zstdMagic)):
		// With a concurrency of 1 the decoder has no goroutine that Close would end.
		r.inner, err = zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	default:
		r.inner = buffered
	}
	return r, err
}

const (
	gzipMagic = "\x1f\x8b"
	zstdMagic = "\x28\xb5\x2f\xfd"
)

// Is reports whether a file that begins with these bytes is compressed.
func Is(head []byte) bool {
	return bytes.HasPrefix(head, []byte(gzipMagic)) || bytes.HasPrefix(head, []byte(zstdMagic))
}

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.inner.Read(p)
	r.read += int64(n)
	switch {
	case r.read > r.limits.Bytes:
		return 0, r.refuse(fmt.Sprintf("has more than %d bytes", r.limits.Bytes))
	case r.read > freeOfRatio && r.read/r.limits.Ratio > r.Stored.Count:
		return 0, r.refuse(fmt.Sprintf("decompresses to more than %d times its size", r.limits.Ratio))
	}
	return n, err
}

// Watched is a reader that counts the bytes read and keeps the last read error.
type Watched struct {
	Count int64
	Err   error // never io.EOF

	from io.Reader
}

// Watch returns a Watched that reads from a reader.
func Watch(from io.Reader) *Watched { return &Watched{from: from} }

// Read implements io.Reader.
func (w *Watched) Read(p []byte) (int, error) {
	n, err := w.from.Read(p)
	w.Count += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		w.Err = err
	}
	return n, err
}
