package projector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/infra/wait"
)

// sessionLock is the right to project into a schema: an advisory lock, which
// PostgreSQL releases when the session ends. It saves work; what is written is
// safe without it.
type sessionLock struct {
	conn *pgxpool.Conn
	name string
}

// errYield ends a session because a process waits for the lock.
var errYield = errors.New("another process waits for the lock")

// errLocked says that another process projects into the schema.
var errLocked = errors.New("another process projects into it")

func (p *Projector) lockName() string { return "project " + p.name() }

// tryLock takes the lock, or returns errLocked.
func (p *Projector) tryLock(ctx context.Context) (*sessionLock, error) {
	return p.acquireLock(ctx, func(conn *pgxpool.Conn, name string) error {
		var held bool
		err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock(hashtext($1))", name).Scan(&held)
		if err == nil && !held {
			err = errLocked
		}
		return err
	})
}

// pollLock takes the lock when it is free. Its holder does not yield to it.
func (p *Projector) pollLock(ctx context.Context) (*sessionLock, error) {
	for {
		t, err := p.tryLock(ctx)
		if !errors.Is(err, errLocked) {
			return t, err
		}
		if err := wait.For(ctx, 200*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// lockTimeout bounds how long a holder takes to release the lock.
const lockTimeout = time.Minute

// waitLock queues for the lock. A holder with Config.Yield releases it.
func (p *Projector) waitLock(ctx context.Context) (*sessionLock, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, lockTimeout, errLocked)
	defer cancel()
	return p.acquireLock(ctx, func(conn *pgxpool.Conn, name string) error {
		_, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtext($1))", name)
		if errors.Is(context.Cause(ctx), errLocked) {
			return errLocked
		}
		return err
	})
}

func (p *Projector) acquireLock(ctx context.Context, lock func(conn *pgxpool.Conn, name string) error) (*sessionLock, error) {
	conn, err := p.Pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	l := &sessionLock{conn, p.lockName()}
	if err := lock(conn, l.name); err != nil {
		conn.Release()
		return nil, fmt.Errorf("lock %s for projecting: %w", p.name(), err)
	}
	return l, nil
}

func (l *sessionLock) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	if _, err := l.conn.Exec(ctx, "SELECT pg_advisory_unlock(hashtext($1))", l.name); err != nil {
		_ = l.conn.Conn().Close(ctx) // which releases the lock
	}
	l.conn.Release()
}

// lockAwaited reports whether a process waits for the lock.
func (p *Projector) lockAwaited(ctx context.Context) (waits bool) {
	err := p.Pool.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND objid = (hashtext($1)::bigint & 4294967295)::oid)`, p.lockName()).Scan(&waits)
	return err == nil && waits
}
