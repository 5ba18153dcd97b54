package audit

import (
	"context"
	"errors"

	"netsim/events"
)

// AcceptedLoss is the fact by which an operator accepted that a log had lost
// records.
type AcceptedLoss struct {
	events.LogLossAccepted
	Fact Fact
}

// Losses returns the losses that operators accepted, and the head of the stream
// that records them.
func (l *Log) Losses(ctx context.Context, stream string) (accepted []AcceptedLoss, head events.Head, err error) {
	for _, p := range l.open(events.Checkpoints) {
		err := p.advance(ctx, p.topic.Ends[p.number], func(f *Fact) error {
			if f.Stream == stream {
				head = events.Head{Sequence: f.Sequence, Hash: f.Hash}
			}
			data, err := events.Decode(f.Type, f.Value)
			if d, ok := data.(events.LogLossAccepted); ok && err == nil {
				accepted = append(accepted, AcceptedLoss{d, *f})
			}
			return nil
		})
		if err != nil && !errors.Is(err, errShort) {
			return nil, head, err
		}
	}
	return accepted, head, nil
}
