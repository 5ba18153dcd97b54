package writelog

import (
	"context"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"netsim/events"
	"netsim/infra/telemetry"
)

// sending starts the span of an append and gives the record the span's trace
// context, which is outside its hash and its seal. Where nothing is traced the
// record stays as it is, and the span does nothing.
func (l *Log) sending(ctx context.Context, topic string, partition int32, m *events.Message) trace.Span {
	if !telemetry.Traced(ctx) {
		return trace.SpanFromContext(context.Background())
	}
	ctx, span := telemetry.Start(ctx, "send "+topic, trace.SpanKindProducer, append(destination(topic, partition),
		semconv.MessagingOperationTypeSend, semconv.MessagingOperationName("send"))...)
	parent, state := telemetry.Inject(ctx)
	*m = events.Traced(*m, parent, state)
	return span
}

// judging starts the span of the wait for a verdict.
func (l *Log) judging(ctx context.Context, at events.Position) (context.Context, trace.Span) {
	topic := l.EventLog.Topic(at.Family)
	return telemetry.Start(ctx, "judge "+topic, trace.SpanKindInternal,
		append(destination(topic, at.Partition), semconv.MessagingKafkaOffset(int(at.Offset)))...)
}

func destination(topic string, partition int32) []attribute.KeyValue {
	return []attribute.KeyValue{
		semconv.MessagingSystemKafka, semconv.MessagingDestinationName(topic),
		semconv.MessagingDestinationPartitionID(strconv.Itoa(int(partition))),
	}
}
