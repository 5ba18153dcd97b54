package telemetry

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics has the metrics of one process. It exposes the metrics of the catalogue
// that belong to the process's roles and drops the others, so callers need not
// check roles. A name that is not in the catalogue panics. It is safe for
// concurrent use. A nil *Metrics exposes nothing.
type Metrics struct {
	registry *prometheus.Registry
	roles    []string
	now      func() time.Time
	failed   func(n float64, collector ...string)
}

// NewMetrics returns the metrics of a process with these roles. They include the
// metrics of the build, the Go runtime and the process.
func NewMetrics(b Build, roles []string, now func() time.Time) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), roles: roles, now: now}
	m.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.Sample(func(emit Emit) { emit("netsim_build_info", 1, b.Version, b.Commit, b.Go) }, "netsim_build_info")
	m.failed = m.Counter("netsim_collector_errors_total")
	return m
}

// Handler serves the metrics in Prometheus' text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Counter registers a counter and returns the function that adds to it. Label
// values are in the order of the catalogue.
func (m *Metrics) Counter(name string) func(n float64, labels ...string) {
	d := metric(name, Counter)
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: d.Name, Help: d.Help}, d.Labels)
	if len(d.Labels) == 0 {
		vec.WithLabelValues() // expose 0 before the first value
	}
	m.register(d, vec)
	return func(n float64, labels ...string) { vec.WithLabelValues(labels...).Add(n) }
}

// Histogram registers a histogram and returns the function that observes a value.
func (m *Metrics) Histogram(name string) func(value float64, labels ...string) {
	d := metric(name, Histogram)
	vec := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: d.Name, Help: d.Help, Buckets: d.buckets}, d.Labels)
	if len(d.Labels) == 0 {
		vec.WithLabelValues()
	}
	m.register(d, vec)
	return func(value float64, labels ...string) { vec.WithLabelValues(labels...).Observe(value) }
}

// Emit sets a counter or gauge to a value. The label values are in the order of the
// catalogue.
type Emit func(name string, value float64, labels ...string)

// Sample registers counters or gauges whose values read emits at each scrape. read
// must not block; use Query for values that take a query.
func (m *Metrics) Sample(read func(Emit), names ...string) {
	descs := m.descs(names)
	if len(descs) == 0 {
		return
	}
	m.registry.MustRegister(&sampled{descs: descs, samples: func() []prometheus.Metric { return gather(descs, read) }})
}

// Query is like Sample, for values that come from another process, such as the
// database. run has the timeout queryTimeout, runs at most once in queryAge, and
// never twice at a time. If run fails or does not return, the scrape succeeds
// without these metrics, and netsim_collector_errors_total of the collector is
// incremented.
func (m *Metrics) Query(collector string, run func(context.Context, Emit) error, names ...string) {
	descs := m.descs(names)
	if len(descs) == 0 {
		return
	}
	q := &query{
		now: m.now, failed: func() { m.failed(1, collector) },
		run: func(ctx context.Context) (samples []prometheus.Metric, err error) {
			samples = gather(descs, func(emit Emit) { err = run(ctx, emit) })
			return samples, err
		},
	}
	m.failed(0, collector)
	m.registry.MustRegister(&sampled{descs: descs, samples: q.samples})
}

// has reports whether a metric belongs to one of the process's roles.
func (m *Metrics) has(d Metric) bool {
	return m != nil && slices.ContainsFunc(d.Roles, func(role string) bool { return slices.Contains(m.roles, role) })
}

func (m *Metrics) register(d Metric, c prometheus.Collector) {
	if m.has(d) {
		m.registry.MustRegister(c)
	}
}

// described is a metric with its Prometheus description.
type described struct {
	Metric
	desc *prometheus.Desc
}

// descs returns the named metrics that belong to the process's roles.
func (m *Metrics) descs(names []string) map[string]described {
	all := map[string]described{}
	for _, name := range names {
		if d := metric(name, Counter, Gauge); m.has(d) {
			all[name] = described{d, prometheus.NewDesc(d.Name, d.Help, d.Labels, nil)}
		}
	}
	return all
}

// gather returns the values that read emits for these metrics.
func gather(descs map[string]described, read func(Emit)) []prometheus.Metric {
	var samples []prometheus.Metric
	read(func(name string, value float64, labels ...string) {
		d, ok := descs[name]
		if !ok {
			return // the metric belongs to another role
		}
		kind := prometheus.GaugeValue
		if d.Kind == Counter {
			kind = prometheus.CounterValue
		}
		samples = append(samples, prometheus.MustNewConstMetric(d.desc, kind, value, labels...))
	})
	return samples
}

// sampled is a collector whose values are read at each scrape.
type sampled struct {
	descs   map[string]described
	samples func() []prometheus.Metric
}

// Describe implements prometheus.Collector.
func (s *sampled) Describe(to chan<- *prometheus.Desc) {
	for _, d := range s.descs {
		to <- d.desc
	}
}

// Collect implements prometheus.Collector.
func (s *sampled) Collect(to chan<- prometheus.Metric) {
	for _, one := range s.samples() {
		to <- one
	}
}

// metric returns the catalogue's metric with this name and one of the kinds.
func metric(name string, kinds ...Kind) Metric {
	for _, d := range Catalogue() {
		if d.Name == name && slices.Contains(kinds, d.Kind) {
			return d
		}
	}
	panic(fmt.Sprintf("the catalogue has no metric %s of kind %v", name, kinds))
}
