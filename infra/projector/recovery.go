package projector

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/infra/sqlstate"
)

// Recovery verifies database sessions before reads use them: a verified session
// shows everything that was committed before PostgreSQL last started. The package
// comment has the safety argument.
type Recovery struct {
	log     Log
	repair  func(context.Context, *pgx.Conn) error
	turn    chan struct{} // has a value while a session waits for the read model
	pending atomic.Bool   // the last session that asked was not verified
}

// NewRecovery returns a Recovery of the live read model. It calls repair once
// after PostgreSQL has crashed, when the read model has caught up and no session
// is verified yet, to mend what is not made from the log.
func NewRecovery(log Log, repair func(context.Context, *pgx.Conn) error) *Recovery {
	return &Recovery{log: log, repair: repair, turn: make(chan struct{}, 1)}
}

// ErrNotRecovered says that PostgreSQL may have lost commits and the projector has
// not applied them again yet.
var ErrNotRecovered = errors.New("the read model has not recovered from a restart of PostgreSQL")

// RecoveryTimeout is how long a session waits while another one is verified.
const RecoveryTimeout = 2 * time.Second

// answerTimeout bounds a query of Verify.
const answerTimeout = 5 * time.Second

// Pending reports whether PostgreSQL has started and, as far as this process
// knows, no session has been verified since. Sessions are verified when they are
// opened, so a caller has to open one.
func (r *Recovery) Pending() bool { return r.pending.Load() }

// Verify returns nil when the session may be used. The first session after a
// start of PostgreSQL waits until the read model has reached the end of the log,
// however long that takes; the other sessions of the process wait for it and
// return ErrNotRecovered after RecoveryTimeout.
//
// Verify must not be called for the sessions of the projector, which it waits for.
func (r *Recovery) Verify(ctx context.Context, conn *pgx.Conn) error {
	if err := r.verify(ctx, conn); err != nil {
		return err
	}
	return awaitLive(ctx, conn)
}

// awaitLive waits until the superseded read model that the session serves, if it is one, has
// what the live one has, which has recovered.
func awaitLive(ctx context.Context, conn *pgx.Conn) error {
	var superseded bool
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	if err := conn.QueryRow(ctx, `SELECT current_schema() LIKE '`+Live+`\_%'`).Scan(&superseded); err != nil || !superseded {
		return err
	}
	live, err := readPosition(ctx, conn, Live)
	if err != nil {
		return err
	}
	err = poll(ctx, func() (bool, error) {
		at, err := readPosition(ctx, conn, "")
		return err == nil && at.reaches(live), err
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotRecovered, err)
	}
	return nil
}

func (r *Recovery) verify(ctx context.Context, conn *pgx.Conn) error {
	if verified, _, err := r.read(ctx, conn); err != nil || verified {
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
	// One process at a time. PostgreSQL ends the session of one that is suspended.
	const lock = "(hashtext('recover " + Live + "'))"
	if _, err := conn.Exec(ctx, "SET idle_session_timeout = '15s'; SELECT pg_advisory_lock"+lock); err != nil {
		return fmt.Errorf("wait for another process: %w", err)
	}
	defer conn.Exec(ctx, "SELECT pg_advisory_unlock"+lock+"; RESET idle_session_timeout") //nolint:errcheck // the end of the session also releases the lock
	verified, crashed, err := r.read(ctx, conn)
	if err != nil || verified {
		return err
	}
	return r.recover(ctx, conn, crashed)
}

// recover waits until the read model has reached the end that the log has now. The
// session is already connected, so this end is after every record that was committed
// before PostgreSQL started. Then recover records this, so that all later sessions of
// this start count as verified.
func (r *Recovery) recover(ctx context.Context, conn *pgx.Conn, crashed bool) error {
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
	if crashed {
		if err := r.repair(ctx, conn); err != nil && !sqlstate.IsMissing(err) {
			return fmt.Errorf("repair after a crash: %w", err)
		}
	}
	_, err = conn.Exec(ctx, `INSERT INTO recovered (started) VALUES (pg_postmaster_start_time())
		ON CONFLICT (one) DO UPDATE SET started = excluded.started`)
	if conn.IsClosed() {
		return fmt.Errorf("record the recovery: %w", err)
	}
	r.pending.Store(false)
	return nil // when it could not be recorded, every session is verified by itself
}

// read reports whether a session of this start of PostgreSQL, of any process, has
// been verified, and whether PostgreSQL crashed before it started. A missing table,
// as in a database that was dropped and created again under the service, counts as a
// crash.
func (r *Recovery) read(ctx context.Context, conn *pgx.Conn) (verified, crashed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	err = conn.QueryRow(ctx, `SELECT started = pg_postmaster_start_time() FROM recovered`).Scan(&verified)
	if crashed = errors.Is(err, pgx.ErrNoRows) || sqlstate.IsMissing(err); crashed {
		err = nil
	}
	if err != nil {
		return false, false, fmt.Errorf("verify the session: %w", err)
	}
	r.pending.Store(!verified)
	return verified, crashed, nil
}
