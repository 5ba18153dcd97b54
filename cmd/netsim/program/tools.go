package program

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/infra/journal"
	"netsim/infra/postgres"
	"netsim/infra/projector"
)

// Tools are what an operator does to read models from the command line.
type Tools struct {
	core *core
	pool *pgxpool.Pool
}

// OpenTools connects to the log and the database of the settings.
func OpenTools(ctx context.Context, c Config, log *slog.Logger) (*Tools, error) {
	j, err := journal.Open(ctx, c.journal())
	if err != nil {
		return nil, err
	}
	pool, err := postgres.Open(ctx, c.Postgres, projector.Live, 4)
	if err != nil {
		j.Close()
		return nil, err
	}
	locks, err := postgres.OpenLocks(ctx, c.Postgres, 4)
	if err != nil {
		j.Close()
		pool.Close()
		return nil, err
	}
	return &Tools{core: &core{config: c, log: log, journal: j, pool: pool, locks: locks, objects: c.objects()}, pool: pool}, nil
}

// Close ends the connections.
func (t *Tools) Close() { t.core.close() }

// Rebuild makes a read model anew from the log and returns how many facts it
// holds.
func (t *Tools) Rebuild(ctx context.Context, schema string) (facts int64, err error) {
	pool, err := postgres.Open(ctx, t.core.config.Postgres, schema, 8)
	if err != nil {
		return 0, err
	}
	defer pool.Close()
	p := projector.New(t.core.projectorConfig(pool, schema))
	err = p.Rebuild(ctx)
	return p.Report().Facts, err
}

// Diff compares a read model with the live one.
func (t *Tools) Diff(ctx context.Context, schema string) ([]projector.Difference, error) {
	return projector.Diff(ctx, t.pool, projector.Live, schema)
}

// Promote puts a read model in the place of the live one.
func (t *Tools) Promote(ctx context.Context, schema string) error {
	return projector.Promote(ctx, t.pool, schema)
}
