package reactor_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/reactor"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// rename renames a workspace once for each number from from to to-1, one fact each.
func rename(t *testing.T, w *testworld.World, id string, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		testworld.Do(t, w, id, commands.UpdateWorkspace{ID: id, Name: fmt.Sprint("name ", i)})
	}
}

// workspaces makes workspaces of one partition, each with some facts.
func workspaces(t *testing.T, w *testworld.World, count, facts int) (ids []string) {
	t.Helper()
	for i := range count {
		ids = append(ids, workspace(t, w, fmt.Sprint("workspace ", i)))
	}
	var writers sync.WaitGroup
	for _, id := range ids {
		writers.Go(func() { rename(t, w, id, 1, facts) })
	}
	testwait.Group(t, &writers, "the writers")
	return ids
}

// seen are the sequences that a handler has got, by stream.
type seen struct {
	mu      sync.Mutex
	streams map[string][]int64
	offsets []int64
}

func (s *seen) add(f events.Fact) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams == nil {
		s.streams = map[string][]int64{}
	}
	s.streams[f.Stream] = append(s.streams[f.Stream], f.Sequence)
	s.offsets = append(s.offsets, f.Offset)
}

func (s *seen) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.offsets)
}

func (s *seen) all() map[string][]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.streams)
}

// sequences is what a handler gets that gets every fact once and in order.
func sequences(ids []string, count int64) map[string][]int64 {
	want := map[string][]int64{}
	for _, id := range ids {
		for i := range count {
			want[id] = append(want[id], i+1)
		}
	}
	return want
}

// TestOrderPerStream: facts of many streams of a partition are under way at
// once, those of one stream one after the other.
func TestOrderPerStream(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	ids := workspaces(t, w, 8, 10)
	r, _ := newReactor(t, w, nil)
	got := &seen{}
	together := make(chan struct{})
	var arrived sync.WaitGroup
	arrived.Add(len(ids))
	r.Handle("recorder", func(_ context.Context, f events.Fact) error {
		if f.Sequence == 1 { // all streams are under way before one goes on
			arrived.Done()
			testwait.Gate(t, together)
		}
		got.add(f)
		return nil
	}, events.Workspaces)
	testworld.Running(t, r.Run)
	testwait.Group(t, &arrived, "the first fact of every stream")
	close(together)
	testworld.Await(t, func() bool { return got.count() >= 80 })
	if diff := cmp.Diff(sequences(ids, 10), got.all()); diff != "" {
		t.Errorf("sequences by stream (-want +got):\n%s", diff)
	}
}

// TestAStuckFactHoldsItsStream: a stuck fact delays no other stream of its partition,
// even when far more facts follow it than memory takes; and a process that takes over
// repeats nothing that is done.
func TestAStuckFactHoldsItsStream(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	stuck := workspace(t, w, "stuck")
	const behind, others = 600, 20 // 512 facts are in memory
	rename(t, w, stuck, 1, 300)
	ids := workspaces(t, w, others, 10)
	rename(t, w, stuck, 300, behind)
	last := workspaces(t, w, others, 10)
	ids = append(ids, last...)
	want := sequences(ids, 10)

	first, got := &seen{}, &seen{}
	release := make(chan struct{})
	run := func(into *seen, wait <-chan struct{}) (stop func()) {
		r, _ := newReactor(t, w, nil)
		r.Handle("recorder", func(ctx context.Context, f events.Fact) error {
			if f.Stream == stuck && f.Sequence == 1 {
				select {
				case <-wait:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			into.add(f)
			return nil
		}, events.Workspaces)
		ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
		done := make(chan error, 1)
		go func() { done <- r.Run(ctx) }()
		return func() {
			cancel()
			if err := testwait.Receive(t, done, "the reactor to end"); err != nil {
				t.Error(err)
			}
		}
	}
	stop := run(first, nil)
	defer stop()
	testworld.Await(t, func() bool { return first.count() >= len(ids)*10 })
	if diff := cmp.Diff(want, first.all()); diff != "" {
		t.Fatalf("while one is stuck (-want +got):\n%s", diff)
	}
	group := "netsim-reactor.recorder.workspaces"
	testworld.Await(t, func() bool {
		at, err := w.EventLog.GroupOffsets(t.Context(), w.Log.Prefix+group, w.Log.Topic(events.Workspaces), 2)
		open := func(offset int64) bool { return !reactor.Done(at[1].Next, at[1].Metadata, offset) }
		return err == nil && !slices.ContainsFunc(first.offsets, open)
	})

	// The first process hangs from here on. The next one continues at its position.
	close(release)
	stopNext := run(got, release)
	defer stopNext()
	testworld.Await(t, func() bool { return got.count() >= behind })
	if diff := cmp.Diff(sequences([]string{stuck}, behind), got.all()); diff != "" {
		t.Errorf("after the takeover (-want +got):\n%s", diff)
	}
	if n := first.count(); n != len(ids)*10 {
		t.Errorf("the stuck one has done %d facts in the meantime", n-len(ids)*10)
	}
}

// TestPositionsNeverMoveBack: a holder that was replaced without knowing it
// does not undo what its successor has committed.
func TestPositionsNeverMoveBack(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	first := workspace(t, w, "first")
	const group = "netsim-reactor.slow.workspaces"
	committed := func() int64 {
		at, err := w.EventLog.GroupOffsets(t.Context(), w.Log.Prefix+group, w.Log.Topic(events.Workspaces), 2)
		if err != nil {
			t.Fatal(err)
		}
		return at[1].Next
	}
	r, _ := newReactor(t, w, nil)
	called, release := make(chan string, 8), make(chan struct{})
	r.Handle("slow", func(_ context.Context, f events.Fact) error {
		called <- f.Stream
		testwait.Gate(t, release)
		return nil
	}, events.Workspaces)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	if got := testwait.Receive(t, called, "a reaction"); got != first {
		t.Errorf("reacted to %s", got)
	}
	workspaces(t, w, 4, 1)
	if err := w.EventLog.CommitGroup(t.Context(), w.Log.Prefix+group, w.Log.Topic(events.Workspaces), offsets(1, 5)); err != nil {
		t.Fatal(err)
	}
	cancel()
	close(release)
	if err := testwait.Receive(t, done, "the reactor to end"); err != nil {
		t.Error(err)
	}
	if at := committed(); at != 5 {
		t.Errorf("the group is at %d, its successor had moved it to 5", at)
	}
}

// TestALogThatLostItsTail: when a position's offset, or what its metadata says is
// done, lies beyond the end of the log, or after another record than the log has, the
// handler begins again.
func TestALogThatLostItsTail(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	ids := workspaces(t, w, 3, 1)
	topic := w.Log.Topic(events.Workspaces)
	for handler, at := range map[string]eventlog.GroupOffset{
		"beyond": {Next: 100},
		"until":  {Next: 1, Metadata: reactor.Metadata(1, 100, 1)},
		"other":  {Next: 2, Metadata: reactor.Anchored(2, events.Anchor{Next: 2, Last: events.Sum{1}})},
	} {
		group := w.Log.Prefix + "netsim-reactor." + handler + ".workspaces"
		if err := w.EventLog.CommitGroup(t.Context(), group, topic, map[int32]eventlog.GroupOffset{1: at}); err != nil {
			t.Fatal(err)
		}
		r, _ := newReactor(t, w, nil)
		got := &seen{}
		r.Handle(handler, func(_ context.Context, f events.Fact) error {
			got.add(f)
			return nil
		}, events.Workspaces)
		testworld.Running(t, r.Run)
		testworld.Await(t, func() bool { return got.count() >= 3 })
		if diff := cmp.Diff(sequences(ids, 1), got.all()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", handler, diff)
		}
		testworld.Await(t, func() bool {
			committed, err := w.EventLog.GroupOffsets(t.Context(), group, topic, 2)
			if err != nil || committed[1].Next != 3 {
				return false
			}
			anchor := reactor.AnchorOf(3, committed[1].Metadata)
			other, err := eventlog.Prove(t.Context(), w.EventLog, topic, 1, anchor)
			return err == nil && other == "" && anchor.Next == 3 && anchor.TopicID != ""
		})
	}
}

// TestLeasesMove: shards that move back and forth between two processes lose no
// fact and repeat none.
func TestLeasesMove(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	m := newMover(w.Log.Partitions)
	got := map[string]*seen{"one": {}, "two": {}}
	for i := range 2 {
		r, _ := newReactor(t, w, func(c *reactor.Config) { c.Leases = m.process(i) })
		for name, into := range got {
			r.Handle(name, func(_ context.Context, f events.Fact) error {
				into.add(f)
				return nil
			}, events.Workspaces)
		}
		testworld.Running(t, r.Run)
	}
	const rounds, count = 6, 5
	ids := []string{}
	for i := range 10 {
		ids = append(ids, workspace(t, w, fmt.Sprint("workspace ", i)))
	}
	for range rounds {
		var writers sync.WaitGroup
		for _, id := range ids {
			writers.Go(func() {
				for range count {
					name := events.NewID(events.WorkspacePrefix)
					testworld.Do(t, w, id, commands.UpdateWorkspace{ID: id, Name: name})
				}
			})
		}
		m.move()
		testwait.Group(t, &writers, "the writers")
	}
	for name, into := range got {
		testworld.Await(t, func() bool { return into.count() >= len(ids)*(1+rounds*count) })
		if diff := cmp.Diff(sequences(ids, 1+rounds*count), into.all()); diff != "" {
			t.Errorf("handler %s (-want +got):\n%s", name, diff)
		}
	}
	if n := slices.Max(m.held); n < 2 {
		t.Errorf("the shards have not moved: %v", m.held)
	}
}
