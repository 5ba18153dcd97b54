package readapi

import (
	"context"
	"errors"
	"io"
	"iter"
)

// writtenBody is the body of a response that a function writes while it is sent, part by
// part. The function runs in the goroutine of the reader: it waits while the client does,
// and ends when the body is closed.
type writtenBody struct {
	next func() ([]byte, error, bool)
	stop func()
	end  func()
	rest []byte // not read yet

	begun bool // the first part, or what came in its place, waits here
	first []byte
	err   error
}

// errClosed ends a function whose body is closed.
var errClosed = errors.New("the response has ended")

// newWrittenBody returns the body that write writes. end is called when it is closed.
func newWrittenBody(ctx context.Context, write func(context.Context, io.Writer) error, end func()) *writtenBody {
	next, stop := iter.Pull2(func(yield func([]byte, error) bool) {
		if err := write(ctx, partWriter(yield)); err != nil {
			yield(nil, err)
		}
	})
	return &writtenBody{next: next, stop: stop, end: end}
}

// partWriter passes on what is written.
type partWriter func([]byte, error) bool

func (w partWriter) Write(p []byte) (int, error) {
	if !w(p, nil) {
		return 0, errClosed
	}
	return len(p), nil
}

// begin waits for the first part, so that an error before it can still be the response. Then
// the body is closed.
func (b *writtenBody) begin() error {
	ready := false
	defer func() {
		if !ready { // also after a panic
			b.Close() //nolint:errcheck // it returns none
		}
	}()
	b.first, b.err = b.NextPart()
	b.begun = true
	ready = b.err == nil || b.err == io.EOF //nolint:errorlint // NextPart returns io.EOF itself
	if ready {
		return nil
	}
	return b.err
}

// NextPart returns the next part of the body, which is valid until the next call. The error
// is io.EOF after the last one.
func (b *writtenBody) NextPart() ([]byte, error) {
	if b.begun {
		b.begun = false
		return b.first, b.err
	}
	part, err, more := b.next()
	if !more {
		return nil, io.EOF
	}
	return part, err
}

// Read implements io.Reader.
func (b *writtenBody) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		part, err := b.NextPart()
		if err != nil {
			return 0, err
		}
		b.rest = part
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// Close implements io.Closer.
func (b *writtenBody) Close() error {
	b.stop()
	b.end()
	return nil
}
