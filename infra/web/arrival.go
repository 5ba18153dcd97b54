package web

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"netsim/fault"
)

const (
	// settleTime is how long the answer to a refused request waits for the rest of a
	// short body. Usually the body has arrived, and the connection can be used again.
	settleTime = 50 * time.Millisecond
	shortBody  = 256 << 10 // bytes

	// lingerTime is how long the rest of a refused body is read and discarded after the
	// answer. Many clients send the whole body before they read the answer, and a
	// connection that is closed with unread bytes may lose it.
	lingerTime = 5 * time.Second
)

// errRefused is what a reader gets of a body whose request has been refused.
var errRefused = errors.New("the request is refused, so the rest of its body is not read")

// arrival is the body of a request while it arrives. It bounds how long its readers wait
// for the client in all: for the time allowed, and for one second more for each perSecond
// bytes that have arrived. The time in which nobody reads does not count.
type arrival struct {
	body       io.ReadCloser
	connection *http.ResponseController
	expects    bool // the client waits for 100 before it sends the body

	mu        sync.Mutex
	allowed   time.Duration
	perSecond int64 // bytes; 0 for no more time
	got       int64 // bytes
	waited    time.Duration
	since     time.Time // when the read in progress began; zero without one
	lost      error     // what readers get instead of the rest; nil while it is read
	whole     bool      // all has arrived
}

// Arrive bounds how long a request's body may take to arrive, and answers a request that is
// refused without waiting for the rest of its body. It must be inside Identify and outside
// all other middleware.
func Arrive(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		a := &arrival{
			body: r.Body, connection: http.NewResponseController(w), expects: r.Header.Get("Expect") != "",
			allowed: time.Minute,
		}
		note(r.Context(), func(r *request) { r.body = a })
		r.Body = a
		next.ServeHTTP(w, r)
		a.discard()
	})
}

// arrivalOf returns the body of a request that passed Arrive, nil if it has none.
func arrivalOf(r *http.Request) *arrival {
	if noted := requestOf(r.Context()); noted != nil {
		return noted.body
	}
	return nil
}

// allow replaces how long the readers may wait for the client.
func (a *arrival) allow(d time.Duration, perSecond int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.allowed, a.perSecond = d, perSecond
}

// Read implements io.Reader.
func (a *arrival) Read(p []byte) (int, error) {
	if err := a.begin(); err != nil {
		return 0, err
	}
	n, err := a.body.Read(p)
	return n, a.end(n, err)
}

func (a *arrival) begin() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lost != nil {
		return a.lost
	}
	a.since = time.Now()
	left := a.allowed - a.waited
	if a.perSecond > 0 {
		left += time.Duration(float64(a.got) / float64(a.perSecond) * float64(time.Second))
	}
	_ = a.connection.SetReadDeadline(a.since.Add(left)) // replaces the server's deadline
	return nil
}

func (a *arrival) end(n int, err error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waited += time.Since(a.since)
	a.since = time.Time{}
	a.got += int64(n)
	switch {
	case err == nil:
	case err == io.EOF: //nolint:errorlint // a body that ends too early gives an error that wraps io.EOF
		a.whole = true
		_ = a.connection.SetReadDeadline(time.Time{}) // the client sends no more bytes for this request
	case a.lost != nil:
		return a.lost
	case errors.Is(err, os.ErrDeadlineExceeded):
		a.lost = fault.New(fault.Validation, "the request body arrives too slowly: %d bytes in %s", a.got, a.waited.Round(time.Millisecond))
		return a.lost
	}
	return err
}

// Close implements io.Closer. The server closes the body itself.
func (a *arrival) Close() error { return nil }

// lose makes the reader of the body fail at once with the error. It returns false when the
// body is whole or lost already.
func (a *arrival) lose(err error) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.whole || a.lost != nil {
		return false
	}
	a.lost = err
	_ = a.connection.SetReadDeadline(time.Unix(1, 0))
	return true
}

// pace returns how many bytes a second have arrived while readers waited for them. It
// returns false while that says little, because they have not waited long, and when the
// body is whole or lost.
func (a *arrival) pace() (float64, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	waited := a.waited
	if !a.since.IsZero() {
		waited += time.Since(a.since)
	}
	return float64(a.got) / waited.Seconds(), !a.whole && a.lost == nil && waited >= paceTime
}

// paceTime is how long readers wait for a body before its pace is known.
const paceTime = time.Second

// slowest returns the body with the lowest pace of those that may be chosen, nil if none
// may.
func slowest[T any](bodies map[*arrival]T, may func(T) bool) (found *arrival) {
	lowest := 0.0
	for a, of := range bodies {
		if pace, known := a.pace(); known && may(of) && (found == nil || pace < lowest) {
			found, lowest = a, pace
		}
	}
	return found
}

// tooSlow returns the error for the slowest body when another request needs its slot or
// its memory.
func tooSlow() error {
	return &fault.Fault{
		Code: fault.Unavailable, RetryAfter: 5 * time.Second,
		Message: "the request body arrived more slowly than all others, and others were waiting; repeat the request",
	}
}

// settle reports whether the connection can be used after the answer to a refused
// request. It waits a moment for the rest of a short body.
func (a *arrival) settle() bool {
	a.mu.Lock()
	settled, read := a.whole, a.whole || a.lost != nil || !a.since.IsZero() || a.expects && a.got == 0
	a.allowed, a.perSecond = a.waited+settleTime, 0
	a.mu.Unlock()
	if read {
		return settled
	}
	_, _ = io.CopyN(io.Discard, a, shortBody) // an error means that it is not whole
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.whole
}

// answered sends what has been written of the answer to a refused request, and bounds how
// long the rest of the body may take.
func (a *arrival) answered() {
	_ = a.connection.Flush()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lost = errRefused
	_ = a.connection.SetReadDeadline(time.Now().Add(lingerTime))
}

// discard reads the rest of the body of a refused request, after its handler has ended.
func (a *arrival) discard() {
	a.mu.Lock()
	refused := a.lost == errRefused && !a.whole //nolint:errorlint // answered sets it
	a.mu.Unlock()
	if refused {
		_, _ = io.Copy(io.Discard, a.body) // an error does not matter: the connection is closed
	}
}
