package projector

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Comparison is how a read model differs from the live one at one position.
type Comparison struct {
	Position    Position
	Differences []Difference
}

// Diff compares p with the live read model at one position, also under load. It does
// not delay the live model: p pauses until the live model has reached it, takes a
// snapshot of the live model and projects up to the snapshot's position. If another
// process has moved p on meanwhile, it does so again.
func (p *Projector) Diff(ctx context.Context) (c Comparison, err error) {
	if p.isLive() {
		return c, fmt.Errorf("%s is the live read model", Live)
	}
	return p.DiffWith(ctx, p.Pool)
}

// DiffWith compares p with the live read model of another database, which was built from
// the same log. A read model beside the live one is compared at one position also under
// load, as by Diff. Of the live one, and of a superseded one that other processes project,
// DiffWith waits until both are at the same position, which may never happen while there
// are writes.
func (p *Projector) DiffWith(ctx context.Context, database *pgxpool.Pool) (c Comparison, err error) {
	exists, err := p.check(ctx, p.Pool)
	if err == nil && !exists {
		err = fmt.Errorf("there is no read model %s", p.Schema)
	}
	if err != nil {
		return c, err
	}
	lost, err := p.Lost(ctx)
	if err == nil && len(lost) > 0 {
		err = fmt.Errorf("the read models have no position in common: %s", describe(lost))
	}
	if err != nil {
		return c, err
	}
	live, other, at, err := p.meet(ctx, database)
	defer func() { end(ctx, live, other) }()
	if err != nil {
		return c, err
	}
	c.Position = at
	c.Differences, err = compareModels(ctx, side{live, Live}, side{other, p.Schema})
	return c, err
}

// meet returns snapshots of the live read model of the database and of p at the same
// position. The caller ends both transactions, also after an error.
func (p *Projector) meet(ctx context.Context, database *pgxpool.Pool) (live, other pgx.Tx, at Position, err error) {
	if !p.isLive() {
		lock, err := p.waitLock(ctx)
		if err != nil {
			return nil, nil, nil, err
		}
		defer lock.release(ctx)
	}
	var reached Position
	err = poll(ctx, func() (met bool, err error) {
		end(ctx, live, other)
		live, other = nil, nil
		if !p.isLive() {
			if err := p.awaitLive(ctx, database); err != nil {
				return false, err
			}
		}
		if live, at, err = p.snapshot(ctx, database, Live); err != nil {
			return false, err
		}
		if !p.isLive() {
			if err := p.projectTo(ctx, at); err != nil {
				return false, err
			}
		}
		// A batch that the former holder of the lock has sent may be committed after
		// the lock was released.
		other, reached, err = p.snapshot(ctx, p.Pool, p.Schema)
		return reached.reaches(at) && at.reaches(reached), err
	})
	if err != nil && ctx.Err() != nil && p.isLive() {
		err = fmt.Errorf("the read models were never at the same position (%s and %s); rebuild one beside the live one and compare that: %w", at, reached, err)
	}
	return live, other, at, err
}

// end ends transactions that have only read.
func end(ctx context.Context, txs ...pgx.Tx) {
	for _, tx := range txs {
		if tx != nil {
			tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // it only reads
		}
	}
}

// projectTo projects up to a position. The caller holds the lock.
func (p *Projector) projectTo(ctx context.Context, at Position) error {
	p.until = at
	return p.runWhile(ctx, p.project, func(ctx context.Context) error { return p.await(ctx, at) })
}

// alignTimeout bounds how long the live read model may stand still while it is waited for.
const alignTimeout = 30 * time.Second

// awaitLive waits until the live read model has reached the position of p.
func (p *Projector) awaitLive(ctx context.Context, database *pgxpool.Pool) error {
	to, err := readPosition(ctx, p.Pool, p.Schema)
	if err != nil {
		return err
	}
	var at Position
	moved := time.Now()
	return poll(ctx, func() (reached bool, err error) {
		now, err := readPosition(ctx, database, Live)
		if err != nil || now.reaches(to) {
			return true, err
		}
		if now.Records() > at.Records() {
			at, moved = now, time.Now()
		}
		if time.Since(moved) > alignTimeout {
			return false, fmt.Errorf("the live read model is still at %s, behind %s at %s: is its projector running?", at, p.Schema, to)
		}
		return false, nil
	})
}

// snapshot opens a transaction that sees a read model at one position.
func (p *Projector) snapshot(ctx context.Context, database *pgxpool.Pool, schema string) (pgx.Tx, Position, error) {
	tx, err := database.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, nil, fmt.Errorf("open a snapshot: %w", err)
	}
	if _, err := tx.Exec(ctx, canonicalSettings); err != nil {
		return tx, nil, fmt.Errorf("open a snapshot: %w", err)
	}
	at, err := readPosition(ctx, tx, schema)
	return tx, at, err
}
