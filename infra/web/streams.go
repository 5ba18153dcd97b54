package web

import (
	"context"
	"net/http"
	"time"
)

// takePart is how long a client may take for each part of an answer that goes
// on.
const takePart = 10 * time.Second

// Streams lets an answer go on for at most life. It has budget to begin, and a client takePart for each part of it,
// instead of the time that Budget and the server give. When the client is gone
// or does not take what it is sent, the request's context ends, and what is
// written from then on is thrown away.
func Streams(budget, life time.Duration) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), life)
			defer cancel()
			s := &streamed{
				ResponseWriter: w, end: http.NewResponseController(w), stop: cancel,
				late: time.AfterFunc(budget, cancel), head: r.Method == http.MethodHead,
			}
			defer s.late.Stop()
			_ = s.end.SetReadDeadline(time.Time{}) // else the server takes its own for the client's end
			next.ServeHTTP(s, r.WithContext(ctx))
		})
	}
}

// streamed is the writer of an answer that goes on.
type streamed struct {
	http.ResponseWriter
	end  *http.ResponseController
	late *time.Timer // ends an answer that does not begin
	stop context.CancelFunc
	head bool // only the header is wanted
}

// Unwrap is for http.ResponseController.
func (s *streamed) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (s *streamed) WriteHeader(status int) {
	s.late.Stop()
	s.ResponseWriter.WriteHeader(status)
	if s.head {
		s.stop()
	}
}

// Write implements http.ResponseWriter. It does not fail: the context tells.
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
