package reactor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/infra/facts"
	"netsim/infra/reactor"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// kill is where a process ends: at the nth time that it comes to a point.
type kill struct {
	point string
	nth   int
}

// kills are all points at which a reaction waits for something else: before the
// request is sent, and after it was answered and before the answer is used.
func kills() []kill {
	var all []kill
	for point, times := range map[string][]int{
		"verdicts awaited":                      {1},
		"records requested":                     {1, 2},
		"records received":                      {1, 2},
		"rejections requested":                  {1, 2},
		"rejections received":                   {1, 2},
		"handler called":                        {1, 3, 5},
		"command loads":                         {1, 3},
		"command loaded":                        {1, 3},
		"command appends":                       {1, 3, 5},
		"command appended":                      {1, 3, 5},
		"command judged":                        {1, 3, 5},
		"handler returns":                       {1, 3, 5},
		"reaction done":                         {1, 3, 5},
		"reaction failed, tried again":          {1, 2, 3},
		"read model probed before dead letter":  {1},
		"read model answers before dead letter": {1},
		"dead letter published":                 {1},
		"committed positions requested":         {1, 2},
		"committed positions received":          {1, 2},
		"positions sent":                        {1, 2},
		"positions committed":                   {1, 2},
	} {
		for _, n := range times {
			all = append(all, kill{point, n})
		}
	}
	slices.SortFunc(all, func(a, b kill) int {
		if a.point != b.point {
			return strings.Compare(a.point, b.point)
		}
		return a.nth - b.nth
	})
	return all
}

// copying copies each fact of some streams to a mirror, a stream of its own, by a
// command whose id derives from the fact. Facts named flaky fail at the first try of
// each process, those named bad until they are mended.
type copying struct {
	t *testing.T
	w *testworld.World

	mu      sync.Mutex
	mirrors map[string]string   // by stream
	want    map[string][]string // the names that a mirror gets, by mirror
	letters []string            // the streams of bad facts
	mended  bool
	copies  int
	after   func() // called once, after the next copy
}

// stream makes a stream and its mirror, and a fact for each name.
func (c *copying) stream(names ...string) {
	mirror, stream := events.NewID(events.WorkspacePrefix), events.NewID(events.WorkspacePrefix)
	testworld.In(c.t, c.w, mirror, mirror, commands.CreateWorkspace{AccountID: testworld.Account, Owner: "tester", Name: "mirror"})
	c.mu.Lock()
	c.mirrors[stream] = mirror
	for _, name := range names {
		if name == "bad" {
			c.letters = append(c.letters, stream)
		} else {
			c.want[mirror] = append(c.want[mirror], name)
		}
	}
	c.mu.Unlock()
	testworld.In(c.t, c.w, stream, stream, commands.CreateWorkspace{AccountID: testworld.Account, Owner: "tester", Name: names[0]})
	for _, name := range names[1:] {
		testworld.In(c.t, c.w, stream, stream, commands.UpdateWorkspace{ID: stream, Name: name})
	}
}

// react copies the fact in a process.
func (c *copying) react(ctx context.Context, f *events.Fact, l *life, h *handle.Handler) error {
	c.mu.Lock()
	mirror, mended := c.mirrors[f.Stream], c.mended
	c.copies++
	copies := c.copies
	c.mu.Unlock()
	if mirror == "" {
		return nil
	}
	l.at("handler called")
	name := nameOf(f.Data)
	l.mu.Lock()
	l.tries[f.ID]++
	first := l.tries[f.ID] == 1
	l.mu.Unlock()
	if name == "bad" && !mended || name == "flaky" && first {
		return errors.New("not this time")
	}
	// What is copied differs each time, so that a second copy would be a fact too.
	_, err := handle.Command(ctx, h, handle.Target{Stream: mirror, PartitionKey: mirror}, handle.Because(f, "copy "+f.ID),
		commands.UpdateWorkspace{ID: mirror, Name: fmt.Sprintf("%s, copy %d", name, copies)})
	l.at("handler returns")
	c.mu.Lock()
	after := c.after
	c.after = nil
	c.mu.Unlock()
	if after != nil {
		after()
	}
	return err
}

func nameOf(d events.Data) string {
	switch d := d.(type) {
	case events.WorkspaceCreated:
		return d.Name
	case events.WorkspaceUpdated:
		return d.Name
	}
	return ""
}

// start starts a process that dies at the kill.
func (c *copying) start(at kill) (l *life, r *reactor.Reactor) {
	c.t.Helper()
	l = &life{t: c.t, kill: at, dead: make(chan struct{}), tries: map[string]int{}}
	log, verdicts := mortalLog{c.w.EventLog, l}, mortalVerdicts{c.w.Watcher, l}
	r, err := reactor.New(reactor.Config{
		Brokers: c.w.Log.Brokers, Prefix: c.w.Log.Prefix, EventLog: log, Facts: facts.NewReader(log, verdicts),
		Leases: testworld.AllShards(c.w.Log.Partitions), Judge: verdicts, Log: c.w.Logger,
		Observe: func(o reactor.Observation) {
			switch o.Outcome {
			case "done":
				l.at("reaction done")
			case "failed":
				l.at("reaction failed, tried again")
			case "dead_letter":
				l.at("dead letter published")
			}
		},
		Retries: 2, FirstPause: time.Millisecond,
	})
	if err != nil {
		c.t.Fatal(err)
	}
	h := &handle.Handler{Log: mortalWrites{c.w.WriteLog, l}, Now: time.Now}
	r.Handle("copying", func(ctx context.Context, f events.Fact) error { return c.react(ctx, &f, l, h) }, events.Workspaces)
	testworld.Running(c.t, r.Run)
	return l, r
}

// copied returns the names that the mirrors have got, in order.
func (c *copying) copied() map[string][]string {
	c.t.Helper()
	got := map[string][]string{}
	for partition := range c.w.Log.Partitions {
		end := c.w.Watcher.Next(events.Workspaces, partition)
		for from := int64(0); from < end; {
			records, _, err := c.w.EventLog.Read(c.t.Context(), c.w.EventLog.Topic(events.Workspaces), partition, from, 1<<20, 0)
			if err != nil {
				c.t.Fatal(err)
			}
			rejected, err := c.w.Watcher.Rejected(c.t.Context(), events.Workspaces, partition, from, end)
			if err != nil {
				c.t.Fatal(err)
			}
			for i := range records {
				if from = records[i].Offset + 1; from > end {
					break
				}
				f := facts.Decode(events.Workspaces, &records[i])
				if _, not := rejected[f.Offset]; not || f.CauseID == "" {
					continue
				}
				name, _, _ := strings.Cut(nameOf(f.Data), ",")
				got[f.Stream] = append(got[f.Stream], name)
			}
		}
	}
	return got
}

func count(names map[string][]string) (n int) {
	for _, all := range names {
		n += len(all)
	}
	return n
}

// TestKilledAtEveryAwait kills a process at each point where a reaction waits, and
// starts the next one, over and over. Each fact is copied once, in the order of its
// stream, and each bad one is a dead letter. Retries of the letters are cut short,
// too, and copy each once.
func TestKilledAtEveryAwait(t *testing.T) {
	t.Parallel()
	c := &copying{t: t, w: testworld.New(t), mirrors: map[string]string{}, want: map[string][]string{}}
	for i, at := range kills() {
		one, two := fmt.Sprint("one of ", i), fmt.Sprint("two of ", i)
		c.stream(one, "flaky", two)
		c.stream(one, "bad", two, "flaky")
		l, _ := c.start(at)
		limit := time.NewTimer(testwait.Limit(t))
		select {
		case <-l.dead:
			limit.Stop()
		case <-limit.C:
			t.Fatalf("no process came to %q %d times", at.point, at.nth)
		}
	}
	_, r := c.start(kill{})
	letters := lettersOf(t, c.w)
	testworld.Await(t, func() bool { return count(c.copied()) >= count(c.want) && len(open(t, letters)) >= len(c.letters) })
	if diff := cmp.Diff(c.want, c.copied()); diff != "" {
		t.Errorf("copies by mirror (-want +got):\n%s", diff)
	}
	all, err := letters.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var streams []string
	for _, letter := range all {
		streams = append(streams, letter.Stream)
	}
	slices.Sort(streams)
	slices.Sort(c.letters)
	if diff := cmp.Diff(c.letters, streams); diff != "" {
		t.Errorf("streams of dead letters (-want +got):\n%s", diff)
	}

	c.mu.Lock()
	c.mended = true
	for _, stream := range c.letters {
		c.want[c.mirrors[stream]] = append(c.want[c.mirrors[stream]], "bad")
	}
	c.mu.Unlock()
	for i, letter := range all {
		if i%2 == 0 { // the process ends between the handler and what settles the letter
			log := journalOf(t, c.w)
			cut := reactor.NewDeadLetters(log, c.w.Log.Prefix)
			if _, err := cut.Open(t.Context()); err != nil {
				t.Fatal(err)
			}
			c.mu.Lock()
			c.after = log.Close
			c.mu.Unlock()
			if err := r.Retry(t.Context(), cut, letter); err == nil {
				t.Error("a letter was settled in a log that is closed")
			}
		}
		if err := r.Retry(t.Context(), letters, letter); err != nil {
			t.Error(err)
		}
	}
	testworld.Await(t, func() bool { return len(open(t, letters)) == 0 })
	if diff := cmp.Diff(c.want, c.copied()); diff != "" {
		t.Errorf("copies by mirror (-want +got):\n%s", diff)
	}
}
