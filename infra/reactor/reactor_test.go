package reactor_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/facts"
	"netsim/infra/reactor"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// newReactor returns a reactor on the world's log that retries only briefly.
func newReactor(t *testing.T, w *testworld.World, change func(*reactor.Config)) (*reactor.Reactor, *outcomes) {
	t.Helper()
	seen := &outcomes{}
	c := reactor.Config{
		Brokers: w.Log.Brokers, Prefix: w.Log.Prefix, EventLog: w.EventLog, Facts: facts.NewReader(w.EventLog, w.Watcher),
		Leases: testworld.AllShards(w.Log.Partitions), Judge: w.Watcher, Log: w.Logger, Observe: seen.add,
		Retries: 2, FirstPause: time.Millisecond,
	}
	if change != nil {
		change(&c)
	}
	r, err := reactor.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return r, seen
}

// workspace makes a workspace of its own partition key and returns its id.
func workspace(t *testing.T, w *testworld.World, name string) string {
	t.Helper()
	id := events.NewID(events.WorkspacePrefix)
	testworld.Do(t, w, id, commands.CreateWorkspace{AccountID: testworld.Account, Owner: "tester", Name: name})
	return id
}

// appendRecord puts a record into the log, fact or not, and returns once it
// has been judged.
func appendRecord(t *testing.T, w *testworld.World, m events.Message, want events.Verdict) {
	t.Helper()
	wait, err := w.WriteLog.Append(t.Context(), events.Workspaces, events.DefaultWorkspace, m)
	if err != nil {
		t.Fatal(err)
	}
	at, err := wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.Watcher.Verdict(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Fatalf("the record is %s, want %s", got, want)
	}
}

func frame(stream, eventType string, sequence int64) events.Frame {
	return events.Frame{
		ID: events.DerivedUUID(stream, eventType).String(), Type: eventType, Stream: stream,
		PartitionKey: events.DefaultWorkspace, Sequence: sequence, Time: time.Now(), Actor: "tester", DataVersion: 1,
	}
}

// outcomes counts what a reactor reports, by handler and outcome.
type outcomes struct {
	mu     sync.Mutex
	counts map[[2]string]int
}

func (o *outcomes) add(seen reactor.Observation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.counts == nil {
		o.counts = map[[2]string]int{}
	}
	o.counts[[2]string{seen.Handler, seen.Outcome}]++
}

func (o *outcomes) of(handler, outcome string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.counts[[2]string{handler, outcome}]
}

func TestFactsOnly(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	first := workspace(t, w, "first")
	value := []byte(`{"name":"never"}`)
	stale, _ := frame(first, events.WorkspaceUpdated{}.EventType(), 1).Message(value)
	ahead := frame(first, events.WorkspaceUpdated{}.EventType(), 9)
	ahead.PreviousHash = events.Hash{1}
	gap, _ := ahead.Message(value)
	appendRecord(t, w, stale, events.Stale)
	appendRecord(t, w, gap, events.Gap)
	appendRecord(t, w, events.Message{Key: []byte("what"), Value: []byte("is this")}, events.BadFrame)
	second := workspace(t, w, "second")

	r, counted := newReactor(t, w, nil)
	seen := make(chan events.Fact, 8)
	r.Handle("recorder", func(_ context.Context, f events.Fact) error {
		seen <- f
		return nil
	}, events.Workspaces)
	testworld.Running(t, r.Run)

	one, two := testwait.Receive(t, seen, "a reaction"), testwait.Receive(t, seen, "a reaction")
	if one.Stream != first { // facts of two streams come in any order
		one, two = two, one
	}
	if one.Stream != first || two.Stream != second {
		t.Errorf("reacted to %s and %s, want %s and %s", one.Stream, two.Stream, first, second)
	}
	if d, ok := one.Data.(events.WorkspaceCreated); !ok || d.Name != "first" || one.Sequence != 1 || one.RecordedAt.IsZero() {
		t.Errorf("the fact came as %+v", one)
	}
	testworld.Await(t, func() bool { return counted.of("recorder", "done") == 2 })
	if n := counted.of("recorder", "not_a_fact"); n != 3 {
		t.Errorf("%d records were dropped, want 3", n)
	}
}

// outage is a judge whose read model does not answer for a while.
type outage struct {
	reactor.Judge
	answers chan error // the next answers; then the judge's own
}

func (o outage) Verdict(ctx context.Context, at events.Position) (events.Verdict, error) {
	select {
	case err := <-o.answers:
		if err != nil {
			return "", err
		}
	default:
	}
	return o.Judge.Verdict(ctx, at)
}

// TestOutage: while the read model is away, no fact becomes a dead letter.
func TestOutage(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	id := workspace(t, w, "one")
	away := errors.New("connection refused")
	answers := make(chan error, 8)
	answers <- away // probed after each last try
	answers <- away
	r, counted := newReactor(t, w, func(c *reactor.Config) { c.Judge = outage{c.Judge, answers} })
	calls, done := 0, make(chan string, 1)
	r.Handle("patient", func(_ context.Context, f events.Fact) error {
		if calls++; calls <= 6 {
			return away
		}
		done <- f.Stream
		return nil
	}, events.Workspaces)
	testworld.Running(t, r.Run)

	if got := testwait.Receive(t, done, "it to be done"); got != id {
		t.Errorf("reacted to %s", got)
	}
	if n := counted.of("patient", "dead_letter"); n != 0 {
		t.Errorf("%d facts are dead letters after an outage", n)
	}
}

// TestGoesOn: a reactor that is started again goes on where the last one was,
// and handlers do not wait for each other.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	first := workspace(t, w, "first")
	run := func(seen chan<- string) (stop func()) {
		r, _ := newReactor(t, w, nil)
		r.Handle("recorder", func(_ context.Context, f events.Fact) error {
			seen <- f.Stream
			return nil
		}, events.Workspaces)
		r.Handle("stuck", func(ctx context.Context, _ events.Fact) error {
			<-ctx.Done()
			return ctx.Err()
		}, events.Workspaces)
		ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
		done := make(chan error, 1)
		go func() { done <- r.Run(ctx) }()
		return func() {
			cancel()
			if err := testwait.Receive(t, done, "it to be done"); err != nil {
				t.Errorf("ended with %v", err)
			}
		}
	}
	seen := make(chan string, 8)
	stop := run(seen)
	if got := testwait.Receive(t, seen, "a reaction"); got != first {
		t.Errorf("reacted to %s, want %s", got, first)
	}
	stop()

	second := workspace(t, w, "second")
	stop = run(seen)
	defer stop()
	for got := range seen {
		if got == second {
			return
		}
		if got != first {
			t.Fatalf("reacted to %s, want %s, or %s once more", got, second, first)
		}
	}
}
