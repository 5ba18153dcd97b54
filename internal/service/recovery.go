package service

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/billing"
	"netsim/infra/projector"
	"netsim/infra/wait"
	"netsim/projections"
)

// unverifiedSessions is the size of the pool for the projector, the watcher of
// verdicts and the checks of the read model.
const unverifiedSessions = 8

// verified makes a pool verify each new session: a verified session shows everything that
// was committed before PostgreSQL last started.
func (s *core) verified(c *pgxpool.Config) {
	c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if err := s.recovery.Verify(ctx, conn); err != nil {
			return fmt.Errorf("%w: %w", projections.ErrBehind, err)
		}
		return nil
	}
}

// repairCounters prevents the reuse of ids that were taken by commits which PostgreSQL
// has lost.
func repairCounters(ctx context.Context, conn *pgx.Conn) error {
	return billing.SkipCounters(ctx, conn)
}

// isBehind reports whether the read model may lack what it has shown before.
func (s *core) isBehind() bool { return s.recovery.Pending() || s.watcher.Behind() }

// awaitRecovery waits until the read model has all that it has shown before. It returns
// an error for the client if that takes longer than projector.RecoveryTimeout.
func (s *core) awaitRecovery(ctx context.Context) error {
	if !s.isBehind() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, projector.RecoveryTimeout)
	defer cancel()
	if err := s.pool.Ping(ctx); err != nil {
		return fmt.Errorf("%w: %w", projections.ErrBehind, err)
	}
	for s.watcher.Behind() {
		if wait.For(ctx, 20*time.Millisecond) != nil {
			return projections.ErrRebuilding
		}
	}
	return nil
}
