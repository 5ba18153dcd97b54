package projector

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/internal/wait"
)

// place is a partition and how far it is judged. The position belongs to
// whoever applies batches, the rest does not change.
type place struct {
	family    events.Family
	partition int32
	topic     string
	topicID   string
	table     uint32 // the oid of the offsets: which read model has the schema's name
	position
}

type position struct {
	next       int64
	lastRecord []byte // SHA-256 of the record before next
	facts      int64
	digest     events.Digest
	sealing    events.Sealing
}

// places loads where every partition stands and proves that the log is the one
// that the rows came from. An empty read model adopts the log at hand.
func (p *Projector) places(ctx context.Context) ([]*place, error) {
	exists, err := p.check(ctx, p.Pool)
	if err == nil && !exists {
		err = p.restore(ctx)
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
	places, err := p.loadPlaces(ctx, p.Schema, log)
	if err != nil {
		return nil, err
	}
	for _, at := range places {
		if p.Keys == nil && len(at.sealing) > 0 {
			return nil, keyless(at)
		}
	}
	if err := p.compare(ctx, log, places); err != nil {
		return nil, err
	}
	return places, p.proveTails(ctx, places)
}

var errMissing = errors.New("the read model is missing")

// restore makes a live read model that was dropped under the running service,
// empty, to be rebuilt from the log. Before, every Watcher gets the time to see
// that it is missing: what they know tells them when it is complete again.
func (p *Projector) restore(ctx context.Context) error {
	if p.Schema != Live {
		return fmt.Errorf("%w: schema %s was dropped", errMissing, p.Schema)
	}
	p.Logger.ErrorContext(ctx, "the read model is missing; it is rebuilt from the log")
	if err := wait.For(ctx, 5*pollEvery); err != nil {
		return err
	}
	return p.Create(ctx)
}

// Recognize returns ErrOtherLog when the log is not the one that the read model
// was built from.
func (p *Projector) Recognize(ctx context.Context, log eventlog.Description) error {
	places, err := p.loadPlaces(ctx, p.Schema, log)
	if err != nil {
		return err
	}
	return p.compare(ctx, log, places)
}

// loadPlaces loads where the read model in a schema stands.
func (p *Projector) loadPlaces(ctx context.Context, schema string, log eventlog.Description) ([]*place, error) {
	rows, err := p.Pool.Query(ctx, fmt.Sprintf(
		`SELECT family, partition, topic_id, next, last_record, facts, digest, sealing, tableoid FROM %s.offsets ORDER BY family, partition`,
		pgx.Identifier{schema}.Sanitize()))
	if err != nil {
		return nil, fmt.Errorf("load the offsets: %w", err)
	}
	places, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*place, error) {
		var at place
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
	return places, nil
}

// adopt writes the identity of the log into a read model that has none.
func (p *Projector) adopt(ctx context.Context, log eventlog.Description) error {
	return pgx.BeginFunc(ctx, p.Pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, fmt.Sprintf(
			`INSERT INTO %s.log (cluster_id) VALUES ($1) ON CONFLICT DO NOTHING`, p.ident()), log.ClusterID)
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
					`INSERT INTO %s.offsets VALUES ($1, $2, $3, 0, '', 0, $4, '')`, p.ident()),
					topic.Family, partition, topic.ID, make([]byte, len(events.Digest{})))
				if err != nil {
					return fmt.Errorf("adopt partition %d of %s: %w", partition, topic.Name, err)
				}
			}
		}
		return nil
	})
}

func (p *Projector) ident() string { return pgx.Identifier{p.Schema}.Sanitize() }
