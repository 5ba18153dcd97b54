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

// Witness has evidence of the log that outlives the database.
type Witness interface {
	// Seen returns the ends of the partitions as the witness saw them.
	Seen(ctx context.Context) ([]Seen, error)
	// Accepted returns the losses that an operator has accepted in the log.
	Accepted(ctx context.Context) ([]events.LostRecords, error)
	// Moves returns the moves of the log that the log records.
	Moves(ctx context.Context) ([]events.LogMoved, error)
}

// Seen is an end of a partition that a witness saw.
type Seen struct {
	Cluster, TopicID string
	Family           events.Family
	Partition        int32
	Next             int64 // the offset after the last record seen
}

// Losses returns the records that the live read model or the witness has seen,
// that the log no longer has, and whose loss no operator has accepted.
func (p *Projector) Losses(ctx context.Context) ([]events.LostRecords, error) {
	lost, err := p.Lost(ctx)
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

// refuseLosses returns ErrOtherLog when there are losses that are not accepted.
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

// Lost is Losses, including those that were accepted.
func (p *Projector) Lost(ctx context.Context) (lost []events.LostRecords, err error) {
	log, err := p.Log.Describe(ctx)
	if err != nil {
		return nil, fmt.Errorf("describe the log: %w", err)
	}
	seen, err := p.seen(ctx)
	if err != nil {
		return nil, err
	}
	moves, err := p.moves(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range seen {
		if moved, whole := s.follow(moves); whole {
			s = moved // else the loss is of the topic in which the records were seen
		}
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

// seenPartition is a partition as it was seen, with its cluster.
type seenPartition struct {
	*partitionState
	cluster string
}

// seen returns the ends that the live read model and the witness have seen.
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
		partitions, err := p.readPartitions(ctx, tableIn(Live, "offsets"), eventlog.Description{})
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
