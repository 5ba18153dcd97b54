package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"netsim/commands/handle"
	"netsim/infra/replicas"
	"netsim/infra/telemetry"
	"netsim/infra/web"
)

// Tracing has the settings of distributed traces. Without an endpoint there are no traces.
// The variables have the names and meanings of the OpenTelemetry specification
// (Environment Variable Specification, OTLP Exporter). Other variables of the
// specification that concern traces are refused.
type Tracing struct {
	OTLPEndpoint       string   `env:"OTEL_EXPORTER_OTLP_ENDPOINT" form:"url"`
	OTLPTracesEndpoint string   `env:"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" form:"url"`
	OTLPHeaders        string   `env:"OTEL_EXPORTER_OTLP_HEADERS" form:"pairs" secret:"true"`
	OTLPProtocol       string   `env:"OTEL_EXPORTER_OTLP_PROTOCOL" envDefault:"http/protobuf" form:"protocol"`
	OTLPCompression    string   `env:"OTEL_EXPORTER_OTLP_COMPRESSION" envDefault:"none" form:"compression"`
	OTLPTimeout        int64    `env:"OTEL_EXPORTER_OTLP_TIMEOUT" envDefault:"10000" min:"1" max:"600000" unit:"milliseconds"`
	TracesExporter     string   `env:"OTEL_TRACES_EXPORTER" envDefault:"otlp" form:"otlp"`
	TracesSampler      string   `env:"OTEL_TRACES_SAMPLER" envDefault:"parentbased_always_on" form:"sampler"`
	TracesSamplerArg   string   `env:"OTEL_TRACES_SAMPLER_ARG" envDefault:"1" form:"ratio"`
	SpanDelay          int64    `env:"OTEL_BSP_SCHEDULE_DELAY" envDefault:"5000" min:"1" max:"600000" unit:"milliseconds"`
	SpanQueue          int      `env:"OTEL_BSP_MAX_QUEUE_SIZE" envDefault:"2048" min:"1" max:"1000000" unit:"spans"`
	ServiceName        string   `env:"OTEL_SERVICE_NAME" envDefault:"netsim" form:"name"`
	ResourceAttributes string   `env:"OTEL_RESOURCE_ATTRIBUTES" form:"pairs"`
	Propagators        []string `env:"OTEL_PROPAGATORS" envDefault:"tracecontext" form:"propagator"`
	TracingDisabled    bool     `env:"OTEL_SDK_DISABLED"`
}

// ofTraces reports whether the specification has a variable with this name, or may have one,
// that concerns traces.
func ofTraces(name string) bool {
	if strings.Contains(name, "_METRICS_") || strings.Contains(name, "_LOGS_") {
		return false
	}
	return slices.ContainsFunc([]string{
		"OTEL_EXPORTER_OTLP_", "OTEL_TRACES_", "OTEL_BSP_", "OTEL_SPAN_", "OTEL_EVENT_", "OTEL_LINK_", "OTEL_ATTRIBUTE_",
	}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// readPairs reads name=value,name2=value2 with percent-encoded values.
func readPairs(text string) (map[string]string, error) {
	pairs := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, found := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !found || err != nil || name == "" || strings.ContainsAny(name+value, "\r\n") || strings.Contains(name, " ") {
			return nil, errors.New("it is not a list of name=value")
		}
		pairs[name] = value
	}
	return pairs, nil
}

// endpoint returns the URL for traces, or "" without traces.
func (t *Tracing) endpoint() string {
	switch {
	case t.TracingDisabled || t.TracesExporter == "none":
		return ""
	case t.OTLPTracesEndpoint != "":
		return t.OTLPTracesEndpoint
	case t.OTLPEndpoint != "":
		return strings.TrimRight(t.OTLPEndpoint, "/") + "/v1/traces"
	}
	return ""
}

// openTraces starts the export of traces if the settings have an endpoint.
func (s *core) openTraces(ctx context.Context) (*telemetry.Traces, error) {
	spans := s.metrics.Counter("netsim_trace_spans_total")
	for _, outcome := range []string{"exported", "failed"} {
		spans(0, outcome)
	}
	t := s.config.Tracing
	if t.endpoint() == "" {
		return nil, nil
	}
	headers, err := readPairs(t.OTLPHeaders)
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS: %w", err)
	}
	resource, err := readPairs(t.ResourceAttributes)
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	ratio, err := strconv.ParseFloat(cmp.Or(t.TracesSamplerArg, "1"), 64)
	if err != nil {
		return nil, fmt.Errorf("OTEL_TRACES_SAMPLER_ARG: %w", err)
	}
	return telemetry.NewTraces(ctx, telemetry.TracesConfig{
		URL: t.endpoint(), Headers: headers, Gzip: t.OTLPCompression == "gzip",
		Timeout: time.Duration(t.OTLPTimeout) * time.Millisecond, Delay: time.Duration(t.SpanDelay) * time.Millisecond,
		Queue: t.SpanQueue, Sampler: t.TracesSampler, Ratio: ratio, Service: t.ServiceName, Resource: resource,
		Build: s.build, Log: s.log, Spans: spans,
	})
}

// tracesGrace bounds the export of the last spans when the process ends.
const tracesGrace = 3 * time.Second

func (s *core) closeTraces() {
	ctx, cancel := context.WithTimeout(context.Background(), tracesGrace)
	defer cancel()
	s.traces.Close(ctx)
}

// commandSpan is the context key of the span of the running command.
type commandSpan struct{}

// commandBegins starts the span of a command that belongs to a trace.
func (s *core) commandBegins(ctx context.Context, command, stream string) context.Context {
	if !telemetry.Traced(ctx) {
		return ctx
	}
	ctx, span := telemetry.Start(ctx, "handle "+command, trace.SpanKindInternal,
		attribute.String("netsim.command", command), attribute.String("netsim.stream", stream))
	return context.WithValue(ctx, commandSpan{}, span)
}

// commandEnds records the outcome of a command in the metrics, the request's log line and
// the command's span.
func (s *core) commandEnds(ctx context.Context, o handle.Observation) {
	s.countCommand(o)
	web.NoteCommand(ctx, o.Command, string(o.Outcome))
	switch o.Outcome {
	case handle.OutcomeAccepted, handle.OutcomeRepeated, handle.OutcomeNothing:
		replicas.Note(ctx, o.At)
	}
	span, ok := ctx.Value(commandSpan{}).(trace.Span)
	if !ok {
		return
	}
	span.SetAttributes(attribute.String("netsim.outcome", string(o.Outcome)), attribute.Int("netsim.attempts", o.Attempts))
	if o.Code != "" {
		span.SetAttributes(attribute.String("error.type", string(o.Code)))
	}
	span.End()
}
