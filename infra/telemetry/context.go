package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"netsim/events"
	"netsim/fault"
)

const (
	parentLength = 55  // characters of a traceparent of version 00, the only version
	maxState     = 512 // bytes of a tracestate; a longer one is dropped
)

// carrier is the pair of W3C headers.
type carrier struct{ parent, state string }

// Get implements propagation.TextMapCarrier.
func (c *carrier) Get(key string) string {
	switch key {
	case events.TraceParentHeader:
		return c.parent
	case events.TraceStateHeader:
		return c.state
	}
	return ""
}

// Set implements propagation.TextMapCarrier.
func (c *carrier) Set(key, value string) {
	switch key {
	case events.TraceParentHeader:
		c.parent = value
	case events.TraceStateHeader:
		c.state = value
	}
}

// Keys implements propagation.TextMapCarrier.
func (c *carrier) Keys() []string {
	return []string{events.TraceParentHeader, events.TraceStateHeader}
}

// Extract returns ctx with the trace context of the headers traceparent and
// tracestate, or ctx itself when traceparent is not valid. The values may come from
// untrusted clients.
func Extract(ctx context.Context, parent, state string) context.Context {
	if len(parent) != parentLength {
		return ctx
	}
	if len(state) > maxState {
		state = ""
	}
	return propagation.TraceContext{}.Extract(ctx, &carrier{parent, state})
}

// Inject returns the headers traceparent and tracestate for the trace context of
// ctx, or "" if it has none. Extract has limited their size.
func Inject(ctx context.Context) (parent, state string) {
	var c carrier
	propagation.TraceContext{}.Inject(ctx, &c)
	return c.parent, c.state
}

// scope names the code that makes the spans: all of netsim.
const scope = "netsim"

// Traced reports whether ctx is part of a trace. While traces are off it returns
// false.
func Traced(ctx context.Context) bool { return trace.SpanContextFromContext(ctx).IsValid() }

// Start starts a span as a child of the span in ctx, which must be from this
// process. If ctx has no span, the new span does nothing.
func Start(ctx context.Context, name string, kind trace.SpanKind, attributes ...attribute.KeyValue) (context.Context, trace.Span) {
	tracer := trace.SpanFromContext(ctx).TracerProvider().Tracer(scope)
	return tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(attributes...))
}

// End ends a span with the error of its operation, or nil. The span gets only the
// error's code: its message can contain text from clients.
func End(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, "")
		span.SetAttributes(semconv.ErrorTypeKey.String(string(fault.CodeOf(err))))
	}
	span.End()
}
