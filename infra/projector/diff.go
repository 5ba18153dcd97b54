package projector

import (
	"context"
	"errors"
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
// snapshot of the live model and projects up to the snapshot's position.
func (p *Projector) Diff(ctx context.Context) (c Comparison, err error) {
	if p.isLive() {
		return c, fmt.Errorf("%s is the live read model", Live)
	}
	return p.DiffWith(ctx, p.Pool)
}

// DiffWith compares p with the live read model of another database, which was built from
// the same log. A read model beside the live one is compared at one position also under
// load, as by Diff. Of the live one, DiffWith waits until both are at the same position,
// which may never happen while there are writes.
func (p *Projector) DiffWith(ctx context.Context, database *pgxpool.Pool) (c Comparison, err error) {
	exists, err := p.check(ctx, p.Pool)
	if err == nil && !exists {
		err = fmt.Errorf("there is no read model %s", p.Schema)
	}
	if err != nil {
		return c, err
	}
	lost, err := p.losses(ctx)
	if err == nil && len(lost) > 0 {
		err = fmt.Errorf("the read models have no position in common: %s", describe(lost))
	}
	if err != nil {
		return c, err
	}
	var live, other pgx.Tx
	defer func() {
		for _, tx := range []pgx.Tx{live, other} {
			if tx != nil {
				tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // it only reads
			}
		}
	}()
	align := p.align
	if p.isLive() {
		align = p.meet
	}
	if live, other, c.Position, err = align(ctx, database); err != nil {
		return c, err
	}
	c.Differences, err = compareModels(ctx, side{live, Live}, side{other, p.Schema})
	return c, err
}

// meet returns snapshots of two live read models at the same position, live that of the
// other database. The caller ends both transactions, also after an error.
func (p *Projector) meet(ctx context.Context, database *pgxpool.Pool) (live, other pgx.Tx, at Position, err error) {
	var reached Position
	err = poll(ctx, func() (bool, error) {
		for _, tx := range []pgx.Tx{live, other} {
			if tx != nil {
				tx.Rollback(ctx) //nolint:errcheck // it only reads
			}
		}
		if live, at, err = p.snapshot(ctx, database, Live); err != nil {
			return false, err
		}
		other, reached, err = p.snapshot(ctx, p.Pool, p.Schema)
		return reached.reaches(at) && at.reaches(reached), err
	})
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("the read models were never at the same position (%s and %s); rebuild one beside the live one and compare that: %w", at, reached, err)
	}
	return live, other, at, err
}

// alignTimeout bounds how long the live read model takes to reach the other one.
const alignTimeout = 30 * time.Second

// align returns snapshots of the live read model and of this one at the same
// position. The caller ends both transactions, also after an error.
func (p *Projector) align(ctx context.Context, database *pgxpool.Pool) (live, other pgx.Tx, at Position, err error) {
	lock, err := p.waitLock(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	defer lock.release(ctx)
	from, err := readPosition(ctx, p.Pool, p.Schema)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := p.awaitLive(ctx, database, from); err != nil {
		return nil, nil, nil, err
	}
	if live, at, err = p.snapshot(ctx, database, Live); err != nil {
		return live, nil, nil, err
	}
	p.until = at
	err = p.runWhile(ctx, p.project, func(ctx context.Context) error { return p.await(ctx, at) })
	if err != nil {
		return live, nil, nil, err
	}
	other, reached, err := p.snapshot(ctx, p.Pool, p.Schema)
	if err == nil && !(reached.reaches(at) && at.reaches(reached)) {
		err = fmt.Errorf("%s is at %s, not at %s; compare again", p.Schema, reached, at)
	}
	return live, other, at, err
}

// awaitLive waits until the live read model has reached the position.
func (p *Projector) awaitLive(ctx context.Context, database *pgxpool.Pool, to Position) error {
	ctx, cancel := context.WithTimeout(ctx, alignTimeout)
	defer cancel()
	var at Position
	err := poll(ctx, func() (reached bool, err error) {
		at, err = readPosition(ctx, database, Live)
		return at.reaches(to), err
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the live read model is still at %s, behind %s at %s: is its projector running?", at, p.Schema, to)
	}
	return err
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
