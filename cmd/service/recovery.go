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

// verifies makes a pool verify each new session: a verified session shows everything that
// was committed before PostgreSQL last started.
func (s *process) verifies(c *pgxpool.Config) {
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
func (s *process) isBehind() bool { return s.recovery.Pending() || s.watcher.Behind() }

// awaitRecovery waits until the read model has all that it has shown before. It returns
// an error for the client if that takes longer than projector.RecoveryTimeout.
func (s *process) awaitRecovery(ctx context.Context) error {
	if !s.isBehind() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, projector.RecoveryTimeout)
	defer cancel()
	if err := s.verified.Ping(ctx); err != nil {
		return fmt.Errorf("%w: %w", projections.ErrBehind, err)
	}
	for s.watcher.Behind() {
		if wait.For(ctx, 20*time.Millisecond) != nil {
			return projections.ErrRebuilding
		}
	}
	return nil
}
