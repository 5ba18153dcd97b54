package writelog

import (
	"context"

	"netsim/events"
)

// Sending is the part of an append that is about its trace.
func (l *Log) Sending(ctx context.Context, topic string, m *events.Message) {
	l.sending(ctx, topic, 0, m).End()
}
