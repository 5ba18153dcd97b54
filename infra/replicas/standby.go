package replicas

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/infra/wait"
)

const (
	pollEvery   = 200 * time.Millisecond // interval between two polls of a standby
	pollSoon    = 2 * time.Millisecond   // the same while a read waits for it
	pollTimeout = 2 * time.Second        // after which a standby that does not answer is left out
	retryEvery  = time.Second            // interval between two attempts to connect
)

// standby is one standby and what was polled from it.
type standby struct {
	name string // its number in the settings, from 0
	url  string
	*shared

	waiting atomic.Int32  // reads that wait for a position
	poke    chan struct{} // has a value when a read begins to wait, or found the standby failing

	mu      sync.Mutex
	run     *run          // nil while it is left out
	changed chan struct{} // closed at the next poll
}

// shared is what all standbys of a process have in common.
type shared struct {
	form     string // fingerprint that a read model must have
	log      LogID
	sessions int32 // of a pool
	options  []func(*pgxpool.Config)
	attach   func(pool *pgxpool.Pool) any
	maxLag   time.Duration
	history  *history
	logger   *slog.Logger
	now      func() time.Time
}

// run is a run of a standby's server with one read model: within it, the position does
// not go back.
type run struct {
	of       *standby
	pool     *pgxpool.Pool
	attached any
	shown    positions // for replies
	model    model
	position projector.Position // guarded by standby.mu
}

// The reasons why a standby is left out.
var (
	errNotStandby = errors.New("it is not a standby, or no longer one")
	errOtherForm  = errors.New("its read model is of another release")
	errOtherLog   = errors.New("its read model is of another event log")
	errRestarted  = errors.New("its server was restarted")
	errSwitched   = errors.New("another read model was promoted")
	errWentBack   = errors.New("its position went back")
)

// follow polls the standby until ctx ends, and connects to it again after an error.
func (s *standby) follow(ctx context.Context) {
	for logged := false; ctx.Err() == nil; {
		err := s.session(ctx, func() {
			if logged {
				s.logger.InfoContext(ctx, "a standby is used again", "standby", s.name)
				logged = false
			}
		})
		if ctx.Err() == nil && !logged {
			s.logger.WarnContext(ctx, "a standby is left out", "standby", s.name, "because", err)
			logged = true
		}
		if wait.For(ctx, retryEvery) != nil {
			return
		}
	}
}

// session opens a run and polls it until it fails.
func (s *standby) session(ctx context.Context, opened func()) error {
	r, conn, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it is not used again
	defer func() {
		s.set(nil)
		go r.pool.Close() // waits for the reads that use it
	}()
	s.set(r)
	opened()
	for {
		if err := s.pause(ctx); err != nil {
			return err
		}
		if err := s.poll(ctx, r, conn); err != nil {
			return err
		}
	}
}

// open connects to the standby and checks that it may be read.
func (s *standby) open(ctx context.Context) (*run, *pgx.Conn, error) {
	connecting, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	r := &run{of: s}
	sameRun := func(c *pgxpool.Config) {
		c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error { return r.recognize(ctx, conn) }
	}
	pool, err := postgres.New(ctx, s.url, projector.Live, s.sessions, append(s.options, sameRun)...)
	if err != nil {
		return nil, nil, err
	}
	conn, err := pgx.ConnectConfig(connecting, pool.Config().ConnConfig)
	if err != nil {
		pool.Close()
		return nil, nil, fmt.Errorf("connect: %w", err)
	}
	m, err := readModel(connecting, conn)
	switch {
	case err != nil:
	case !m.standby:
		err = errNotStandby
	case m.form != s.form:
		err = errOtherForm
	case m.log != s.log:
		err = errOtherLog
	}
	if err != nil {
		pool.Close()
		conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it is not used again
		return nil, nil, err
	}
	r.shown.of(pool, projector.ReadPosition)
	r.pool, r.model, r.position, r.attached = pool, m, m.position, s.attach(pool)
	return r, conn, nil
}

// recognize refuses a session of another run of the server, whose position may be earlier.
func (r *run) recognize(ctx context.Context, conn *pgx.Conn) error {
	var started time.Time
	err := conn.QueryRow(ctx, `SELECT pg_postmaster_start_time()`).Scan(&started)
	if err == nil && !started.Equal(r.model.started) {
		err = errRestarted
	}
	return err
}

// pause waits for the next poll.
func (s *standby) pause(ctx context.Context) error {
	every := pollEvery
	if s.waiting.Load() > 0 {
		every = pollSoon
	}
	tick := time.NewTimer(every)
	defer tick.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.poke:
	case <-tick.C:
	}
	return nil
}

// poll reads the position of the standby. An error ends the run.
func (s *standby) poll(ctx context.Context, r *run, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	m, err := readModel(ctx, conn)
	switch {
	case err != nil:
		return err
	case !m.standby:
		return errNotStandby
	case !m.started.Equal(r.model.started):
		return errRestarted
	case m.table != r.model.table || m.form != r.model.form || m.log != r.model.log:
		return errSwitched
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !m.position.Reaches(r.position) {
		return errWentBack
	}
	r.position = m.position
	s.announce()
	return nil
}

func (s *standby) set(r *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run = r
	s.announce()
}

// announce wakes the reads that wait for the standby. The caller holds the lock.
func (s *standby) announce() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// state returns the run, nil while the standby is left out, whether it has reached the
// position, how old its rows are at most, and a channel that is closed when this changes.
func (s *standby) state(want projector.Position) (r *run, reached bool, age time.Duration, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == nil {
		return nil, false, never, s.changed
	}
	return s.run, s.run.position.Reaches(want), s.history.age(s.now(), s.run.position), s.changed
}

// usable returns the run if it may answer a read that wants the position. fresh reports
// whether only the position is missing.
func (s *standby) usable(want projector.Position) (r *run, fresh bool, changed <-chan struct{}) {
	r, reached, age, changed := s.state(want)
	if r == nil || age > s.maxLag {
		return nil, false, changed
	}
	if !reached {
		return nil, true, changed
	}
	return r, true, changed
}

// await waits until the standby has reached the position. It returns nil if ctx ends
// first, or if the standby may not be used any more.
func (s *standby) await(ctx context.Context, want projector.Position) *run {
	s.waiting.Add(1)
	defer s.waiting.Add(-1)
	s.hurry()
	for {
		r, fresh, changed := s.usable(want)
		if r != nil || !fresh {
			return r
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// hurry makes the next poll begin at once.
func (s *standby) hurry() {
	select {
	case s.poke <- struct{}{}:
	default:
	}
}
