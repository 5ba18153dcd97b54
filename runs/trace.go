package runs

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"netsim/projections"
)

// traceRun starts the span of an engine's run as a child of the job's span. Without
// a job's span it does nothing.
func traceRun(ctx context.Context, sim *projections.Simulation, engine string) (context.Context, trace.Span) {
	return trace.SpanFromContext(ctx).TracerProvider().Tracer("netsim").Start(ctx, "run simulation", trace.WithAttributes(
		attribute.String("netsim.simulation.id", sim.ID), attribute.String("netsim.engine", engine)))
}

// endRun ends the span of an engine's run. An error marks the span as failed.
func endRun(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}
