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

// readBody reads the body of a request into memory and sets r.Body to it. It returns an
// error when the memory is used up, or was given to another request. An error of the body
// itself is returned by the new r.Body. The caller releases the memory.
func (a *Admission) readBody(r *http.Request, account string, from *arrival) error {
	if err := a.bodies.take(account, firstPart, from); err != nil {
		return err
	}
	size := r.ContentLength + 1 // one more byte, to notice the end
	if size == 0 {
		size = math.MaxInt64 // unknown
	}
	body := make([]byte, 0, min(firstPart, size))
	for {
		n, err := r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case err == io.EOF: //nolint:errorlint // a body that ends too early gives an error that wraps io.EOF
			r.Body = whole{bytes.NewReader(body), body}
			return nil
		case fault.Is(err, fault.Unavailable):
			return err
		case err != nil:
			r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), broken{err}))
			return nil
		}
		if len(body) < cap(body) {
			continue
		}
		// Charge the bytes that arrived, not Content-Length: the rest may never arrive.
		more := min(2*int64(cap(body)), size) - int64(cap(body))
		if err := a.bodies.take(account, more, from); err != nil {
			return err
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

	mu     sync.Mutex
	used   int64
	by     map[string]int64    // used, by account
	bodies map[*arrival]charge // used, by body
}

// charge is the memory of a body.
type charge struct {
	account string
	bytes   int64
}

// take charges a body n more bytes. When the memory is used up, it takes that of the
// slowest body of an account that uses more; until that body's request has ended, a
// little more than max is in use.
func (m *memory) take(account string, n int64, body *arrival) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.by[account]+n > m.maxEach {
		return &fault.Fault{Code: fault.RateLimited, Message: "the account is sending too many request bodies at a time", RetryAfter: time.Second}
	}
	for m.used+n > m.max {
		slow := slowest(m.bodies, func(c charge) bool { return m.by[c.account] > m.by[account]+n })
		if slow == nil {
			return &fault.Fault{Code: fault.Unavailable, Message: "too many request bodies are being sent at a time; repeat the request", RetryAfter: time.Second}
		}
		if slow.lose(tooSlow()) {
			m.releaseLocked(slow)
		}
	}
	m.used += n
	m.by[account] += n
	m.bodies[body] = charge{account, m.bodies[body].bytes + n}
	return nil
}

// release releases the memory of a body.
func (m *memory) release(body *arrival) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.releaseLocked(body)
}

func (m *memory) releaseLocked(body *arrival) {
	c := m.bodies[body]
	delete(m.bodies, body)
	m.used -= c.bytes
	if m.by[c.account] -= c.bytes; m.by[c.account] == 0 {
		delete(m.by, c.account)
	}
}
