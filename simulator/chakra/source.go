package chakra

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
	bufferSize = 64 << 10
	sniffSize  = 512      // bytes that tell what a file is
	maxWindow  = 32 << 20 // of zstd: levels 1 to 20 without --long
)

// source is a file's bytes, decompressed and bounded.
type source struct {
	*bufio.Reader

	raw    *counter  // the bytes as stored
	inner  io.Reader // the bytes decompressed
	plain  int64     // how many of inner were read
	limits Limits
}

// counter counts what was read and keeps the error that reading failed with.
type counter struct {
	r   io.Reader
	n   int64
	err error // never io.EOF
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

func newSource(r io.Reader, limits Limits) (*source, error) {
	s := &source{raw: &counter{r: r}, limits: limits}
	stored := bufio.NewReaderSize(s.raw, bufferSize)
	head, _ := stored.Peek(sniffSize)
	var err error
	switch {
	case s.raw.err != nil:
		return nil, s.raw.err
	case isGzip(head):
		s.inner, err = gzip.NewReader(stored)
	case isZstd(head):
		// One goroutine, this one: nothing is left to close.
		s.inner, err = zstd.NewReader(stored, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	default:
		s.inner = stored
	}
	if err != nil {
		return nil, s.failure(err)
	}
	s.Reader = bufio.NewReaderSize(bounded{s}, bufferSize)
	return s, nil
}

func isGzip(head []byte) bool { return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) }

func isZstd(head []byte) bool { return bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) }

// bounded reads the decompressed bytes and refuses bombs.
type bounded struct{ *source }

func (b bounded) Read(p []byte) (int, error) {
	n, err := b.inner.Read(p)
	b.plain += int64(n)
	switch {
	case b.plain > b.limits.Bytes:
		return 0, fileRefusal(fmt.Sprintf("the file has more than %d bytes", b.limits.Bytes))
	case b.plain > freeOfRatio && b.plain/b.limits.Ratio > b.raw.n:
		return 0, fileRefusal(fmt.Sprintf("the file decompresses to more than %d times its size", b.limits.Ratio))
	}
	return n, err
}

// failure turns what reading failed with into what to tell: the store's own
// fault as it is, otherwise what is wrong with the bytes.
func (s *source) failure(err error) error {
	var reason refusal
	var ofFile fileRefusal
	switch {
	case s.raw.err != nil:
		return s.raw.err
	case errors.As(err, &reason), errors.As(err, &ofFile):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return refuse("the file ends in the middle")
	default:
		return refuse("cannot be decompressed: %v", err)
	}
}
