package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/fault"
	"netsim/infra/sqlstate"
)

// Locks are named locks for mutual exclusion between processes. A lock is a
// session-level advisory lock of PostgreSQL, which is released when its holder's
// connection ends. Each held lock takes a connection of Pool.
type Locks struct{ Pool *pgxpool.Pool }

// OpenLocks returns Locks that can hold at most maxHeld locks at a time. When a
// holder's machine is lost, its locks are released after 15 seconds. OpenLocks does
// not connect.
func OpenLocks(ctx context.Context, url string, maxHeld int32, options ...func(*pgxpool.Config)) (Locks, error) {
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		return Locks{}, fmt.Errorf("read the database's address: %w", err)
	}
	c.MaxConns, c.MaxConnIdleTime = maxHeld, time.Minute
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

// Close waits until all locks are released, and disconnects.
func (l Locks) Close() {
	if l.Pool != nil {
		l.Pool.Close()
	}
}

// ErrHeld means that another holder has the lock.
var ErrHeld = errors.New("another holder has the lock")

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

// Wait takes the lock, or returns ErrHeld when the lock is not released within the
// timeout. The server ends the waiting: a statement whose client has left still gets the
// lock, and holds it until the server notices.
func (l Locks) Wait(ctx context.Context, name string, timeout time.Duration) (release func(), err error) {
	until := time.Now().Add(timeout)
	ctx, cancel := context.WithTimeout(ctx, timeout+answerTimeout)
	defer cancel()
	return l.take(ctx, name, func(conn *pgxpool.Conn) error {
		var b pgx.Batch
		left := max(time.Until(until).Milliseconds(), 1)
		b.Queue("SELECT set_config('lock_timeout', $1, false)", strconv.FormatInt(left, 10))
		b.Queue("SELECT pg_advisory_lock(hashtextextended($1, 0))", name)
		err := conn.SendBatch(ctx, &b).Close()
		if refused, is := errors.AsType[*pgconn.PgError](err); is && refused.Code == lockNotAvailable {
			return ErrHeld
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
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTimeout)
		defer cancel()
		if _, err := conn.Exec(ctx, "SELECT pg_advisory_unlock(hashtextextended($1, 0))", name); err != nil {
			_ = conn.Conn().Close(ctx) // the end of the session releases the lock
		}
		conn.Release()
	}, nil
}

const lockNotAvailable = "55P03" // the SQLSTATE when lock_timeout has passed

// answerTimeout bounds how long the database may take to answer.
const answerTimeout = 3 * time.Second

// unavailable turns an error into fault.Unavailable if the database cannot be
// reached, is shutting down or lacks resources. Any other error from the database is
// a defect and stays internal.
func unavailable(err error) error {
	if _, refused := errors.AsType[*pgconn.PgError](err); refused && !sqlstate.IsUnavailable(err) {
		return err
	}
	return &fault.Fault{Code: fault.Unavailable, Message: "the service cannot take a lock; repeat the request", RetryAfter: time.Second, Cause: err}
}
