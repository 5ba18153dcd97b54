package web

import (
	"context"
	"fmt"
	"io"
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

// Recover answers a request whose handler panics with an internal error, so that
// it does not end the process.
func Recover(fail FailFunc) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				switch p := recover(); p {
				case nil:
				case http.ErrAbortHandler: // the server's way to cut a connection
					panic(p)
				default:
					fail(w, r, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
				}
			}()
			next.ServeHTTP(w, r)
		})
	}
}

// LimitBody refuses bodies above the request's limit in bytes: at once when
// Content-Length says so, otherwise when the limit is read (http.MaxBytesError,
// which Fail answers with 413). Many clients send the whole body before they read
// the response, so a body of up to twice the limit is read and discarded.
func LimitBody(limitOf func(*http.Request) int64, fail FailFunc) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			limit := limitOf(r)
			if r.ContentLength > limit {
				w.Header().Set("Connection", "close")
				if r.ContentLength <= 2*limit && r.Header.Get("Expect") == "" {
					_, _ = io.Copy(io.Discard, r.Body) // the request is refused in any case
				}
				fail(w, r, &http.MaxBytesError{Limit: limit})
				return
			}
			r.Body = http.MaxBytesReader(w, r.Body, limit)
			next.ServeHTTP(w, r)
		})
	}
}

// Harden sets the headers that keep browsers from sniffing content types, framing
// and caching. A handler that serves pages replaces them.
func Harden(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// Budget bounds how long a request may take: its context ends after read for
// methods that change nothing, and after write for the others. A request that
// transfers many bytes has longer in addition, also to be sent. Fail answers a
// request whose time is over with 504, or with 503 "outcome not known". Streamed
// responses are bounded by Streams instead.
func Budget(read, write, longer time.Duration, isLong, isStream func(*http.Request) bool) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			budget := write
			switch {
			case isStream(r):
				next.ServeHTTP(w, r)
				return
			case safe(r.Method):
				budget = read
			case isLong(r):
				budget += longer
				end := http.NewResponseController(w)
				_ = end.SetReadDeadline(time.Now().Add(longer)) // instead of the server's
				_ = end.SetWriteDeadline(time.Now().Add(longer + 2*write))
			}
			ctx, cancel := context.WithTimeout(r.Context(), budget)
			defer cancel()
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}

// Unless answers requests that change something with the error of refuse, while
// it returns one.
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
