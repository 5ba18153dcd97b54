package service

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"netsim/commands/handle"
	"netsim/infra/replicas"
	"netsim/infra/telemetry"
	"netsim/infra/web"
)

// openTraces starts the export of traces if the settings have an endpoint.
func (l *launch) openTraces(ctx context.Context) (*telemetry.Traces, error) {
	spans := l.metrics.Counter("netsim_trace_spans_total")
	for _, outcome := range []string{"exported", "failed"} {
		spans(0, outcome)
	}
	if l.config.TracesURL() == "" {
		return nil, nil
	}
	c, err := l.config.Traces()
	if err != nil {
		return nil, err
	}
	c.Build, c.Log, c.Spans = l.build, l.log, spans
	return telemetry.NewTraces(ctx, c)
}

// tracesGrace bounds the export of the last spans when the process ends.
const tracesGrace = 3 * time.Second

func (l *launch) closeTraces() {
	ctx, cancel := context.WithTimeout(context.Background(), tracesGrace)
	defer cancel()
	l.traces.Close(ctx)
}

// commandSpan is the context key of the span of the running command.
type commandSpan struct{}

// commandBegins starts the span of a command that belongs to a trace.
func commandBegins(ctx context.Context, command, stream string) context.Context {
	if !telemetry.Traced(ctx) {
		return ctx
	}
	ctx, span := telemetry.Start(ctx, "handle "+command, trace.SpanKindInternal,
		attribute.String("netsim.command", command), attribute.String("netsim.stream", stream))
	return context.WithValue(ctx, commandSpan{}, span)
}

// commandEnds returns what records the outcome of a command: in the metrics, in the
// request's log line and in the command's span.
func commandEnds(count func(handle.Observation)) func(context.Context, handle.Observation) {
	return func(ctx context.Context, o handle.Observation) {
		count(o)
		commandEnded(ctx, o)
	}
}

func commandEnded(ctx context.Context, o handle.Observation) {
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
