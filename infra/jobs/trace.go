package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"netsim/infra/telemetry"
)

// traces is river middleware that makes a job part of the trace in which it was
// enqueued. The trace context is in the job's metadata.
type traces struct {
	river.MiddlewareDefaults
	tracer trace.Tracer
}

// traceContext is the trace context in a job's metadata.
type traceContext struct {
	Parent string `json:"traceparent"`
	State  string `json:"tracestate,omitempty"`
}

// InsertMany implements rivertype.JobInsertMiddleware.
func (t *traces) InsertMany(ctx context.Context, all []*rivertype.JobInsertParams, insert func(context.Context) ([]*rivertype.JobInsertResult, error)) ([]*rivertype.JobInsertResult, error) {
	parent, state := telemetry.Inject(ctx)
	if parent == "" {
		return insert(ctx)
	}
	for _, job := range all {
		metadata := map[string]json.RawMessage{}
		if len(job.Metadata) > 0 {
			if err := json.Unmarshal(job.Metadata, &metadata); err != nil {
				return nil, fmt.Errorf("read the metadata of a job: %w", err)
			}
		}
		metadata["traceparent"], _ = json.Marshal(parent)
		if state != "" {
			metadata["tracestate"], _ = json.Marshal(state)
		}
		var err error
		if job.Metadata, err = json.Marshal(metadata); err != nil {
			return nil, fmt.Errorf("write the metadata of a job: %w", err)
		}
	}
	return insert(ctx)
}

// Work implements rivertype.WorkerMiddleware.
func (t *traces) Work(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
	var from traceContext
	_ = json.Unmarshal(job.Metadata, &from) // without a readable trace context the job begins a new trace
	ctx, span := t.tracer.Start(telemetry.Extract(ctx, from.Parent, from.State), "process "+job.Kind,
		trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(
			semconv.MessagingSystemKey.String("river"), semconv.MessagingOperationTypeProcess, semconv.MessagingOperationName("process"),
			semconv.MessagingDestinationName(job.Kind), semconv.MessagingMessageID(strconv.FormatInt(job.ID, 10)),
			attribute.String("netsim.job.queue", job.Queue), attribute.Int("netsim.job.attempt", job.Attempt),
		))
	err := work(ctx)
	if errors.As(err, new(*river.JobSnoozeError)) {
		span.SetAttributes(attribute.Bool("netsim.job.postponed", true))
		span.End()
		return err
	}
	telemetry.End(span, err)
	return err
}
