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
	// errLockLost ends work whose lock may have passed to another worker.
	errLockLost = errors.New("the session that holds the job's lock is gone")
)

// lockName is the SQL of a job's lock, from its kind and arguments.
const lockName = `hashtextextended(%s || '/' || (%s)::jsonb::text, 0)`

// alone calls work while it holds the job's lock, or returns errBusy. If the session
// breaks, the context of work ends with errLockLost.
func (j *Jobs) alone(ctx context.Context, kind string, args []byte, work func(ctx context.Context) error) error {
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
		defer func() { // also after a panic, so that the connection is released
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
	freeing, stop := context.WithTimeout(context.WithoutCancel(ctx), beatTimeout)
	defer stop()
	if _, e := conn.Exec(freeing, "SELECT pg_advisory_unlock("+name+")", kind, string(args)); e != nil {
		conn.Conn().Close(freeing) //nolint:errcheck // the session's end frees the lock
	}
	return err
}

const (
	beatEvery   = time.Second
	beatTimeout = 3 * time.Second
)

// watch pings the session every beatEvery until done is closed, and ends the work if
// there is no answer.
func watch(conn *pgxpool.Conn, end context.CancelCauseFunc, done <-chan struct{}) {
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	for {
		select {
		case <-done:
			return
		case <-beat.C:
		}
		ctx, cancel := context.WithTimeout(context.Background(), beatTimeout)
		err := conn.Ping(ctx)
		cancel()
		if err != nil {
			end(errLockLost)
			return
		}
	}
}
