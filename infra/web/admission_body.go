package web

import (
	"bytes"
	"io"
	"math"
	"net/http"
	"sync"
	"time"

	"netsim/fault"
)

// firstPart is the memory, in bytes, that a request with a body is charged at first.
// It covers a short body and the server's own memory for the request.
const firstPart = 16 << 10

// readBody reads the body of a request into memory, sets r.Body to it, and returns a
// function that releases the memory. It returns an error when the memory is used up.
// An error of the body itself is returned by the new r.Body.
func (a *Admission) readBody(w http.ResponseWriter, r *http.Request, account string) (release func(), err error) {
	var charged int64
	release = func() { a.bodies.release(account, charged) }
	charge := func(n int64) error {
		err := a.bodies.take(account, n)
		if err == nil {
			charged += n
		}
		return err
	}
	if err := charge(firstPart); err != nil {
		return release, err
	}
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(time.Now().Add(a.config.BodyTime)) // replaces the server's deadline
	size := r.ContentLength + 1                                       // one more byte, to notice the end
	if size == 0 {
		size = math.MaxInt64 // unknown
	}
	body := make([]byte, 0, min(firstPart, size))
	for {
		n, err := r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case err == io.EOF: //nolint:errorlint // a body that ends too early gives an error that wraps io.EOF
			_ = connection.SetReadDeadline(time.Time{}) // the client sends no more bytes for this request
			r.Body = whole{bytes.NewReader(body), body}
			return release, nil
		case err != nil:
			r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), broken{err}))
			return release, nil
		}
		if len(body) < cap(body) {
			continue
		}
		// Charge the bytes that arrived, not Content-Length: the rest may never arrive.
		more := min(2*int64(cap(body)), size) - int64(cap(body))
		if err := charge(more); err != nil {
			return release, err
		}
		body = append(make([]byte, 0, int64(cap(body))+more), body...)
	}
}

// whole is a body that was read. A reader of all of it uses Bytes, which must not be
// changed.
type whole struct {
	*bytes.Reader

	bytes []byte
}

// Bytes returns the body.
func (w whole) Bytes() []byte { return w.bytes }

// Close implements io.Closer.
func (whole) Close() error { return nil }

// broken is a reader that always fails.
type broken struct{ err error }

// Read implements io.Reader.
func (b broken) Read([]byte) (int, error) { return 0, b.err }

// memory bounds the bytes of bodies, in total and per account.
type memory struct {
	max, maxEach int64

	mu   sync.Mutex
	used int64
	by   map[string]int64 // used, by account
}

func (m *memory) take(account string, n int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.by[account]+n > m.maxEach:
		return &fault.Fault{Code: fault.RateLimited, Message: "the account is sending too many request bodies at a time", RetryAfter: time.Second}
	case m.used+n > m.max:
		return &fault.Fault{Code: fault.Unavailable, Message: "too many request bodies are being sent at a time; repeat the request", RetryAfter: time.Second}
	}
	m.used += n
	m.by[account] += n
	return nil
}

func (m *memory) release(account string, n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used -= n
	if m.by[account] -= n; m.by[account] == 0 {
		delete(m.by, account)
	}
}
