package reactor

import (
	"github.com/ThreeDotsLabs/watermill/message"
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"netsim/events"
	"netsim/infra/telemetry"
)

// traced reacts within a span, whose parent is the append of the record: so a
// request and everything that follows from it is one trace.
func (r *Reactor) traced(m *message.Message, h handler) error {
	if r.config.Tracer == nil {
		return r.react(m, h)
	}
	topic := r.config.Prefix + string(h.family)
	ctx := telemetry.Extract(m.Context(), m.Metadata.Get(events.TraceParentHeader), m.Metadata.Get(events.TraceStateHeader))
	ctx, span := r.config.Tracer.Start(ctx, "process "+topic, trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(
		semconv.MessagingSystemKafka, semconv.MessagingOperationTypeProcess, semconv.MessagingOperationName("process"),
		semconv.MessagingDestinationName(topic), semconv.MessagingConsumerGroupName(r.Group(h.name, h.family)),
		semconv.MessagingDestinationPartitionID(m.Metadata.Get(partitionHeader)),
		attribute.String("netsim.reaction", h.name), attribute.String("netsim.event.type", m.Metadata.Get(typeHeader)),
		attribute.String("netsim.stream", m.Metadata.Get(streamHeader)),
	))
	m.SetContext(ctx)
	err := r.react(m, h)
	telemetry.End(span, err)
	return err
}
