package service

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/infra/replicas"
	"netsim/infra/telemetry"
	"netsim/projections"
)

// openReads connects the reads of the API with the process's own database and with its
// standbys, and returns what serves tokens.
func (s *process) openReads(ctx context.Context, keys [][]byte) (*replicas.Serve, error) {
	id, err := replicas.ReadLogID(ctx, s.verified)
	if err != nil {
		return nil, err
	}
	losses, err := s.losses(ctx)
	if err != nil {
		return nil, err
	}
	tokens, err := replicas.NewTokens(id.Without(losses), keys, time.Now)
	if err != nil {
		return nil, err
	}
	reads := replicas.NewReads(replicas.Config{
		Own: s.verified, Watcher: s.watcher, Form: s.projector.Fingerprint(), Log: id,
		Standbys: strings.Fields(s.config.Standbys), Sessions: s.config.PostgresPoolSize,
		Options: []func(*pgxpool.Config){s.Option},
		MaxLag:  s.config.StandbyMaxLag, Linger: s.config.StandbyWait, Timeout: s.config.TokenTimeout,
		Attach:  func(pool *pgxpool.Pool) any { return projections.NewLookups(pool) },
		Observe: observeReads(s.metrics), Logger: s.log, Now: time.Now,
	})
	observeStandbys(s.metrics, reads)
	return &replicas.Serve{Reads: reads, Tokens: tokens}, nil
}

// lookups returns the look-ups of single rows, in the database that was chosen for the
// request.
func (s *process) lookups() *projections.Lookups {
	return projections.NewLookups(s.verified).Routed(func(ctx context.Context) *projections.Lookups {
		standby, _ := replicas.Attached(ctx).(*projections.Lookups)
		return standby
	})
}

// observeReads returns the counters of reads with a token.
func observeReads(m *telemetry.Metrics) replicas.Observer {
	reads, retries := m.Counter("netsim_token_reads_total"), m.Counter("netsim_standby_retries_total")
	return replicas.Observer{
		Read:  func(source string) { reads(1, source) },
		Retry: func(reason string) { retries(1, reason) },
	}
}

// observeStandbys samples the state of each standby.
func observeStandbys(m *telemetry.Metrics, reads *replicas.Reads) {
	const (
		used = "netsim_standby_used"
		age  = "netsim_standby_age_seconds"
	)
	m.Sample(func(emit telemetry.Emit) {
		for _, r := range reads.Report() {
			value := 0.0
			if r.Used {
				value = 1
			}
			emit(used, value, r.Standby)
			emit(age, r.Age.Seconds(), r.Standby)
		}
	}, used, age)
}
