package projector

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"netsim/events"
)

// Cut is a consistent cut of the log: the read model's position in each partition,
// from one snapshot of the database.
type Cut struct {
	ClusterID string
	Parts     []CutPart
}

// CutPart is the read model's position in a partition.
type CutPart struct {
	Family    events.Family
	TopicID   string
	Partition int32
	Next      int64 // the first offset not yet judged
	Facts     int64
	Digest    events.Digest // over the facts, see docs/log.md
	Sealing   events.Sealing
}

// CutChain is the head of a stream in its partition.
type CutChain struct {
	Stream    string
	Partition int32
	Head      events.Head
}

// ReadCut reads the position of the live read model. In a repeatable-read
// transaction it matches the heads and rows that the transaction reads.
func ReadCut(ctx context.Context, tx pgx.Tx) (c Cut, err error) {
	if err = tx.QueryRow(ctx, `SELECT cluster_id FROM log`).Scan(&c.ClusterID); err != nil {
		return c, fmt.Errorf("read the log's identity: %w", err)
	}
	rows, err := tx.Query(ctx, `SELECT family, topic_id, partition, next, facts, digest, sealing FROM offsets ORDER BY family, partition`)
	if err != nil {
		return c, fmt.Errorf("read the offsets: %w", err)
	}
	c.Parts, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (p CutPart, err error) {
		var digest []byte
		var sealing string
		err = row.Scan(&p.Family, &p.TopicID, &p.Partition, &p.Next, &p.Facts, &digest, &sealing)
		copy(p.Digest[:], digest)
		p.Sealing = events.ParseSealing(sealing)
		return p, err
	})
	if err != nil {
		return c, fmt.Errorf("read the offsets: %w", err)
	}
	return c, nil
}

// ReadHeads reads the heads of all streams of a family.
func ReadHeads(ctx context.Context, tx pgx.Tx, family events.Family) ([]CutChain, error) {
	rows, err := tx.Query(ctx, `SELECT stream, partition, sequence, hash FROM streams WHERE family = $1 AND sequence > 0`, family)
	if err != nil {
		return nil, fmt.Errorf("read the heads: %w", err)
	}
	heads, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c CutChain, err error) {
		var hash []byte
		err = row.Scan(&c.Stream, &c.Partition, &c.Head.Sequence, &hash)
		copy(c.Head.Hash[:], hash)
		return c, err
	})
	if err != nil {
		return nil, fmt.Errorf("read the heads: %w", err)
	}
	return heads, nil
}

// EachHead calls each with the head of every stream, in the order of families,
// partitions and streams, as bytes. It holds one row at a time in memory. Each must not
// use tx.
func EachHead(ctx context.Context, tx pgx.Tx, each func(events.Family, CutChain) error) error {
	rows, err := tx.Query(ctx, `SELECT family, partition, stream, sequence, hash FROM streams WHERE sequence > 0
		ORDER BY family COLLATE "C", partition, stream COLLATE "C"`)
	if err != nil {
		return fmt.Errorf("read the heads: %w", err)
	}
	var family events.Family
	var c CutChain
	var hash []byte
	_, err = pgx.ForEachRow(rows, []any{&family, &c.Partition, &c.Stream, &c.Head.Sequence, &hash}, func() error {
		copy(c.Head.Hash[:], hash)
		return each(family, c)
	})
	if err != nil {
		return fmt.Errorf("read the heads: %w", err)
	}
	return nil
}

// ReadStored reads the stored state of a stream; nil when there is none.
func ReadStored(ctx context.Context, tx pgx.Tx, stream string) ([]byte, error) {
	var state *string
	err := tx.QueryRow(ctx, `SELECT (SELECT state FROM streams WHERE stream = $1 LIMIT 1)`, stream).Scan(&state)
	if err != nil {
		return nil, fmt.Errorf("read the state of %s: %w", stream, err)
	}
	if state == nil {
		return nil, nil
	}
	return []byte(*state), nil
}

// ReadLosses returns a text that names the losses of records that the log records as
// accepted, in the stream of the log checkpoints; "" for none. Positions of the log that
// clients keep are bound to it: after a loss they are positions in another log.
func ReadLosses(ctx context.Context, db interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}, stream string,
) (losses string, err error) {
	err = db.QueryRow(ctx, `SELECT coalesce((SELECT state::json->>'losses' FROM streams WHERE stream = $1 LIMIT 1), '')`, stream).Scan(&losses)
	if err != nil {
		return "", fmt.Errorf("read which losses of the log were accepted: %w", err)
	}
	return losses, nil
}
