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

// firstPart is how many bytes a request with a body is charged at first. It
// covers a short body and the memory that the server needs for the request.
const firstPart = 16 << 10

// readBody reads the body of a request, replaces it by what was read, and returns
// a function that releases the memory. It returns an error when the memory is
// used up; an error of the body itself comes from the new body.
func (a *Admission) readBody(w http.ResponseWriter, r *http.Request, account string) (free func(), err error) {
	var charged int64
	free = func() { a.bodies.give(account, charged) }
	charge := func(n int64) error {
		err := a.bodies.take(account, n)
		if err == nil {
			charged += n
		}
		return err
	}
	if err := charge(firstPart); err != nil {
		return free, err
	}
	end := http.NewResponseController(w)
	_ = end.SetReadDeadline(time.Now().Add(a.config.BodyTime)) // instead of the server's
	whole := r.ContentLength + 1                               // one more byte, to notice the end
	if whole == 0 {
		whole = math.MaxInt64 // unknown
	}
	body := make([]byte, 0, min(firstPart, whole))
	for {
		n, err := r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case err == io.EOF: //nolint:errorlint // a body that ends too early is another error that wraps it
			_ = end.SetReadDeadline(time.Time{}) // from now on only the next request or the end of the connection can come
			r.Body = io.NopCloser(bytes.NewReader(body))
			return free, nil
		case err != nil:
			r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), broken{err}))
			return free, nil
		}
		if len(body) < cap(body) {
			continue
		}
		// Charge what has come, not Content-Length: the rest may never come.
		more := min(2*int64(cap(body)), whole) - int64(cap(body))
		if err := charge(more); err != nil {
			return free, err
		}
		body = append(make([]byte, 0, int64(cap(body))+more), body...)
	}
}

// broken is a reader that fails.
type broken struct{ err error }

// Read implements io.Reader.
func (b broken) Read([]byte) (int, error) { return 0, b.err }

// memory bounds the bytes of bodies, in total and per account.
type memory struct {
	most, mostEach int64

	mu   sync.Mutex
	used int64
	by   map[string]int64
}

func (m *memory) take(account string, n int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.by[account]+n > m.mostEach:
		return &fault.Fault{Code: fault.RateLimited, Message: "the account has too many requests whose bodies are under way", RetryAfter: time.Second}
	case m.used+n > m.most:
		return &fault.Fault{Code: fault.Unavailable, Message: "too many request bodies are under way; repeat the request", RetryAfter: time.Second}
	}
	m.used += n
	m.by[account] += n
	return nil
}

func (m *memory) give(account string, n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used -= n
	if m.by[account] -= n; m.by[account] == 0 {
		delete(m.by, account)
	}
}
