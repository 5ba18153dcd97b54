package settings

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"netsim/infra/telemetry"
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

// TracesURL returns the URL for traces, or "" without traces.
func (t *Tracing) TracesURL() string {
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

// Traces returns how traces are exported, with what the settings say of it.
func (t *Tracing) Traces() (c telemetry.TracesConfig, err error) {
	headers, err := readPairs(t.OTLPHeaders)
	if err != nil {
		return c, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS: %w", err)
	}
	resource, err := readPairs(t.ResourceAttributes)
	if err != nil {
		return c, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	ratio, err := strconv.ParseFloat(cmp.Or(t.TracesSamplerArg, "1"), 64)
	if err != nil {
		return c, fmt.Errorf("OTEL_TRACES_SAMPLER_ARG: %w", err)
	}
	return telemetry.TracesConfig{
		URL: t.TracesURL(), Headers: headers, Gzip: t.OTLPCompression == "gzip",
		Timeout: time.Duration(t.OTLPTimeout) * time.Millisecond, Delay: time.Duration(t.SpanDelay) * time.Millisecond,
		Queue: t.SpanQueue, Sampler: t.TracesSampler, Ratio: ratio, Service: t.ServiceName, Resource: resource,
	}, nil
}
