package service

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/infra/eventlog"
	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/infra/reactor"
	"netsim/infra/telemetry"
)

// Tools implements the operator's commands.
type Tools struct {
	core *core
	pool *pgxpool.Pool
}

// OpenTools connects to the event log and the database of the settings.
func OpenTools(ctx context.Context, c Config, log *slog.Logger) (*Tools, error) {
	c.StartTimeout = 0 // tools end with the first error
	keys, err := c.writerKeys()
	if err != nil {
		return nil, err
	}
	to, err := c.connector(log)
	if err != nil {
		return nil, err
	}
	j, err := eventlog.Open(ctx, c.eventLogConfig(to))
	if err != nil {
		return nil, err
	}
	process, build := processName(), telemetry.ReadBuild()
	named := postgres.Named(member(process, build))
	pool, err := postgres.Open(ctx, c.Postgres, projector.Live, 4, named, ownModel())
	if err != nil {
		j.Close()
		return nil, err
	}
	locks, err := postgres.OpenLocks(ctx, c.Postgres, 4, named)
	if err != nil {
		j.Close()
		pool.Close()
		return nil, err
	}
	t := &Tools{pool: pool, core: &core{
		config: c, process: process, build: build, log: log, keys: keys, broker: to, eventLog: j, letters: reactor.NewDeadLetters(j, c.TopicPrefix), pool: pool, unverified: pool, locks: locks, objects: c.objects(nil, nil),
	}}
	if err := t.core.readLevel(ctx); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// Close closes the connections.
func (t *Tools) Close() { t.core.close() }
