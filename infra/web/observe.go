package web

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5/middleware"
	"go.opentelemetry.io/otel/trace"
)

// Metrics counts the requests in progress, and reports each one that has ended, with
// its method, route pattern and status. The method and the route are from fixed lists,
// so clients cannot add label values.
type Metrics struct {
	// Answered, when set, is called at the end of every request. The status is 0 when
	// no response was written.
	Answered func(method, route string, status int, took time.Duration)

	active atomic.Int64
}

// Active returns how many requests are in progress.
func (m *Metrics) Active() int64 { return m.active.Load() }

// Observer measures, logs and traces requests.
type Observer struct {
	Log     *slog.Logger
	Metrics *Metrics
	Tracer  trace.Tracer // nil traces nothing
	Now     func() time.Time
}

// Observe is the middleware that measures, logs and traces every request. Neither
// the log line nor the span contains a header, a query or a body, because those can
// contain secrets. Observe must be on a chi router, inside Identify and outside all
// other middleware, so that it sees the route and the final status.
func (o Observer) Observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := o.Now()
		o.Metrics.active.Add(1)
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		r, span := o.trace(r)
		defer func() {
			e := exchange{
				method: methodLabel(r.Method), route: route(r), status: ww.Status(), bytes: ww.BytesWritten(),
				took: o.Now().Sub(began), remote: r.RemoteAddr, traceID: traceID(r, span),
			}
			o.Metrics.active.Add(-1)
			if o.Metrics.Answered != nil {
				o.Metrics.Answered(e.method, e.route, e.status, e.took)
			}
			o.log(r.Context(), &e)
			endSpan(r.Context(), span, &e)
		}()
		next.ServeHTTP(ww, r)
	})
}

// exchange describes a request that has ended.
type exchange struct {
	method, route   string
	status          int // 0 when no response was written
	bytes           int // size of the response's body
	took            time.Duration
	remote, traceID string
}

// log writes the one log line of a request. Attributes without a value, such as
// the command of a read, are left out.
func (o Observer) log(ctx context.Context, e *exchange) {
	if !o.Log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	r := requestOf(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	var all [14]slog.Attr
	attributes := all[:0]
	text := func(key, value string) {
		if value != "" {
			attributes = append(attributes, slog.String(key, value))
		}
	}
	text("requestId", r.id)
	text("traceId", e.traceID)
	text("account", r.account)
	text("caller", r.caller)
	text("method", e.method)
	text("route", e.route)
	text("operation", r.operation)
	attributes = append(attributes, slog.Int("status", e.status))
	text("code", string(r.code))
	text("command", r.command)
	text("outcome", r.outcome)
	attributes = append(attributes, slog.Int("bytes", e.bytes), slog.Duration("took", e.took))
	text("remote", e.remote)
	o.Log.LogAttrs(ctx, slog.LevelInfo, "request", attributes...)
}

// otherMethod is the label of unknown methods in OpenTelemetry's conventions.
const otherMethod = "_OTHER"

// methodLabel returns the method, or otherMethod for a method that is not listed
// here, because clients can send any text.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut,
		http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return otherMethod
}
