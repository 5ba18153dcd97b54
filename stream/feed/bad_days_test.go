package feed_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
	"netsim/stream/feed"
)

// TestASlowClientEnds: a client that does not read gets what its queue holds, the
// reason, and a position from which it gets the rest. Others are not delayed.
func TestASlowClientEnds(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	h := running(t, newHub(t, w, func(c *feed.Config) { c.Buffer = 20_000 }))
	slow, fast := &client{t: t, query: of(account(0))}, &client{t: t, query: of(account(0))}
	var feeds []*feed.Feed
	for _, c := range []*client{slow, fast} {
		f, err := h.Open(t.Context(), c.query, feed.Start{})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		feeds = append(feeds, f)
		c.join(h, f)
	}
	id := events.NewID(events.WorkspacePrefix)
	for i := range 200 {
		if i == 0 {
			testworld.In(t, w, id, id, commands.CreateWorkspace{AccountID: account(0), Name: id})
		} else {
			testworld.In(t, w, id, id, commands.UpdateWorkspace{ID: id, Name: fmt.Sprint(i)})
		}
		if reason := fast.read(t.Context(), feeds[1], 1); reason != "" {
			t.Fatalf("the client that reads ended: %s", reason)
		}
		if i == 0 { // it comes by the queue, and the history before it is read
			if reason := slow.read(t.Context(), feeds[0], 1); reason != "" {
				t.Fatalf("the slow client ended after one fact: %s", reason)
			}
		}
	}
	if reason := slow.read(t.Context(), feeds[0], 200); reason != feed.Slow || len(slow.all) < 2 || len(slow.all) > 60 {
		t.Fatalf("the slow client ended with %q after %d facts, want %q after what 20,000 bytes hold", reason, len(slow.all), feed.Slow)
	}
	f, err := h.Open(t.Context(), slow.query, feed.Start{Position: feeds[0].Position()})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	slow.read(t.Context(), f, 200-len(slow.all))
	for _, c := range []*client{slow, fast} {
		c.check(map[string]int64{id: 200}, true)
	}
	if r := h.Report(); r.Ended[feed.Slow] != 1 {
		t.Errorf("counted %v, want one slow feed", r.Ended)
	}
}

// TestAnotherProcessResumes: a position is good in every process. When a hub ends, its
// feeds end with the reason, and new ones are refused.
func TestAnotherProcessResumes(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	other := w.Servers.Connect(t)
	other.Listen(t)
	ctx, end := context.WithCancel(t.Context())
	first := newHub(t, w)
	ended := make(chan error, 1)
	go func() { ended <- first.Run(ctx) }()
	second := running(t, newHub(t, other))
	var b books
	written := b.write(t, w, 2, 4, 100)
	testwait.Group(t, written, "the writers")
	c := &client{t: t, query: of(account(1))}
	testworld.Await(t, func() bool {
		f, err := first.Open(t.Context(), c.query, feed.Start{})
		if err == nil {
			f.Close()
		}
		return err == nil
	})
	f, err := first.Open(t.Context(), c.query, feed.Start{Since: time.Now().Add(-time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c.read(t.Context(), f, 20)
	end()
	if reason := c.read(t.Context(), f, 1000); reason != feed.Shutdown {
		t.Errorf("the feed ended with %q, want %q", reason, feed.Shutdown)
	}
	if err := testwait.Receive(t, ended, "the hub to end"); err != nil {
		t.Error(err)
	}
	if _, err := first.Open(t.Context(), c.query, feed.Start{}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a feed of a hub that has ended: %v", err)
	}
	resumed, err := second.Open(t.Context(), c.query, feed.Start{Position: f.Position()})
	if err != nil {
		t.Fatal(err)
	}
	defer resumed.Close()
	c.read(t.Context(), resumed, b.count(account(1))-len(c.all))
	c.check(b.heads[account(1)], true)
}

// TestRightsAreCheckedAgain: within a heartbeat after the check fails, the feed ends,
// also while facts are sent without a pause.
func TestRightsAreCheckedAgain(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	h := running(t, newHub(t, w))
	for want, failure := range map[feed.Reason]error{
		feed.Unauthorized: fault.New(fault.Unauthorized, "the bearer token is expired"),
		feed.Unavailable:  fault.New(fault.Unavailable, "the keys cannot be fetched"),
	} {
		var mu sync.Mutex
		var err error
		q := of(account(0))
		q.Check = func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			return err
		}
		f, opened := h.Open(t.Context(), q, feed.Start{})
		if opened != nil {
			t.Fatal(opened)
		}
		defer f.Close()
		c := &client{t: t, query: q}
		var b books
		written := b.write(t, w, 1, 2, 40)
		c.read(t.Context(), f, 10)
		mu.Lock()
		err = failure
		mu.Unlock()
		if reason := c.read(t.Context(), f, 1000); reason != want {
			t.Errorf("the feed ended with %q, want %q", reason, want)
		}
		testwait.Group(t, written, "the writers")
	}
}

// TestAQuietFeedMovesOn: a feed for which nothing is recorded gets positions that grow
// with the log, and so do those that read a history without a fact for them.
func TestAQuietFeedMovesOn(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	h := running(t, newHub(t, w))
	var b books
	testwait.Group(t, b.write(t, w, 1, 4, 60), "the writers")
	for name, start := range map[string]feed.Start{"live": {}, "history": {Since: time.Now().Add(-time.Hour)}} {
		c := &client{t: t, query: of(account(9))}
		f, err := h.Open(t.Context(), c.query, start)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var more books
		testwait.Group(t, more.write(t, w, 1, 4, 40), "the writers")
		end, err := h.Open(t.Context(), c.query, feed.Start{})
		if err != nil {
			t.Fatal(err)
		}
		end.Close()
		for want := string(end.Position()); string(f.Position()) != want; {
			if reason := f.Next(t.Context(), func(e *feed.Entry, _ []byte) {
				if e != nil {
					t.Errorf("%s: got %s", name, e.JSON)
				}
			}); reason != "" {
				t.Fatal(reason)
			}
		}
	}
}

// TestPositionsAreChecked: what is no position of the query, or is behind the log's end,
// is refused.
func TestPositionsAreChecked(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	h := running(t, newHub(t, w))
	f, err := h.Open(t.Context(), of(account(0)), feed.Start{})
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	good := f.Position()
	for name, position := range map[string][]byte{
		"empty": {}, "another version": append([]byte{9}, good[1:]...), "too short": good[:len(good)-1], "too long": append(append([]byte(nil), good...), 0),
		"behind the end": {1, 200, 200, 1, 200, 200, 1},
	} {
		if _, err := h.Open(t.Context(), of(account(0)), feed.Start{Position: position}); !fault.Is(err, fault.Validation) ||
			!strings.HasPrefix(err.Error(), "the last event id cannot be resumed from") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAFailureOfTheReadModelDelaysOnly: while owners cannot be read, live feeds wait,
// and a history ends with a reason; no fact is lost.
func TestAFailureOfTheReadModelDelaysOnly(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	var mu sync.Mutex
	down := false
	other := events.NewID(events.WorkspacePrefix)
	testworld.In(t, w, other, other, commands.CreateWorkspace{AccountID: account(0), Name: "w"})
	h := running(t, newHub(t, w, func(c *feed.Config) {
		c.Owners = func(ctx context.Context, streams []string) (map[string]feed.Owner, error) {
			mu.Lock()
			defer mu.Unlock()
			if down {
				return nil, errors.New("no connection")
			}
			return owners(ctx, w, streams)
		}
	}))
	set := func(to bool) {
		mu.Lock()
		defer mu.Unlock()
		down = to
	}
	c := &client{t: t, query: of(account(0))}
	f, err := h.Open(t.Context(), c.query, feed.Start{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c.join(h, f)
	set(true)
	testworld.In(t, w, other, other, commands.UpdateWorkspace{ID: other, Name: "v"}) // its owner has to be read
	testworld.Await(t, func() bool { return h.Report().Failed > 0 })
	set(false)
	c.read(t.Context(), f, 1)
	if len(c.all) != 1 || c.all[0].Sequence != 2 {
		t.Errorf("after the failure, got %v", c.all)
	}
}

// TestIdleFeedsAreSmall: a thousand idle feeds that follow every partition use less than
// 16 KiB each, and one reader a partition.
func TestIdleFeedsAreSmall(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	const count = 1000
	w := testworld.New(t)
	h := running(t, newHub(t, w, func(c *feed.Config) { c.Heartbeat = time.Minute }))
	memory := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	before := memory()
	ctx, end := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range count {
		f, err := h.Open(t.Context(), everything(), feed.Start{})
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			defer f.Close()
			c := &client{t: t}
			c.read(ctx, f, 1)
		})
	}
	testworld.Await(t, func() bool { r := h.Report(); return r.Open == count && r.Behind == 0 })
	each := (int64(memory()) - int64(before)) / count
	r := h.Report()
	t.Logf("%d bytes a feed, %d partitions", each, r.Followed)
	if each > 16<<10 || r.Followed > 14 {
		t.Errorf("an idle feed has %d bytes, and %d partitions are read; want at most 16,384 and 14", each, r.Followed)
	}
	end()
	testwait.Group(t, &all, "the feeds")
	if r := h.Report(); r.Open != 0 || r.Followed != 0 {
		t.Errorf("after all feeds have left: %+v", r)
	}
}
