package service

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/infra/replicas"
	"netsim/projections"
)

// openReads connects the reads of the API with the process's own database and with its
// standbys, and returns what serves tokens.
func (s *core) openReads(ctx context.Context, keys [][]byte) (*replicas.Serve, error) {
	id, err := replicas.ReadLogID(ctx, s.pool)
	if err != nil {
		return nil, err
	}
	tokens, err := replicas.NewTokens(id, keys, time.Now)
	if err != nil {
		return nil, err
	}
	s.reads = replicas.NewReads(replicas.Config{
		Own: s.pool, Watcher: s.watcher, Form: s.projector.Fingerprint(), Log: id,
		Standbys: strings.Fields(s.config.Standbys), Sessions: s.config.PostgresPoolSize,
		Options: []func(*pgxpool.Config){s.observed},
		MaxLag:  s.config.StandbyMaxLag, Linger: s.config.StandbyWait, Timeout: s.config.TokenTimeout,
		Attach:  func(pool *pgxpool.Pool) any { return projections.NewLookups(pool) },
		Observe: observeReads(s.metrics), Logger: s.log, Now: time.Now,
	})
	observeStandbys(s.metrics, s.reads)
	return &replicas.Serve{Reads: s.reads, Tokens: tokens}, nil
}

// lookups returns the look-ups of single rows, in the database that was chosen for the
// request.
func (s *core) lookups() *projections.Lookups {
	return projections.NewLookups(s.pool).Routed(func(ctx context.Context) *projections.Lookups {
		standby, _ := replicas.Attached(ctx).(*projections.Lookups)
		return standby
	})
}
