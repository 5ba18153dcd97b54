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

// Witness knows of the log what outlives the database.
type Witness interface {
	// Seen returns how far the log was seen by others than the read models.
	Seen(ctx context.Context) ([]Seen, error)
	// Accepted returns what the log says that it lost and that an operator
	// went on without.
	Accepted(ctx context.Context) ([]events.LostRecords, error)
}

// Seen is how far a partition of the log was seen.
type Seen struct {
	Cluster, TopicID string
	Family           events.Family
	Partition        int32
	Next             int64 // the first offset that was not
}

// Losses returns what the log no longer has of what the live read model or the
// witness has seen, and that nobody has accepted.
func (p *Projector) Losses(ctx context.Context) ([]events.LostRecords, error) {
	lost, err := p.losses(ctx)
	if err != nil || len(lost) == 0 || p.Witness == nil {
		return lost, err
	}
	accepted, err := p.Witness.Accepted(ctx)
	if err != nil {
		return nil, fmt.Errorf("read which losses were accepted: %w", err)
	}
	return slices.DeleteFunc(lost, func(l events.LostRecords) bool {
		return slices.ContainsFunc(accepted, func(a events.LostRecords) bool {
			a.Found = l.Found
			return a == l
		})
	}), nil
}

// refuseLosses refuses a log that has lost what nobody has accepted.
func (p *Projector) refuseLosses(ctx context.Context) error {
	lost, err := p.Losses(ctx)
	if err == nil && len(lost) > 0 {
		err = fmt.Errorf("%w: %s; 'netsim readmodel rebuild next --accept-lost-tail REASON' goes on without what is lost, and records it",
			ErrOtherLog, describe(lost))
	}
	return err
}

func describe(lost []events.LostRecords) string {
	texts := make([]string, len(lost))
	for i, l := range lost {
		texts[i] = l.Found
	}
	return strings.Join(texts, "; ")
}

// losses returns what the log no longer has, accepted or not.
func (p *Projector) losses(ctx context.Context) (lost []events.LostRecords, err error) {
	log, err := p.Log.Describe(ctx)
	if err != nil {
		return nil, fmt.Errorf("describe the log: %w", err)
	}
	seen, err := p.seen(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range seen {
		at := s.partitionState
		at.topic = log.TopicName(at.family)
		err := compareTopic(log, at)
		if s.cluster != log.ClusterID {
			err = fmt.Errorf("%w: %s/%d was seen in cluster %s, this is %s", ErrOtherLog, at.family, at.partition, s.cluster, log.ClusterID)
		}
		if err == nil {
			err = p.proveTail(ctx, at)
		}
		switch {
		case at.next == 0 || err == nil:
		case errors.Is(err, ErrOtherLog):
			lost = append(lost, events.LostRecords{
				Family: string(at.family), Partition: int64(at.partition), TopicID: at.topicID, Seen: at.next,
				Found: strings.TrimPrefix(err.Error(), ErrOtherLog.Error()+": "),
			})
		default:
			return nil, err
		}
	}
	return lost, nil
}

// seenPlace is how far a partition was seen, in a cluster.
type seenPartition struct {
	*partitionState
	cluster string
}

// seen returns what the live read model and the witness have seen.
func (p *Projector) seen(ctx context.Context) (all []seenPartition, err error) {
	var cluster string
	var there bool
	if err := p.Pool.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, Live+".offsets").Scan(&there); err != nil {
		return nil, fmt.Errorf("look for %s: %w", Live, err)
	}
	if there {
		err := p.Pool.QueryRow(ctx, `SELECT cluster_id FROM `+Live+`.log`).Scan(&cluster)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return nil, fmt.Errorf("load the log's identity: %w", err)
		}
		partitions, err := p.readPartitions(ctx, Live, eventlog.Description{})
		if err != nil {
			return nil, err
		}
		for _, at := range partitions {
			all = append(all, seenPartition{at, cluster})
		}
	}
	if p.Witness == nil {
		return all, nil
	}
	others, err := p.Witness.Seen(ctx)
	if err != nil {
		return nil, fmt.Errorf("read how far the log was seen: %w", err)
	}
	for _, o := range others {
		at := &partitionState{family: o.Family, partition: o.Partition, topicID: o.TopicID}
		at.next = o.Next
		all = append(all, seenPartition{at, o.Cluster})
	}
	return all, nil
}
