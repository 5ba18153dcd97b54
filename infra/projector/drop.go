package projector

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"netsim/infra/facts"
)

// Drop removes a read model that is not the live one and that no process projects
// into.
func (p *Projector) Drop(ctx context.Context) error {
	if p.isLive() {
		return fmt.Errorf("%s is the live read model; it is not dropped", Live)
	}
	var is bool
	err := p.Pool.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'offsets')
			AND EXISTS (SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'streams')`, p.Schema).Scan(&is)
	if err != nil {
		return fmt.Errorf("look for %s: %w", p.Schema, err)
	}
	if !is {
		return fmt.Errorf("there is no read model %s", p.Schema)
	}
	if err := p.refuseServed(ctx); err != nil {
		return err
	}
	lock, err := p.tryLock(ctx)
	if err != nil {
		return err
	}
	defer lock.release(ctx)
	return pgx.BeginFunc(ctx, p.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL lock_timeout = '10s'; DROP SCHEMA "+p.ident()+" CASCADE"); err != nil {
			return fmt.Errorf("drop %s: %w", p.Schema, err)
		}
		return facts.Forget(ctx, tx, p.Schema)
	})
}

// refuseServed refuses a superseded read model that processes serve.
func (p *Projector) refuseServed(ctx context.Context) error {
	var processes int
	err := p.Pool.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity
		WHERE datname = current_database() AND application_name = $1`, listenerName(p.Schema)).Scan(&processes)
	if err != nil {
		return fmt.Errorf("look for processes that serve %s: %w", p.Schema, err)
	}
	if processes > 0 {
		return fmt.Errorf("%d processes of the release that made %s serve it: replace them first", processes, p.Schema)
	}
	return nil
}
