package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// TracesConfig says which spans are exported, and where to.
type TracesConfig struct {
	URL      string            // where an OTLP collector accepts traces as protobuf over HTTP, such as http://host:4318/v1/traces
	Headers  map[string]string // headers of every export; they may contain secrets
	Gzip     bool
	Timeout  time.Duration     // timeout of an export
	Delay    time.Duration     // how long a span waits to be exported in a batch
	Queue    int               // maximum number of waiting spans; further spans are dropped
	Sampler  string            // one of Samplers
	Ratio    float64           // sampled ratio of the traceidratio samplers, from 0 to 1
	Service  string            // the resource's service.name
	Resource map[string]string // further attributes of the resource

	Build Build
	Log   *slog.Logger
	Spans func(n float64, outcome ...string) // counts spans that are exported or failed
}

// Traces exports the spans of this process to a collector. A nil *Traces traces
// nothing. While the collector is slow or unreachable, spans are dropped and no
// caller is delayed.
type Traces struct{ provider *sdktrace.TracerProvider }

// NewTraces starts to export spans. It does not wait for the collector.
func NewTraces(ctx context.Context, c TracesConfig) (*Traces, error) {
	compression := otlptracehttp.NoCompression
	if c.Gzip {
		compression = otlptracehttp.GzipCompression
	}
	inner, err := otlptracehttp.New(ctx,
		otlptracehttp.WithEndpointURL(c.URL), otlptracehttp.WithHeaders(c.Headers),
		otlptracehttp.WithCompression(compression), otlptracehttp.WithTimeout(c.Timeout),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
			Enabled: true, InitialInterval: c.Timeout / 10, MaxInterval: c.Timeout / 2, MaxElapsedTime: c.Timeout,
		}))
	if err != nil {
		return nil, fmt.Errorf("open the exporter of traces: %w", err)
	}
	counted := &counted{SpanExporter: inner, log: c.Log, spans: c.Spans}
	return &Traces{sdktrace.NewTracerProvider(
		sdktrace.WithResource(c.resource()), sdktrace.WithSampler(samplers(c.Ratio)[c.Sampler]), sdktrace.WithRawSpanLimits(limits()),
		sdktrace.WithBatcher(counted,
			sdktrace.WithMaxQueueSize(c.Queue), sdktrace.WithMaxExportBatchSize(min(c.Queue, sdktrace.DefaultMaxExportBatchSize)),
			sdktrace.WithBatchTimeout(c.Delay), sdktrace.WithExportTimeout(2*c.Timeout)),
	)}, nil
}

// resource returns the attributes that all spans of the process have in common.
func (c *TracesConfig) resource() *resource.Resource {
	var all []attribute.KeyValue
	for name, value := range c.Resource {
		all = append(all, attribute.String(name, value))
	}
	all = append(all, semconv.ServiceName(c.Service), semconv.ServiceVersion(c.Build.Version), semconv.ServiceInstanceID(uuid.NewString()))
	return resource.NewWithAttributes(semconv.SchemaURL, all...)
}

// Samplers returns the names of the specification's samplers.
func Samplers() []string { return slices.Sorted(maps.Keys(samplers(1))) }

func samplers(ratio float64) map[string]sdktrace.Sampler {
	all := map[string]sdktrace.Sampler{
		"always_on": sdktrace.AlwaysSample(), "always_off": sdktrace.NeverSample(), "traceidratio": sdktrace.TraceIDRatioBased(ratio),
	}
	for name, root := range maps.Clone(all) {
		all["parentbased_"+name] = sdktrace.ParentBased(root)
	}
	return all
}

// limits returns the limits of a span's size.
func limits() sdktrace.SpanLimits {
	l := sdktrace.NewSpanLimits()
	l.AttributeValueLengthLimit = 512
	return l
}

// Tracer returns the tracer for spans without a parent in this process; nil while
// traces are off.
func (t *Traces) Tracer() trace.Tracer {
	if t == nil {
		return nil
	}
	return t.provider.Tracer(scope)
}

// Close exports the waiting spans, at most until ctx ends.
func (t *Traces) Close(ctx context.Context) {
	if t != nil {
		_ = t.provider.Shutdown(ctx) // counted has already logged the error
	}
}

// counted is an exporter that counts spans and logs when exports begin to fail and
// when they succeed again.
type counted struct {
	sdktrace.SpanExporter
	log   *slog.Logger
	spans func(n float64, outcome ...string)
	down  atomic.Bool // the last export failed
}

// ExportSpans implements sdktrace.SpanExporter. It returns no error: the SDK would
// print it.
func (c *counted) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := c.SpanExporter.ExportSpans(ctx, spans)
	if err != nil {
		c.spans(float64(len(spans)), "failed")
		if !c.down.Swap(true) {
			c.log.WarnContext(ctx, "the collector does not take spans: they are dropped until it does", "error", err)
		}
		return nil
	}
	c.spans(float64(len(spans)), "exported")
	if c.down.Swap(false) {
		c.log.InfoContext(ctx, "the collector takes spans again")
	}
	return nil
}
