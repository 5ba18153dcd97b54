package projector

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/wait"
)

// partitionState is a partition and how far it is judged. Only the goroutine
// that applies batches changes the position; the rest is constant.
type partitionState struct {
	family    events.Family
	partition int32
	topic     string
	topicID   string
	table     uint32 // the oid of the table offsets, which identifies the read model
	epoch     int64  // of the lease of its shard; 0 for none
	position
}

type position struct {
	next       int64
	lastRecord []byte // SHA-256 of the record before next
	facts      int64
	digest     events.Digest
	sealing    events.Sealing
}

// partitions loads the position of every partition and verifies that the log is
// the one that the rows came from. An empty read model adopts the log.
func (p *Projector) partitions(ctx context.Context) ([]*partitionState, error) {
	exists, err := p.check(ctx, p.Pool)
	if err == nil && !exists {
		err = p.restore(ctx)
	}
	if err == nil {
		err = p.locate(ctx)
	}
	if err != nil {
		return nil, err
	}
	log, err := p.Log.Describe(ctx)
	if err != nil {
		return nil, fmt.Errorf("describe the log: %w", err)
	}
	if err := p.adopt(ctx, log); err != nil {
		return nil, err
	}
	partitions, err := p.readPartitions(ctx, p.table("offsets"), log)
	if err != nil {
		return nil, err
	}
	for _, at := range partitions {
		if p.Keys == nil && len(at.sealing) > 0 {
			return nil, keyless(at)
		}
	}
	if err := p.compare(ctx, log, partitions); err != nil {
		return nil, err
	}
	return partitions, p.proveTails(ctx, partitions)
}

// leased returns the partitions of the shards that are leased to this process, with
// the epochs of the leases; without Config.Leases all partitions.
func (p *Projector) leased(all []*partitionState) (mine []*partitionState) {
	if p.Leases == nil {
		return all
	}
	for _, at := range all {
		for _, lease := range p.held {
			if at.partition == lease.Shard {
				at.epoch = lease.Epoch
				mine = append(mine, at)
			}
		}
	}
	return mine
}

// ifLeased returns the SQL condition that the lease of the shard of row o of offsets
// has the epoch, a SQL expression; "" without Config.Leases. It adds the condition's
// argument to args.
func (p *Projector) ifLeased(epoch string, args []any) (condition string, all []any) {
	if p.Leases == nil {
		return "", args
	}
	args = append(args, p.Leases.Subscriber)
	return fmt.Sprintf("AND EXISTS (SELECT FROM facts.leases l WHERE l.subscriber = $%d AND l.shard = o.partition AND l.epoch = %s)",
		len(args), epoch), args
}

var errMissing = errors.New("the read model is missing")

// restore makes the tables of a live read model that was dropped under the
// running service; the log is then projected from offset 0. It first gives every
// Watcher the time to see that the read model is missing, so that each reports Behind
// until the rebuilt one has come as far.
func (p *Projector) restore(ctx context.Context) error {
	if !p.isLive() {
		return fmt.Errorf("%w: schema %s was dropped", errMissing, p.Schema)
	}
	p.Logger.ErrorContext(ctx, "the read model is missing; it is rebuilt from the log")
	if err := wait.For(ctx, 3*pollEvery); err != nil {
		return err
	}
	return p.Create(ctx)
}

// Recognize returns ErrOtherLog when the log is not the one that the read model
// was built from. A read model of which nothing was built has no log yet.
func (p *Projector) Recognize(ctx context.Context, log eventlog.Description) error {
	partitions, err := p.readPartitions(ctx, p.table("offsets"), log)
	if err != nil {
		return err
	}
	err = p.compare(ctx, log, partitions)
	if len(partitions) == 0 && errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

// readPartitions reads the partitions from a table of offsets.
func (p *Projector) readPartitions(ctx context.Context, offsets string, log eventlog.Description) ([]*partitionState, error) {
	rows, err := p.Pool.Query(ctx, fmt.Sprintf(
		`SELECT family, partition, topic_id, next, last_record, facts, digest, sealing, tableoid FROM %s ORDER BY family, partition`, offsets))
	if err != nil {
		return nil, fmt.Errorf("load the offsets: %w", err)
	}
	partitions, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*partitionState, error) {
		var at partitionState
		var digest []byte
		var sealing string
		err := row.Scan(&at.family, &at.partition, &at.topicID, &at.next, &at.lastRecord, &at.facts, &digest, &sealing, &at.table)
		at.sealing = events.ParseSealing(sealing)
		copy(at.digest[:], digest)
		at.topic = log.TopicName(at.family)
		return &at, err
	})
	if err != nil {
		return nil, fmt.Errorf("load the offsets: %w", err)
	}
	return partitions, nil
}

// adopt stores the identity of the log in a read model that has none.
func (p *Projector) adopt(ctx context.Context, log eventlog.Description) error {
	return pgx.BeginFunc(ctx, p.Pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, fmt.Sprintf(
			`INSERT INTO %s (cluster_id) VALUES ($1) ON CONFLICT DO NOTHING`, p.table("log")), log.ClusterID)
		if err != nil {
			return fmt.Errorf("adopt the log: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return nil
		}
		if err := p.refuseLosses(ctx); err != nil {
			return err
		}
		for _, topic := range log.Topics {
			for partition := range topic.Partitions {
				_, err := tx.Exec(ctx, fmt.Sprintf(
					`INSERT INTO %s VALUES ($1, $2, $3, 0, '', 0, $4, '')`, p.table("offsets")),
					topic.Family, partition, topic.ID, make([]byte, len(events.Digest{})))
				if err != nil {
					return fmt.Errorf("adopt partition %d of %s: %w", partition, topic.Name, err)
				}
			}
		}
		return nil
	})
}
