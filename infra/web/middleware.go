package web

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"
)

// MaxBody is the largest request body, in bytes (completions.md section 1.2).
const MaxBody = 8 << 20

// FailFunc writes an error as a response, as Errors.Fail does.
type FailFunc = func(w http.ResponseWriter, r *http.Request, err error)

// Middleware wraps a handler.
type Middleware = func(http.Handler) http.Handler

// Recover answers with an internal error when the handler panics, so that the panic
// does not end the process.
func Recover(fail FailFunc) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				switch p := recover(); p {
				case nil:
				case http.ErrAbortHandler: // makes the server cut the connection
					panic(p)
				default:
					fail(w, r, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
				}
			}()
			next.ServeHTTP(w, r)
		})
	}
}

// LimitBody refuses bodies above the request's limit in bytes with 413: at once if
// Content-Length is above the limit, otherwise when reading reaches the limit
// (http.MaxBytesError).
func LimitBody(limitOf func(*http.Request) int64, fail FailFunc) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			limit := limitOf(r)
			if r.Body == nil || r.Body == http.NoBody {
				next.ServeHTTP(w, r)
				return
			}
			if r.ContentLength > limit {
				fail(w, r, &http.MaxBytesError{Limit: limit})
				return
			}
			r.Body = http.MaxBytesReader(w, r.Body, limit)
			next.ServeHTTP(w, r)
		})
	}
}

// Harden sets the headers that keep browsers from sniffing content types, framing
// and caching. A handler that serves pages for browsers replaces them.
func Harden(next http.Handler) http.Handler {
	headers := [...]struct {
		name  string   // in its canonical form
		value []string // shared by all responses
	}{
		{"X-Content-Type-Options", []string{"nosniff"}},
		{"X-Frame-Options", []string{"DENY"}},
		{"Content-Security-Policy", []string{"default-src 'none'; frame-ancestors 'none'"}},
		{"Referrer-Policy", []string{"no-referrer"}},
		{"Cache-Control", []string{"no-store"}},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		for i := range headers {
			h[headers[i].name] = headers[i].value
		}
		next.ServeHTTP(w, r)
	})
}

// Budget bounds how long a request may take: its context ends after read for methods
// that only read, and after write plus longer for other methods, where longer is not 0
// for requests that transfer many bytes.
// When the time is over, Fail answers a read with 504 and a write with 503 "outcome
// not known". Streamed responses are bounded by Streams instead.
func Budget(read, write time.Duration, longer func(*http.Request) time.Duration, isStream func(*http.Request) bool) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if isStream(r) {
				next.ServeHTTP(w, r)
				return
			}
			budget := read
			if !safe(r.Method) {
				more := longer(r)
				budget = write + more
				if more > 0 { // the server's deadline is for ordinary requests
					_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(more + 2*write))
				}
			}
			ctx, cancel := context.WithTimeout(r.Context(), budget)
			defer cancel()
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}

// Unless calls refuse for each request that changes something. If refuse returns an
// error, Unless answers with it and does not call the next handler.
func Unless(refuse func(context.Context) error, changes func(*http.Request) bool, fail FailFunc) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if changes(r) {
				if err := refuse(r.Context()); err != nil {
					fail(w, r, err)
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}
