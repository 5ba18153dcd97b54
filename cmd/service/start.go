package service

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"netsim/fault"
	"netsim/infra/eventlog"
	"netsim/infra/projector"
	"netsim/infra/sqlstate"
	"netsim/infra/wait"
)

// The pauses between the attempts of a step.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 2 * time.Second
)

// attempt runs the steps of the start one after the other. A step that fails because a
// server does not answer yet is repeated, for StartTimeout at most: a process that ended
// instead would need a supervisor, which restarts it more and more slowly. Meanwhile the
// check serving reports the reason. Every step can be repeated, because a process can be
// killed after any of them.
func (l *launch) attempt(ctx context.Context, steps ...func(context.Context) error) error {
	for _, step := range steps {
		if err := l.outlast(ctx, step); err != nil {
			return err
		}
	}
	return nil
}

// outlast runs a step until it succeeds, fails for good, or was repeated for StartTimeout.
func (l *launch) outlast(ctx context.Context, step func(context.Context) error) error {
	timeout := l.config.StartTimeout
	err := step(ctx)
	if timeout == 0 || !transient(err) || ctx.Err() != nil {
		return err
	}
	began := time.Now()
	l.log.WarnContext(ctx, "a server does not answer; the start waits for it", "timeout", timeout, "error", err)
	defer l.outage.Store(nil)
	for pauses := wait.Doubling(firstPause, lastPause); transient(err); {
		if time.Since(began) >= timeout {
			return fmt.Errorf("a server did not answer for %v, which is NETSIM_START_TIMEOUT: %w", timeout, err)
		}
		reason := err
		l.outage.Store(&reason)
		if err := wait.For(ctx, pauses.NextBackOff()); err != nil {
			return err
		}
		err = step(ctx)
	}
	if err == nil {
		l.log.InfoContext(ctx, "the server answers; the start goes on", "waited", time.Since(began))
	}
	return err
}

// open is attempt for one step with a result.
func open[T any](ctx context.Context, s *launch, step func(context.Context) (T, error)) (opened T, err error) {
	err = s.attempt(ctx, func(ctx context.Context) (err error) {
		opened, err = step(ctx)
		return err
	})
	return opened, err
}

// transient reports whether what failed with err may succeed later with the same settings:
// a server is down, starts, ends, is full, or elects leaders. An error that is not known to
// be of this kind is not.
func transient(err error) bool {
	if _, answered := errors.AsType[*pgconn.PgError](err); answered {
		return sqlstate.IsUnavailable(err)
	}
	if unavailable, known := eventlog.IsUnavailable(err); known {
		return unavailable
	}
	for _, known := range []error{
		projector.ErrNotRecovered, context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	if answer, ok := errors.AsType[interface {
		error
		HTTPStatusCode() int
	}](err); ok && answer.HTTPStatusCode() >= 500 {
		return true
	}
	if lost, ok := errors.AsType[*net.OpError](err); ok { // so is an alert of TLS
		return lost.Op == "dial" || lost.Op == "read" || lost.Op == "write"
	}
	if err != nil && strings.Contains(err.Error(), closedByServer) {
		return true
	}
	// A closed session counts only after it was open: pgconn also calls a refused certificate
	// safe to retry.
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	ended := pgconn.SafeToRetry(err) && !connecting || errors.Is(err, driver.ErrBadConn)
	return ended || fault.Is(err, fault.Unavailable)
}

// closedByServer is the text of net/http's error, which it does not export, for a connection
// that was closed before the request was sent.
const closedByServer = "http: server closed idle connection"
