package web

import (
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5/middleware"
	"github.com/prometheus/client_golang/prometheus"
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

// Observe measures every request and writes a line about it: never a header,
// a query or a body, where secrets can be. It belongs on a chi router, outside
// everything else, so that it sees the route and the final status.
func Observe(log *slog.Logger, m *Metrics, now func() time.Time) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			began := now()
			m.inFlight.Inc()
			ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
			defer func() {
				took := now().Sub(began)
				m.inFlight.Dec()
				pattern := route(r)
				m.seconds.WithLabelValues(methodLabel(r.Method), pattern, class(ww.Status())).Observe(took.Seconds())
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

// methodLabel keeps invented methods out of the labels.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut,
		http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}

// class returns 2xx for 200 to 299, and so on; 1xx … 5xx, or "none" for a
// response that never began.
func class(status int) string {
	if status < 100 || status > 599 {
		return "none"
	}
	return strconv.Itoa(status/100) + "xx"
}
