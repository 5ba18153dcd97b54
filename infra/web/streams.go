package web

import (
	"context"
	"net/http"
	"time"
)

// takePart is how long a client may take to receive each part of a streamed
// response.
const takePart = 10 * time.Second

// Streams bounds a streamed response instead of Budget and the server's timeouts:
// it must begin within budget and ends after lifetime, and the client has takePart
// to receive each part. When the client has gone or does not receive, the
// request's context ends, and later writes are discarded.
func Streams(budget, lifetime time.Duration) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), lifetime)
			defer cancel()
			s := &streamed{
				ResponseWriter: w, end: http.NewResponseController(w), stop: cancel,
				late: time.AfterFunc(budget, cancel), head: r.Method == http.MethodHead,
			}
			defer s.late.Stop()
			_ = s.end.SetReadDeadline(time.Time{}) // else the server's read deadline would end the request
			next.ServeHTTP(s, r.WithContext(ctx))
		})
	}
}

// streamed is the writer of a streamed response.
type streamed struct {
	http.ResponseWriter
	end  *http.ResponseController
	late *time.Timer // ends a response that does not begin
	stop context.CancelFunc
	head bool // a HEAD request
}

// Unwrap implements the interface of http.ResponseController.
func (s *streamed) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (s *streamed) WriteHeader(status int) {
	s.late.Stop()
	s.ResponseWriter.WriteHeader(status)
	if s.head {
		s.stop()
	}
}

// Write implements http.ResponseWriter. It never fails: the context ends instead.
func (s *streamed) Write(p []byte) (int, error) {
	_ = s.end.SetWriteDeadline(time.Now().Add(takePart))
	if _, err := s.ResponseWriter.Write(p); err != nil {
		s.stop()
	}
	return len(p), nil
}

// Flush implements http.Flusher.
func (s *streamed) Flush() {
	if err := s.end.Flush(); err != nil {
		s.stop()
	}
}
