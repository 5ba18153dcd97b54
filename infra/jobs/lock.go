package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

var (
	errBusy = errors.New("another worker has the job")
	// errLockLost ends work whose lock another worker may have taken.
	errLockLost = errors.New("the session that holds the job's lock is gone")
)

// lockName is the SQL expression for the key of a job's lock, from the job's kind
// and arguments.
const lockName = `hashtextextended(%s || '/' || (%s)::jsonb::text, 0)`

// withLock calls work while it holds the job's lock, or returns errBusy. If the
// session breaks, the context of work ends with errLockLost.
func (j *Jobs) withLock(ctx context.Context, kind string, args []byte, work func(ctx context.Context) error) error {
	conn, err := j.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect to lock the job: %w", err)
	}
	defer conn.Release()
	name := fmt.Sprintf(lockName, "$1", "$2")
	var held bool
	if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock("+name+")", kind, string(args)).Scan(&held); err != nil {
		return fmt.Errorf("lock the job: %w", err)
	}
	if !held {
		return errBusy
	}
	working, cancel := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(watched)
		watch(conn, cancel, done)
	}()
	err = func() error {
		defer func() { // even after a panic, so that the connection is released
			close(done)
			<-watched
		}()
		return work(working)
	}()
	lost := errors.Is(context.Cause(working), errLockLost)
	cancel(nil)
	if lost {
		return errLockLost
	}
	releasing, stop := context.WithTimeout(context.WithoutCancel(ctx), pingTimeout)
	defer stop()
	if _, e := conn.Exec(releasing, "SELECT pg_advisory_unlock("+name+")", kind, string(args)); e != nil {
		conn.Conn().Close(releasing) //nolint:errcheck // the end of the session releases the lock
	}
	return err
}

const (
	pingEvery   = time.Second
	pingTimeout = 3 * time.Second
)

// watch pings the session every pingEvery until done is closed, and ends the work if
// there is no answer.
func watch(conn *pgxpool.Conn, end context.CancelCauseFunc, done <-chan struct{}) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		ctx, cancel := context.WithTimeout(context.Background(), pingTimeout)
		err := conn.Ping(ctx)
		cancel()
		if err != nil {
			end(errLockLost)
			return
		}
	}
}
