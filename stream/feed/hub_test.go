package feed_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/facts"
	"netsim/infra/writelog"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
	"netsim/projections"
	"netsim/stream/feed"
)

// newHub returns a hub that runs in the process of the world.
func newHub(t testing.TB, w *testworld.World, options ...func(*feed.Config)) *feed.Hub {
	t.Helper()
	partitions, err := writelog.LoadPartitions(t.Context(), w.DB)
	if err != nil {
		t.Fatal(err)
	}
	c := feed.Config{
		Log: w.EventLog, Verdicts: w.Watcher, Partitions: partitions,
		Live: facts.NewReader(w.EventLog, w.Watcher), History: facts.NewReader(w.EventLog, w.Watcher),
		Owners: func(ctx context.Context, streams []string) (map[string]feed.Owner, error) {
			return owners(ctx, w, streams)
		},
		Heartbeat: 50 * time.Millisecond, Pace: time.Millisecond, Buffer: 1 << 20, CatchUps: 4, Rate: 1_000_000, Now: time.Now, Logger: w.Logger,
	}
	for _, option := range options {
		option(&c)
	}
	return feed.New(c)
}

func owners(ctx context.Context, w *testworld.World, streams []string) (map[string]feed.Owner, error) {
	found, err := projections.Owners(ctx, w.DB, streams)
	all := map[string]feed.Owner{}
	for _, o := range found {
		all[o.Stream] = feed.Owner{AccountID: o.AccountID, WorkspaceID: o.WorkspaceID}
	}
	return all, err
}

// running runs the hub until the test ends.
func running(t testing.TB, h *feed.Hub) *feed.Hub {
	t.Helper()
	testworld.Running(t, h.Run)
	testworld.Await(t, func() bool {
		f, err := h.Open(t.Context(), everything(), feed.Start{})
		if err == nil {
			f.Close()
		}
		return err == nil
	})
	return h
}

func everything() feed.Query {
	keys := map[events.Family][]string{}
	for _, family := range events.Families() {
		keys[family] = nil
	}
	return feed.Query{
		Keys:  keys,
		Sees:  func(*facts.Fact, feed.Owner) bool { return true },
		Check: func(context.Context) error { return nil },
	}
}

// of returns the query for the workspaces of an account.
func of(account string) feed.Query {
	q := everything()
	q.Account = account
	q.Keys = map[events.Family][]string{events.Workspaces: nil}
	q.Sees = func(_ *facts.Fact, owner feed.Owner) bool { return owner.AccountID == account }
	return q
}

// got is a fact that a client got, and the position after it.
type got struct {
	Stream   string
	Sequence int64
	position []byte
}

// client collects what feeds send it.
type client struct {
	t     testing.TB
	query feed.Query
	all   []got
	first []byte // the position before all
}

// read reads messages until there are count more facts or the feed ends.
func (c *client) read(ctx context.Context, f *feed.Feed, count int) feed.Reason {
	for want := len(c.all) + count; len(c.all) < want; {
		reason := f.Next(ctx, func(e *feed.Entry, position []byte) {
			position = append([]byte(nil), position...)
			if e == nil {
				if c.first == nil {
					c.first = position
				}
				return
			}
			var line struct{ Subject, Sequence string }
			if err := json.Unmarshal(e.JSON, &line); err != nil {
				c.t.Errorf("%v in %s", err, e.JSON)
			}
			n, err := strconv.ParseInt(line.Sequence, 10, 64)
			if err != nil {
				c.t.Error(err)
			}
			c.all = append(c.all, got{line.Subject, n, position})
		})
		if reason != "" {
			return reason
		}
	}
	return ""
}

// check checks that the client got each fact of a stream once and in order, up to the
// stream's head, and from the first one if whole.
func (c *client) check(heads map[string]int64, whole bool) {
	c.t.Helper()
	last := map[string]int64{}
	for _, one := range c.all {
		before, seen := last[one.Stream]
		if seen && one.Sequence != before+1 || !seen && whole && one.Sequence != 1 {
			c.t.Errorf("%s: %d comes after %d", one.Stream, one.Sequence, before)
		}
		last[one.Stream] = one.Sequence
	}
	for stream, head := range heads {
		if n, seen := last[stream]; n != head && (whole || seen) {
			c.t.Errorf("%s: the last fact is %d, want %d", stream, n, head)
		}
	}
	for stream := range last {
		if heads[stream] == 0 {
			c.t.Errorf("%s is not one of the client's streams", stream)
		}
	}
}

// books are the streams that writers write, by account.
type books struct {
	mu    sync.Mutex
	heads map[string]map[string]int64
}

func account(n int) string { return fmt.Sprintf("acct_%026d", n) }

// write creates workspaces of some accounts and updates them, count commands in all.
func (b *books) write(t testing.TB, w *testworld.World, accounts, writers, count int) *sync.WaitGroup {
	b.heads = map[string]map[string]int64{}
	for n := range accounts {
		b.heads[account(n)] = map[string]int64{}
	}
	var all sync.WaitGroup
	for n := range writers {
		all.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(n)))
			own, id := account(n%accounts), ""
			for i := range count / writers {
				if id == "" || random.IntN(8) == 0 {
					id = events.NewID(events.WorkspacePrefix)
					testworld.In(t, w, id, id, commands.CreateWorkspace{AccountID: own, Name: id})
				} else {
					testworld.In(t, w, id, id, commands.UpdateWorkspace{ID: id, Name: fmt.Sprint(i)})
				}
				b.mu.Lock()
				b.heads[own][id]++
				b.mu.Unlock()
			}
		})
	}
	return &all
}

func (b *books) count(account string) (n int) {
	for _, head := range b.heads[account] {
		n += int(head)
	}
	return n
}

// delayed is a log whose reads take longer, so that its followers are behind positions
// that another hub has sent.
type delayed struct{ facts.Log }

func (d delayed) Read(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error) {
	time.Sleep(15 * time.Millisecond)
	return d.Log.Read(ctx, topic, partition, from, maxBytes, wait)
}

// TestEveryJoinIsExact: under load, clients open feeds from the beginning or from now,
// leave after a random number of facts, and resume from a random position that they got,
// at the same hub or at one whose followers are behind.
// The union of what each got up to that position and after it has every fact of its
// account once, in the order of its stream.
func TestEveryJoinIsExact(t *testing.T) {
	t.Parallel()
	const accounts, clients = 3, 24
	w := testworld.New(t)
	hubs := []*feed.Hub{
		running(t, newHub(t, w)),
		running(t, newHub(t, w, func(c *feed.Config) { c.Live = facts.NewReader(delayed{w.EventLog}, w.Watcher) })),
	}
	begin := time.Now()
	var b books
	written := b.write(t, w, accounts, 12, 1800)
	done := make(chan struct{})
	go func() { written.Wait(); close(done) }()
	var all sync.WaitGroup
	joins := make([]int, clients)
	readers := make([]*client, clients)
	for n := range clients {
		c := &client{t: t, query: of(account(n % accounts))}
		readers[n] = c
		all.Go(func() {
			random := rand.New(rand.NewPCG(2, uint64(n)))
			start := feed.Start{}
			if n%2 == 0 {
				start.Since = begin.Add(-time.Minute)
			}
			for over := false; !over; {
				select {
				case <-done:
					over = true // what follows has everything
				default:
				}
				joins[n]++
				over = c.visit(hubs[random.IntN(len(hubs))], start, random, over, func() int { return b.count(account(n % accounts)) })
				if len(c.all) > 0 {
					kept := len(c.all) - random.IntN(min(len(c.all), 20))
					if over {
						kept = len(c.all)
					}
					c.all = c.all[:kept]
					start = feed.Start{Position: c.all[kept-1].position}
				} else if c.first != nil {
					start = feed.Start{Position: c.first}
				}
			}
		})
	}
	testwait.Receive(t, done, "the writers")
	testwait.Group(t, &all, "the clients")
	total := 0
	for n, c := range readers {
		c.check(b.heads[account(n%accounts)], n%2 == 0)
		total += joins[n]
	}
	t.Logf("%d joins", total)
	if total < 2*clients {
		t.Errorf("the clients joined %d times, want more", total)
	}
}

// visit opens a feed and reads some facts; with over, until nothing more comes.
func (c *client) visit(h *feed.Hub, start feed.Start, random *rand.Rand, over bool, total func() int) bool {
	f, err := h.Open(c.t.Context(), c.query, start)
	if err != nil {
		c.t.Error(err)
		return true
	}
	defer f.Close()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Duration(20+random.IntN(200))*time.Millisecond)
	defer cancel()
	if !over {
		c.read(ctx, f, random.IntN(60))
		return false
	}
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end) && len(c.all) < total(); {
		quiet, cancel := context.WithTimeout(c.t.Context(), 500*time.Millisecond)
		before := len(c.all)
		c.read(quiet, f, total()-len(c.all))
		cancel()
		if len(c.all) == before {
			break
		}
	}
	return true
}

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
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		c.read(ctx, f, 1) // joins
		cancel()
	}
	var b books
	written := b.write(t, w, 1, 4, 200)
	if reason := fast.read(t.Context(), feeds[1], 200); reason != "" {
		t.Fatalf("the client that reads ended: %s", reason)
	}
	testwait.Group(t, written, "the writers")
	if reason := slow.read(t.Context(), feeds[0], 200); reason != feed.Slow || len(slow.all) == 0 || len(slow.all) > 60 {
		t.Fatalf("the slow client ended with %q after %d facts, want %q after what 20,000 bytes hold", reason, len(slow.all), feed.Slow)
	}
	f, err := h.Open(t.Context(), slow.query, feed.Start{Position: feeds[0].Position()})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	slow.read(t.Context(), f, 200-len(slow.all))
	for _, c := range []*client{slow, fast} {
		c.check(b.heads[account(0)], true)
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
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	c.read(short, f, 1)
	cancel()
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
