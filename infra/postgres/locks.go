package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/fault"
)

// Locks excludes processes from doing the same thing at once. A lock is a
// session-level advisory lock of PostgreSQL: it is free as soon as its holder
// is gone, however it went. Each lock held takes a connection of the pool,
// which should be the locks' own.
type Locks struct{ Pool *pgxpool.Pool }

// OpenLocks returns locks that at most so many are held of at a time. A lock
// whose holder's machine is gone is free after 15 seconds. Nobody is connected
// to yet.
func OpenLocks(ctx context.Context, url string, most int32, options ...func(*pgxpool.Config)) (Locks, error) {
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		return Locks{}, fmt.Errorf("read the database's address: %w", err)
	}
	c.MaxConns, c.MaxConnIdleTime = most, time.Minute
	c.ConnConfig.ConnectTimeout = 5 * time.Second
	for name, value := range map[string]string{
		"application_name": "netsim-locks", "tcp_keepalives_idle": "5", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "2",
	} {
		c.ConnConfig.RuntimeParams[name] = value
	}
	for _, option := range options {
		option(c)
	}
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return Locks{}, fmt.Errorf("open the locks' database: %w", err)
	}
	return Locks{pool}, nil
}

// Close disconnects, once every lock is free.
func (l Locks) Close() {
	if l.Pool != nil {
		l.Pool.Close()
	}
}

// ErrHeld says that another holds the lock.
var ErrHeld = errors.New("another holds the lock")

// Try takes the lock, or returns ErrHeld.
func (l Locks) Try(ctx context.Context, name string) (release func(), err error) {
	return l.take(ctx, name, func(conn *pgxpool.Conn) error {
		var held bool
		err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock(hashtextextended($1, 0))", name).Scan(&held)
		if err == nil && !held {
			err = ErrHeld
		}
		return err
	})
}

// Wait takes the lock, or returns ErrHeld when it has not come free within the
// time.
func (l Locks) Wait(ctx context.Context, name string, longest time.Duration) (release func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, longest, ErrHeld)
	defer cancel()
	return l.take(ctx, name, func(conn *pgxpool.Conn) error {
		_, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtextextended($1, 0))", name)
		if errors.Is(context.Cause(ctx), ErrHeld) {
			err = ErrHeld
		}
		return err
	})
}

func (l Locks) take(ctx context.Context, name string, lock func(*pgxpool.Conn) error) (func(), error) {
	conn, err := l.Pool.Acquire(ctx)
	if err != nil {
		return nil, unavailable(fmt.Errorf("connect to lock %s: %w", name, err))
	}
	if err := lock(conn); err != nil {
		conn.Release()
		if errors.Is(err, ErrHeld) {
			return nil, err
		}
		return nil, unavailable(fmt.Errorf("lock %s: %w", name, err))
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockTimeout)
		defer cancel()
		if _, err := conn.Exec(ctx, "SELECT pg_advisory_unlock(hashtextextended($1, 0))", name); err != nil {
			_ = conn.Conn().Close(ctx) // the session's end frees the lock
		}
		conn.Release()
	}, nil
}

const unlockTimeout = 3 * time.Second

// unavailable is the fault of a database that cannot be asked. A query that
// the database refused is a defect and stays internal.
func unavailable(err error) error {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code[:2] != "57" && refused.Code[:2] != "53" {
		return err
	}
	return &fault.Fault{Code: fault.Unavailable, Message: "the service cannot be sure to be alone at this; try again", RetryAfter: time.Second, Cause: err}
}
