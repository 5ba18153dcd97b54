package reactor_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/segmentio/kafka-go"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/reactor"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// firstDead waits for the first record in the dead-letter topic, in any
// partition.
func firstDead(t *testing.T, w *testworld.World) kafka.Message {
	t.Helper()
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers: w.Log.Brokers, Topic: reactor.DeadLetterTopic(w.Log.Prefix), GroupID: w.Log.Prefix + "reader",
		StartOffset: kafka.FirstOffset, MaxWait: 50 * time.Millisecond,
	})
	defer reader.Close()
	m, err := reader.ReadMessage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func header(m kafka.Message, key string) string {
	for _, h := range m.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}

// TestDeadLetter: a fact that a handler cannot process becomes a dead letter
// after the last try, and the partition goes on.
func TestDeadLetter(t *testing.T) {
	t.Parallel()
	for name, failing := range map[string]func() error{
		"an error": func() error { return errors.New("out of ideas") },
		"a panic":  func() error { panic("out of ideas") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := testworld.New(t)
			bad, good := workspace(t, w, "bad"), workspace(t, w, "good")
			r, counted := newReactor(t, w, nil)
			seen := make(chan string, 8)
			r.Handle("picky", func(_ context.Context, f events.Fact) error {
				seen <- f.Stream
				if f.Stream == bad {
					return failing()
				}
				return nil
			}, events.Workspaces)
			testworld.Running(t, r.Run)

			calls := map[string]int{}
			for range 4 {
				calls[testwait.Receive(t, seen, "a reaction")]++
			}
			if diff := cmp.Diff(map[string]int{bad: 3, good: 1}, calls); diff != "" {
				t.Fatalf("calls (-want +got):\n%s", diff)
			}
			m := firstDead(t, w)
			if string(m.Key) != bad || header(m, "ce_subject") != bad || header(m, "reason_poisoned") == "" || header(m, "offset_poisoned") != "0" {
				t.Errorf("dead letter with key %s and headers %s", m.Key, m.Headers)
			}
			if n := counted.of("picky", "dead_letter"); n != 1 {
				t.Errorf("%d facts counted as dead letters", n)
			}
		})
	}
}

// lettersOf returns the dead letters of a world, as a process finds them that
// has just started.
func lettersOf(t *testing.T, w *testworld.World) *reactor.DeadLetters {
	t.Helper()
	return reactor.NewDeadLetters(journalOf(t, w), w.Log.Prefix)
}

func journalOf(t *testing.T, w *testworld.World) *eventlog.Kafka {
	t.Helper()
	j, err := eventlog.Open(t.Context(), eventlog.Config{
		Brokers: w.Log.Brokers, Prefix: w.Log.Prefix, Relaxed: true, Beside: []string{reactor.DeadLetterTopic(w.Log.Prefix)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Close)
	return j
}

// open returns the ids of the letters that are not settled.
func open(t *testing.T, d *reactor.DeadLetters) []string {
	t.Helper()
	letters, err := d.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for _, l := range letters {
		ids = append(ids, l.ID)
	}
	return ids
}

// TestRetryOfDeadLetters: a retry passes one fact to one handler. What succeeds
// is settled for every process, now and later.
func TestRetryOfDeadLetters(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	early := lettersOf(t, w) // reads before there is a topic
	if left := open(t, early); len(left) != 0 {
		t.Errorf("without a topic there are %v", left)
	}
	one, two := workspace(t, w, "one"), workspace(t, w, "two")
	var broken atomic.Bool
	broken.Store(true)
	logged := &lines{}
	answers := make(chan error, 1)
	r, counted := newReactor(t, w, func(c *reactor.Config) {
		c.Log, c.Judge = slog.New(slog.NewJSONHandler(logged, nil)), outage{c.Judge, answers}
	})
	type call struct {
		Handler, Stream string
		Offset          int64
	}
	calls := make(chan call, 16)
	for _, name := range []string{"mended", "other"} {
		r.Handle(name, func(_ context.Context, f events.Fact) error {
			if broken.Load() {
				return errors.New("not yet")
			}
			if d, ok := f.Data.(events.WorkspaceCreated); !ok || d.Owner != "tester" || f.Family != events.Workspaces || f.RecordedAt.IsZero() {
				t.Errorf("the fact is %+v", f)
			}
			calls <- call{name, f.Stream, f.Offset}
			return nil
		}, events.Workspaces)
	}
	testworld.Running(t, r.Run)
	testworld.Await(t, func() bool {
		return counted.of("mended", "dead_letter") == 2 && counted.of("other", "dead_letter") == 2
	})
	all := []string{"mended:workspaces/1@0", "mended:workspaces/1@1", "other:workspaces/1@0", "other:workspaces/1@1"}
	testworld.Await(t, func() bool { return len(open(t, early)) == 4 })
	if diff := cmp.Diff(all, open(t, early)); diff != "" {
		t.Errorf("open letters (-want +got):\n%s", diff)
	}
	for _, where := range []string{`"handler":"mended"`, `"handler":"other"`} {
		for _, offset := range []string{"0", "1"} {
			want := where + `,"family":"workspaces","partition":"1","offset":"` + offset + `","type":"netsim.workspace.created.v1"`
			if n := strings.Count(logged.String(), `"msg":"a fact is a dead letter",`+want); n != 1 {
				t.Errorf("%s is logged %d times", want, n)
			}
		}
	}

	letters, err := early.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Retry(t.Context(), early, letters[1]); err == nil || !strings.Contains(err.Error(), "not yet") {
		t.Errorf("retried while the handler is broken: %v", err)
	}
	if diff := cmp.Diff(all, open(t, early)); diff != "" {
		t.Errorf("open after a failed retry (-want +got):\n%s", diff)
	}
	broken.Store(false)
	answers <- errors.New("not judged yet") // as by a read model that is rebuilt
	if err := r.Retry(t.Context(), early, letters[1]); err == nil || len(calls) != 0 || len(open(t, early)) != 4 {
		t.Errorf("retried on a read model that does not have the fact: %v", err)
	}
	for i, want := range []struct {
		letter reactor.DeadLetter
		call   call
		left   []string
	}{
		{letters[1], call{"mended", two, 1}, []string{all[0], all[2], all[3]}},
		{letters[2], call{"other", one, 0}, []string{all[0], all[3]}},
	} {
		if err := r.Retry(t.Context(), early, want.letter); err != nil {
			t.Fatalf("retry %d: %v", i, err)
		}
		if got := testwait.Receive(t, calls, "a reaction"); got != want.call || len(calls) != 0 {
			t.Errorf("retry %d called %v and %d more, want %v", i, got, len(calls), want.call)
		}
		for who, d := range map[string]*reactor.DeadLetters{"the same process": early, "another process": lettersOf(t, w)} {
			if diff := cmp.Diff(want.left, open(t, d)); diff != "" {
				t.Errorf("open for %s after retry %d (-want +got):\n%s", who, i, diff)
			}
		}
	}
	unknown := letters[0]
	unknown.Handler = "gone"
	if err := r.Retry(t.Context(), early, unknown); err == nil || !strings.Contains(err.Error(), "no handler gone of workspaces") {
		t.Errorf("a letter of a handler that is gone: %v", err)
	}
}

// lines collects what is logged.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestDeadLettersOnlyPoint: anyone who reaches the broker can write to the
// dead-letter topic. A retry processes what the log has at the position named,
// and only if it is a fact.
func TestDeadLettersOnlyPoint(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	real := workspace(t, w, "real")
	appendRecord(t, w, events.Message{Key: []byte("what"), Value: []byte("is this")}, events.BadFrame)
	r, _ := newReactor(t, w, nil)
	seen := make(chan events.Fact, 4)
	r.Handle("fooled", func(_ context.Context, f events.Fact) error {
		seen <- f
		return nil
	}, events.Workspaces)
	testworld.Running(t, r.Run)
	testwait.Receive(t, seen, "the reaction") // the topic exists by then
	for _, offset := range []string{"0", "1"} {
		forge(t, w, r, real, offset)
	}
	d := lettersOf(t, w)
	letters, err := d.Open(t.Context())
	if err != nil || len(letters) != 2 {
		t.Fatalf("letters are %+v, %v, want 2", letters, err)
	}
	for _, l := range letters {
		if err := r.Retry(t.Context(), d, l); err != nil {
			t.Error(err)
		}
	}
	got := testwait.Receive(t, seen, "the fact")
	if c, ok := got.Data.(events.WorkspaceCreated); !ok || c.Owner != "tester" || len(seen) != 0 {
		t.Errorf("processed are %+v and %d more", got, len(seen))
	}
	if body, err := d.Body(t.Context(), letters[0]); err != nil || strings.Contains(body, "forge") {
		t.Errorf("shown is %s, %v", body, err)
	}
}

// forge writes a dead letter that names a position in the log and claims that
// another event is there.
func forge(t *testing.T, w *testworld.World, r *reactor.Reactor, stream, offset string) {
	t.Helper()
	value, err := events.Encode(events.WorkspaceCreated{AccountID: testworld.Account, Owner: "forger", Name: "forged"})
	if err != nil {
		t.Fatal(err)
	}
	m, _ := frame(stream, events.WorkspaceCreated{}.EventType(), 1).Message(value)
	for name, value := range map[string]string{
		"partition_poisoned": "1", "offset_poisoned": offset, "recorded_poisoned": "2026-11-22T00:00:00Z",
		"topic_poisoned": w.Log.Topic(events.Workspaces), "handler_poisoned": r.Group("fooled", events.Workspaces),
	} {
		m.Headers = append(m.Headers, events.Header{Key: name, Value: []byte(value)})
	}
	j := journalOf(t, w)
	if _, err := j.Append(reactor.DeadLetterTopic(w.Log.Prefix), 0, m).Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestUnreadableFact: a type of a later release is a dead letter without a try.
func TestUnreadableFact(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	stream := events.NewID(events.WorkspacePrefix)
	m, _ := frame(stream, "netsim.workspace.unheard_of.v1", 1).Message([]byte(`{}`))
	appendRecord(t, w, m, events.Accepted)
	good := workspace(t, w, "good")
	r, _ := newReactor(t, w, nil)
	seen := make(chan string, 8)
	r.Handle("old", func(_ context.Context, f events.Fact) error {
		seen <- f.Stream
		return nil
	}, events.Workspaces)
	testworld.Running(t, r.Run)

	if got := testwait.Receive(t, seen, "a reaction"); got != good {
		t.Errorf("reacted to %s, want only %s", got, good)
	}
	if m := firstDead(t, w); header(m, "ce_type") != "netsim.workspace.unheard_of.v1" {
		t.Errorf("dead letter with headers %s", m.Headers)
	}
}
