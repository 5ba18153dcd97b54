package web

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"netsim/infra/telemetry"
)

// trace starts the span of a request. Its parent is the client's span, if the
// request has a valid trace context. The span is nil while traces are off.
func (o Observer) trace(r *http.Request) (*http.Request, trace.Span) {
	if o.Tracer == nil {
		return r, nil
	}
	ctx, span := o.Tracer.Start(clientTrace(r), methodLabel(r.Method), trace.WithSpanKind(trace.SpanKindServer))
	return r.WithContext(ctx), span
}

// clientTrace returns the request's context with the trace context of its headers.
// It ignores a repeated header.
func clientTrace(r *http.Request) context.Context {
	parent, state := r.Header["Traceparent"], "" // Values would allocate the canonical names
	if len(parent) != 1 {
		return r.Context()
	}
	if states := r.Header["Tracestate"]; len(states) == 1 {
		state = states[0]
	}
	return telemetry.Extract(r.Context(), parent[0], state)
}

// traceID returns the id of the request's trace, or "" if there is none. While
// traces are off, it is the id that the client sent.
func traceID(r *http.Request, span trace.Span) string {
	var c trace.SpanContext
	if span != nil {
		c = span.SpanContext()
	} else {
		c = trace.SpanContextFromContext(clientTrace(r))
	}
	if !c.HasTraceID() {
		return ""
	}
	return c.TraceID().String()
}

// endSpan ends the span of a request. Its name and attributes follow OpenTelemetry's
// conventions for HTTP. The path is left out, because it can contain names that
// clients chose.
func endSpan(ctx context.Context, span trace.Span, e *exchange) {
	if span == nil {
		return
	}
	defer span.End()
	if !span.IsRecording() {
		return
	}
	name := e.method
	if name == otherMethod {
		name = "HTTP"
	}
	span.SetName(name + " " + e.route)
	r := requestOf(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	span.SetAttributes(
		semconv.HTTPRequestMethodKey.String(e.method), semconv.HTTPRoute(e.route),
		semconv.HTTPResponseStatusCode(e.status), semconv.HTTPResponseBodySize(e.bytes),
		attribute.String("netsim.request.id", r.id), attribute.String("netsim.operation", r.operation),
		attribute.String("netsim.account.id", r.account), attribute.String("user.id", r.caller),
	)
	if e.status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
		span.SetAttributes(semconv.ErrorTypeKey.String(string(r.code)))
	}
}
