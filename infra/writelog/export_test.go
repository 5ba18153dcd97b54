package writelog

import (
	"context"

	"netsim/events"
)

// Sending runs the part of an append that traces it.
func (l *Log) Sending(ctx context.Context, topic string, m *events.Message) {
	l.sending(ctx, topic, 0, m).End()
}
