package projector

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// Recovery verifies database sessions before reads use them: a verified session
// shows everything that was committed before PostgreSQL last started. The package
// comment has the safety argument.
type Recovery struct {
	log     Log
	turn    chan struct{} // has a value while a session waits for the read model
	pending atomic.Bool   // the last session that was verified waits, or failed
}

// NewRecovery returns a Recovery of the live read model.
func NewRecovery(log Log) *Recovery { return &Recovery{log: log, turn: make(chan struct{}, 1)} }

// ErrNotRecovered says that PostgreSQL may have lost commits and the projector has
// not applied them again yet.
var ErrNotRecovered = errors.New("the read model has not recovered from a restart of PostgreSQL")

// RecoveryTimeout is how long a session waits while another one is verified.
const RecoveryTimeout = 2 * time.Second

// answerTimeout bounds a query of Verify.
const answerTimeout = 5 * time.Second

// Pending reports whether PostgreSQL has started and no session has been verified
// since, as far as this process knows. Sessions are verified when they are
// opened, so somebody has to try.
func (r *Recovery) Pending() bool { return r.pending.Load() }

// Verify returns nil when the session may be used. The first session after a
// start of PostgreSQL waits until the read model has reached the end of the log,
// however long that takes; the other sessions wait for it and return
// ErrNotRecovered after RecoveryTimeout.
//
// Verify must not be called for the sessions of the projector, which it waits for.
func (r *Recovery) Verify(ctx context.Context, conn *pgx.Conn) error {
	if recovered, err := r.hasRecovered(ctx, conn); err != nil || recovered {
		return err
	}
	timeout := time.NewTimer(RecoveryTimeout)
	defer timeout.Stop()
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-timeout.C:
		return ErrNotRecovered
	case <-ctx.Done():
		return ctx.Err()
	}
	if recovered, err := r.hasRecovered(ctx, conn); err != nil || recovered {
		return err
	}
	return r.await(ctx, conn)
}

// await waits until the read model has reached the end that the log has now, and
// has the other sessions know. The log is asked on behalf of a session that is
// already connected, so its end is after every record that was committed before
// PostgreSQL started.
func (r *Recovery) await(ctx context.Context, conn *pgx.Conn) error {
	log, err := r.log.Describe(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotRecovered, err)
	}
	end := endOf(log)
	err = poll(ctx, func() (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, answerTimeout)
		defer cancel()
		at, err := readPosition(ctx, conn, Live)
		return err == nil && at.reaches(end), err
	})
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `INSERT INTO recovered (started) VALUES (pg_postmaster_start_time())
		ON CONFLICT (one) DO UPDATE SET started = excluded.started`)
	if conn.IsClosed() {
		return fmt.Errorf("record the recovery: %w", err)
	}
	r.pending.Store(false)
	return nil // otherwise it cannot be recorded, and every session waits for itself
}

// hasRecovered reports whether a session of this start of PostgreSQL, of any
// process, has been verified. Nothing is recorded in a database that was dropped
// and created again under the service.
func (r *Recovery) hasRecovered(ctx context.Context, conn *pgx.Conn) (recovered bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM recovered WHERE started = pg_postmaster_start_time())`).Scan(&recovered)
	if missing(err) {
		err = nil
	}
	if err != nil {
		return false, fmt.Errorf("verify the session: %w", err)
	}
	r.pending.Store(!recovered)
	return recovered, nil
}
