package audit

import (
	"context"
	"errors"
	"slices"

	"netsim/events"
)

// Moves returns the moves of the log to other topics, in the order of the log. A
// checkpoint of an earlier cluster or topic is compared with the log as if it were of
// the present one: its digests say whether the records are the same.
func (l *Log) Moves(ctx context.Context) (moves []events.LogMoved, err error) {
	for _, p := range l.open(events.Checkpoints) {
		err := p.advance(ctx, p.topic.Ends[p.number], func(f *Fact) error {
			data, err := events.Decode(f.Type, f.Value)
			if d, ok := data.(events.LogMoved); ok && err == nil {
				moves = append(moves, d)
			}
			return nil
		})
		if err != nil && !errors.Is(err, errShort) {
			return nil, err
		}
	}
	return moves, nil
}

// moved says which clusters and topics the log was in before.
type moved struct {
	clusters []string            // earlier ones, the oldest first
	topics   map[string][]string // ids of earlier topics, by the id of the present one
}

// movedFrom follows the moves back from the log as it is now.
func movedFrom(cluster string, topics []Topic, moves []events.LogMoved) moved {
	m := moved{topics: map[string][]string{}}
	for _, move := range slices.Backward(moves) {
		if move.Cluster != cluster {
			continue
		}
		if move.FromCluster != cluster {
			m.clusters = append(m.clusters, move.FromCluster)
		}
		cluster = move.FromCluster
		for _, t := range topics {
			oldest := t.ID
			if known := m.topics[t.ID]; len(known) > 0 {
				oldest = known[len(known)-1]
			}
			for _, from := range move.Topics {
				if from.Family == string(t.Family) && from.TopicID == oldest {
					m.topics[t.ID] = append(m.topics[t.ID], from.FromTopicID)
				}
			}
		}
	}
	slices.Reverse(m.clusters)
	return m
}

// isTopic reports whether an id is that of the topic or of one that it was moved from.
func (m moved) isTopic(now *Topic, id string) bool {
	return now.ID == id || slices.Contains(m.topics[now.ID], id)
}

// history reads where the log was before.
func (l *Log) history(ctx context.Context) (moved, error) {
	moves, err := l.Moves(ctx)
	return movedFrom(l.Cluster, l.Topics, moves), err
}

// ring returns the ring of the log before the first of its notes.
func (l *Log) ring(notes []published, known string, m moved) *ring {
	return newRing(notesOf(notes), append(slices.Clone(m.clusters), l.Cluster), known)
}
