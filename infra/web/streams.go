package web

import (
	"context"
	"net/http"
	"time"
)

// partTimeout is how long a client may take to receive each part of a streamed
// response.
const partTimeout = 10 * time.Second

// Streams bounds a streamed response instead of Budget and the server's timeouts.
// The response must begin within budget and ends after lifetime. The client has
// partTimeout to receive each part. When the client has disconnected or does not
// receive, the request's context ends, and later writes are discarded.
func Streams(budget, lifetime time.Duration) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), lifetime)
			defer cancel()
			latest := time.Now().Add(budget)
			s := &streamed{
				ResponseWriter: w, connection: http.NewResponseController(w), stop: cancel,
				begin: time.AfterFunc(budget, cancel), head: r.Method == http.MethodHead,
			}
			defer s.begin.Stop()
			_ = s.connection.SetReadDeadline(time.Time{}) // the server's read deadline would end the request
			if !time.Now().Before(latest) {               // the timer may be late
				cancel()
			}
			next.ServeHTTP(s, r.WithContext(withAccept(ctx, r.Header.Values("Accept"))))
		})
	}
}

// streamed is the writer of a streamed response.
type streamed struct {
	http.ResponseWriter
	connection *http.ResponseController
	begin      *time.Timer        // ends a response that does not begin in time
	stop       context.CancelFunc // ends the request's context
	head       bool               // the request's method is HEAD
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (s *streamed) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (s *streamed) WriteHeader(status int) {
	s.begin.Stop()
	s.ResponseWriter.WriteHeader(status)
	if s.head {
		s.stop()
	}
}

// Write implements http.ResponseWriter. It never returns an error; when writing
// fails, the request's context ends.
func (s *streamed) Write(p []byte) (int, error) {
	_ = s.connection.SetWriteDeadline(time.Now().Add(partTimeout))
	if _, err := s.ResponseWriter.Write(p); err != nil {
		s.stop()
	}
	return len(p), nil
}

// Flush implements http.Flusher.
func (s *streamed) Flush() {
	if err := s.connection.Flush(); err != nil {
		s.stop()
	}
}
