package audit

import (
	"cmp"
	"context"
	"slices"

	"netsim/events"
)

// StreamHead is the last event of a stream as a read model has it.
type StreamHead struct {
	Stream    string
	Family    events.Family
	Partition int32
	Sequence  int64
}

// LostEvents is a stream that had more events than the log has.
type LostEvents struct {
	Stream   string
	Family   events.Family
	From, To int64 // the sequences that are missing, both included
}

// Missing returns the streams of which a read model has seen events that the log does
// not have, in the order of their names. It reads the whole log.
func (l *Log) Missing(ctx context.Context, seen func(yield func(StreamHead) error) error) (lost []LostEvents, err error) {
	type key struct {
		family    events.Family
		partition int32
	}
	parts := map[key]*partition{}
	for _, p := range l.open() {
		p.undigested = true
		if err := p.advance(ctx, p.topic.Ends[p.number], nil); err != nil {
			return nil, err
		}
		parts[key{p.topic.Family, p.number}] = p
	}
	err = seen(func(h StreamHead) error {
		has := int64(0)
		if p := parts[key{h.Family, h.Partition}]; p != nil && p.heads[h.Stream] != nil {
			has = p.heads[h.Stream].Sequence
		}
		if h.Sequence > has {
			lost = append(lost, LostEvents{h.Stream, h.Family, has + 1, h.Sequence})
		}
		return nil
	})
	slices.SortFunc(lost, func(a, b LostEvents) int { return cmp.Compare(a.Stream, b.Stream) })
	return lost, err
}
