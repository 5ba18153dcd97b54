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
// request has a valid trace context. The span is nil while nothing is traced.
func (o Observer) trace(r *http.Request) (*http.Request, trace.Span) {
	if o.Tracer == nil {
		return r, nil
	}
	ctx, span := o.Tracer.Start(sent(r), methodLabel(r.Method), trace.WithSpanKind(trace.SpanKindServer))
	return r.WithContext(ctx), span
}

// sent returns the request's context with the trace context of its headers. A
// header that is repeated is ignored.
func sent(r *http.Request) context.Context {
	parent, state := r.Header["Traceparent"], "" // Values would allocate the canonical names
	if len(parent) != 1 {
		return r.Context()
	}
	if states := r.Header["Tracestate"]; len(states) == 1 {
		state = states[0]
	}
	return telemetry.Extract(r.Context(), parent[0], state)
}

// traceID returns the id of the request's trace, "" for none. While this process
// traces nothing it is the id that the client sent.
func traceID(r *http.Request, span trace.Span) string {
	var of trace.SpanContext
	if span != nil {
		of = span.SpanContext()
	} else {
		of = trace.SpanContextFromContext(sent(r))
	}
	if !of.HasTraceID() {
		return ""
	}
	return of.TraceID().String()
}

// endSpan ends the span of a request. Name and attributes are those of
// OpenTelemetry's conventions for HTTP, without the path, which can have names
// that clients chose.
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
