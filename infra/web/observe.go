package web

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5/middleware"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
)

// Metrics counts and times requests by method, route pattern and status class:
// labels whose number the contract bounds, whatever clients send.
type Metrics struct {
	seconds  *prometheus.HistogramVec
	inFlight prometheus.Gauge
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(registry prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "netsim_http_request_seconds",
			Help:    "Time to answer a request, by method, route and status class.",
			Buckets: []float64{.0005, .001, .002, .004, .008, .016, .032, .064, .128, .256, .512, 1, 2, 5, 10},
		}, []string{"method", "route", "status"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "netsim_http_requests_in_flight",
			Help: "Requests being answered.",
		}),
	}
	for _, c := range []prometheus.Collector{m.seconds, m.inFlight} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Observer measures, logs and traces requests.
type Observer struct {
	Log     *slog.Logger
	Metrics *Metrics
	Tracer  trace.Tracer // nil traces nothing
	Now     func() time.Time
}

// Observe is the middleware for every request. The line that it logs and the
// span never hold a header, a query or a body, where secrets can be. It belongs
// on a chi router, within Identify and outside everything else, so that it sees
// the route and the final status.
func (o Observer) Observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := o.Now()
		o.Metrics.inFlight.Inc()
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		r, span := o.trace(r)
		defer func() {
			e := exchange{
				method: methodLabel(r.Method), route: route(r), status: ww.Status(), bytes: ww.BytesWritten(),
				took: o.Now().Sub(began), remote: r.RemoteAddr, traceID: traceID(r, span),
			}
			o.Metrics.inFlight.Dec()
			o.Metrics.seconds.WithLabelValues(e.method, e.route, class(e.status)).Observe(e.took.Seconds())
			o.log(r.Context(), &e)
			endSpan(r.Context(), span, &e)
		}()
		next.ServeHTTP(ww, r)
	})
}

// exchange is what the server knows of a request that has ended.
type exchange struct {
	method, route   string
	status          int // 0 of a response that never began
	bytes           int // of the response's body
	took            time.Duration
	remote, traceID string
}

// log writes the one line about a request. What is not known, such as the
// command of a read, is left out.
func (o Observer) log(ctx context.Context, e *exchange) {
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

// otherMethod stands for the methods that clients invent.
const otherMethod = "other"

// methodLabel keeps invented methods out of the labels.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut,
		http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return otherMethod
}

// class returns 2xx for 200 to 299, and so on; 1xx … 5xx, or "none" for a
// response that never began.
func class(status int) string {
	if status < 100 || status > 599 {
		return "none"
	}
	return strconv.Itoa(status/100) + "xx"
}
