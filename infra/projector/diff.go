package projector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
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
	if p.Schema == Live {
		return c, fmt.Errorf("%s is the live read model", Live)
	}
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
	if live, other, c.Position, err = p.align(ctx); err != nil {
		return c, err
	}
	c.Differences, err = compareModels(ctx, live, other, p.Schema)
	return c, err
}

// alignTimeout bounds how long the live read model takes to reach the other one.
const alignTimeout = 30 * time.Second

// align returns snapshots of the live read model and of this one at the same
// position. The caller ends both transactions, also after an error.
func (p *Projector) align(ctx context.Context) (live, other pgx.Tx, at Position, err error) {
	lock, err := p.waitLock(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	defer lock.release(ctx)
	from, err := readPosition(ctx, p.Pool, p.Schema)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := p.awaitLive(ctx, from); err != nil {
		return nil, nil, nil, err
	}
	if live, at, err = p.snapshot(ctx, Live); err != nil {
		return live, nil, nil, err
	}
	p.until = at
	err = p.runWhile(ctx, p.project, func(ctx context.Context) error { return p.await(ctx, at) })
	if err != nil {
		return live, nil, nil, err
	}
	other, reached, err := p.snapshot(ctx, p.Schema)
	if err == nil && !(reached.reaches(at) && at.reaches(reached)) {
		err = fmt.Errorf("%s is at %s, not at %s; compare again", p.Schema, reached, at)
	}
	return live, other, at, err
}

// awaitLive waits until the live read model has reached the position.
func (p *Projector) awaitLive(ctx context.Context, to Position) error {
	ctx, cancel := context.WithTimeout(ctx, alignTimeout)
	defer cancel()
	var at Position
	err := poll(ctx, func() (reached bool, err error) {
		at, err = readPosition(ctx, p.Pool, Live)
		return at.reaches(to), err
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the live read model is still at %s, behind %s at %s: is its projector running?", at, p.Schema, to)
	}
	return err
}

// snapshot opens a transaction that sees a read model at one position.
func (p *Projector) snapshot(ctx context.Context, schema string) (pgx.Tx, Position, error) {
	tx, err := p.Pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, nil, fmt.Errorf("open a snapshot: %w", err)
	}
	at, err := readPosition(ctx, tx, schema)
	return tx, at, err
}
