package projector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/infra/eventlog"
)

// ErrNoMove is wrapped by the error of Moved for a log that cannot be the one that was
// seen.
var ErrNoMove = errors.New("this is not the log that the read model was built from")

// Moved compares the log with the one that the live read model and the witness have
// seen in other topics. It returns the move to this log, and the records that were seen
// and that this log does not have. The move is nil when they were seen in these topics.
// Its error wraps ErrNoMove when a record that both have is not the same.
func (p *Projector) Moved(ctx context.Context) (move *events.LogMoved, lost []events.LostRecords, err error) {
	log, err := p.Log.Describe(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("describe the log: %w", err)
	}
	seen, err := p.seen(ctx)
	if err != nil {
		return nil, nil, err
	}
	moves, err := p.moves(ctx)
	if err != nil {
		return nil, nil, err
	}
	move = &events.LogMoved{Cluster: log.ClusterID}
	for _, s := range seen {
		s, _ := s.follow(moves)
		topic, ok := topicOf(log, s.family)
		if !ok || int(s.partition) >= len(topic.Partitions) {
			return nil, nil, fmt.Errorf("%w: it has no partition %d of %s", ErrNoMove, s.partition, s.family)
		}
		if s.cluster == log.ClusterID && s.topicID == topic.ID {
			continue
		}
		found, err := p.compareMoved(ctx, s, topic)
		if err != nil {
			return nil, nil, err
		}
		if found != "" {
			lost = append(lost, events.LostRecords{
				Family: string(s.family), Partition: int64(s.partition), TopicID: s.topicID, Seen: s.next, Found: found,
			})
		}
		if move.FromCluster != "" && move.FromCluster != s.cluster {
			return nil, nil, fmt.Errorf("%w: the read model has seen it in cluster %s, the last log checkpoint in cluster %s", ErrNoMove, move.FromCluster, s.cluster)
		}
		move.FromCluster = s.cluster
		if !slices.ContainsFunc(move.Topics, func(t events.MovedTopic) bool { return t.Family == string(s.family) }) {
			t := events.MovedTopic{Family: string(s.family), FromTopicID: s.topicID, TopicID: topic.ID}
			for _, part := range topic.Partitions {
				t.Ends = append(t.Ends, part.End)
			}
			move.Topics = append(move.Topics, t)
		}
	}
	if len(move.Topics) == 0 {
		return nil, nil, nil
	}
	return move, lost, nil
}

// compareMoved compares the record before a position that was seen in another topic. It
// says what is found instead when this one is too short.
func (p *Projector) compareMoved(ctx context.Context, s seenPartition, topic eventlog.Topic) (lost string, err error) {
	if end := topic.Partitions[s.partition].End; end < s.next {
		return fmt.Sprintf("partition %d of %s ends at offset %d, it was seen up to %d", s.partition, topic.Name, end, s.next), nil
	}
	at := *s.partitionState
	at.topic = topic.Name
	if err := p.proveTail(ctx, &at); errors.Is(err, ErrOtherLog) {
		return "", fmt.Errorf("%w: %s", ErrNoMove, strings.TrimPrefix(err.Error(), ErrOtherLog.Error()+": "))
	} else if err != nil {
		return "", err
	}
	return "", nil
}

// moves returns the moves that the log records.
func (p *Projector) moves(ctx context.Context) ([]events.LogMoved, error) {
	if p.Witness == nil {
		return nil, nil
	}
	moves, err := p.Witness.Moves(ctx)
	if err != nil {
		return nil, fmt.Errorf("read how the log was moved: %w", err)
	}
	return moves, nil
}

// follow returns the partition under the cluster and the topic to which moves have led,
// and whether all that was seen was copied.
func (s seenPartition) follow(moves []events.LogMoved) (now seenPartition, whole bool) {
	whole = true
	for _, m := range moves {
		for _, t := range m.Topics {
			if m.FromCluster != s.cluster || t.Family != string(s.family) || t.FromTopicID != s.topicID {
				continue
			}
			if int(s.partition) < len(t.Ends) && t.Ends[s.partition] < s.next {
				whole = false
			}
			at := *s.partitionState
			at.topicID = t.TopicID
			s = seenPartition{&at, m.Cluster}
			break
		}
	}
	return s, whole
}

// Adopt gives the live read model the identity of the log, which the log itself records
// as moved. It refuses a log that lacks records that the read model has seen. Without a
// live read model it does nothing.
func (p *Projector) Adopt(ctx context.Context) error {
	move, _, err := p.Moved(ctx)
	if err != nil {
		return err
	}
	if move != nil {
		return fmt.Errorf("%w: the log does not record that it was moved from cluster %s", ErrOtherLog, move.FromCluster)
	}
	if err := p.refuseLosses(ctx); err != nil {
		return err
	}
	log, err := p.Log.Describe(ctx)
	if err != nil {
		return fmt.Errorf("describe the log: %w", err)
	}
	var there bool
	if err := p.Pool.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, Live+".offsets").Scan(&there); err != nil || !there {
		return err
	}
	return pgx.BeginFunc(ctx, p.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `LOCK TABLE `+Live+`.offsets IN ACCESS EXCLUSIVE MODE`); err != nil {
			return fmt.Errorf("adopt the log: %w", err)
		}
		if _, err := tx.Exec(ctx, `UPDATE `+Live+`.log SET cluster_id = $1`, log.ClusterID); err != nil {
			return fmt.Errorf("adopt the log: %w", err)
		}
		for _, topic := range log.Topics {
			if _, err := tx.Exec(ctx, `UPDATE `+Live+`.offsets SET topic_id = $1 WHERE family = $2`, topic.ID, topic.Family); err != nil {
				return fmt.Errorf("adopt the topic of %s: %w", topic.Family, err)
			}
		}
		return nil
	})
}
