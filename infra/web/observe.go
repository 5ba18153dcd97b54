package web

import (
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5/middleware"
)

// Metrics counts requests. Its labels are the method, the route pattern and the
// status: their number is bounded by the contract, whatever clients send.
type Metrics struct {
	// Answered is called at the end of every request; nil is for nobody. The
	// status is 0 when an answer never began.
	Answered func(method, route string, status int, took time.Duration)

	active atomic.Int64
}

// Active is how many requests are being answered.
func (m *Metrics) Active() int64 { return m.active.Load() }

// Observe measures every request and writes a line about it: never a header,
// a query or a body, where secrets can be. It belongs on a chi router, outside
// everything else, so that it sees the route and the final status.
func Observe(log *slog.Logger, m *Metrics, now func() time.Time) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			began := now()
			m.active.Add(1)
			ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
			defer func() {
				took := now().Sub(began)
				m.active.Add(-1)
				pattern := route(r)
				if m.Answered != nil {
					m.Answered(methodLabel(r.Method), pattern, ww.Status(), took)
				}
				log.LogAttrs(r.Context(), slog.LevelInfo, "request",
					slog.String("requestId", ww.Header().Get(requestIDHeader)),
					slog.String("method", methodLabel(r.Method)),
					slog.String("route", pattern),
					slog.Int("status", ww.Status()),
					slog.Int("bytes", ww.BytesWritten()),
					slog.Duration("took", took),
					slog.String("remote", r.RemoteAddr))
			}()
			next.ServeHTTP(ww, r)
		})
	}
}

// methodLabel keeps invented methods out of the labels, under the name that
// OpenTelemetry has for them.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut,
		http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "_OTHER"
}
