package projector_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/projector"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// described counts how often the log is described.
type described struct {
	projector.Log
	times atomic.Int64
}

func (d *described) Describe(ctx context.Context) (eventlog.Description, error) {
	d.times.Add(1)
	return d.Log.Describe(ctx)
}

// appendUnframed appends a record whose frame cannot be read.
func (s stack) appendUnframed(t *testing.T) events.Position {
	t.Helper()
	offset, err := s.EventLog.Append(s.EventLog.Topic(events.Workspaces), 0, events.Message{Key: []byte("key"), Value: []byte("value")}).Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return events.Position{Family: events.Workspaces, Partition: 0, Offset: offset}
}

// A session is used once the read model has all that the log had when the session
// was opened. The sessions after it have nothing to wait for.
func TestASessionWaitsForTheLog(t *testing.T) {
	t.Parallel()
	s := stack{testworld.NewServers(t).Connect(t)}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Projector(s.DB, projector.Live).Run(ctx) }()
	s.Listen(t)
	if _, err := s.createWorkspace(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	end()
	if err := testwait.Receive(t, ended, "the projector to end"); err != nil {
		t.Fatal(err)
	}
	s.appendUnframed(t)

	log, repairs := &described{Log: s.EventLog}, 0
	recovery := projector.NewRecovery(log, func(context.Context, *pgx.Conn) error { repairs++; return nil })
	verify := func() error {
		conn, err := s.DB.Acquire(t.Context())
		if err != nil {
			return err
		}
		defer conn.Release()
		return recovery.Verify(t.Context(), conn.Conn())
	}
	first := make(chan error, 1)
	go func() { first <- verify() }()
	testworld.Await(t, func() bool { return log.times.Load() == 1 })
	if err := verify(); !errors.Is(err, projector.ErrNotRecovered) || !recovery.Pending() {
		t.Errorf("another session: %v, pending %v", err, recovery.Pending())
	}
	select {
	case err := <-first:
		t.Errorf("a session is verified before the read model has caught up: %v", err)
	default:
	}
	testworld.Running(t, s.Projector(s.DB, projector.Live).Run)
	if err := testwait.Receive(t, first, "the first session"); err != nil {
		t.Error(err)
	}
	for range 3 {
		if err := verify(); err != nil {
			t.Error(err)
		}
	}
	if log.times.Load() != 1 || repairs != 1 || recovery.Pending() {
		t.Errorf("%d descriptions of the log, %d repairs, pending %v; want one, one, false", log.times.Load(), repairs, recovery.Pending())
	}
}

// A record that was judged and then lost with the read model has no verdict until
// it is judged again.
func TestALostVerdictIsNotGuessed(t *testing.T) {
	t.Parallel()
	s := stack{testworld.NewServers(t).Connect(t)}
	var ends []func()
	run := func(f func(context.Context) error) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- f(ctx) }()
		ends = append(ends, func() {
			cancel()
			if err := testwait.Receive(t, ended, "it to end"); err != nil {
				t.Error(err)
			}
		})
	}
	watcher := projector.NewWatcher(s.DB, s.Logger)
	run(s.Projector(s.DB, projector.Live).Run)
	run(watcher.Run)
	at := s.appendUnframed(t)
	if verdict, err := watcher.Verdict(t.Context(), at); verdict != events.BadFrame || err != nil {
		t.Fatalf("the verdict is %s: %v", verdict, err)
	}
	for _, end := range ends {
		end()
	}
	if _, err := s.DB.Exec(t.Context(), `DROP SCHEMA readmodel CASCADE`); err != nil {
		t.Fatal(err)
	}
	if err := s.Projector(s.DB, projector.Live).Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	verdict := make(chan events.Verdict, 1)
	go func() {
		got, err := watcher.Verdict(t.Context(), at)
		if err != nil {
			t.Error(err)
		}
		verdict <- got
	}()
	testworld.Await(t, func() bool { return watcher.Waiting() == 1 || len(verdict) > 0 })
	testworld.Running(t, s.Projector(s.DB, projector.Live).Run)
	testworld.Running(t, watcher.Run)
	if got := testwait.Receive(t, verdict, "the verdict"); got != events.BadFrame {
		t.Errorf("the verdict is %s after the read model was lost", got)
	}
}
