package feed_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/facts"
	pause "netsim/infra/wait"
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
		Heartbeat: 50 * time.Millisecond, Pace: time.Millisecond, Writes: 100_000, Buffer: 1 << 20, CatchUps: 4, Rate: 1_000_000, Now: time.Now, Logger: w.Logger,
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

// join reads heartbeats until every feed of the hub follows what is new.
func (c *client) join(h *feed.Hub, f *feed.Feed) {
	c.t.Helper()
	testworld.Await(c.t, func() bool {
		short, cancel := context.WithTimeout(c.t.Context(), 100*time.Millisecond)
		defer cancel()
		c.read(short, f, 1)
		return h.Report().Behind == 0
	})
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

func (b *books) total() (n int) {
	b.mu.Lock()
	accounts := slices.Collect(maps.Keys(b.heads))
	b.mu.Unlock()
	for _, account := range accounts {
		n += b.count(account)
	}
	return n
}

func (b *books) count(account string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, head := range b.heads[account] {
		n += int(head)
	}
	return n
}

// delayed is a log whose reads take longer, so that its followers are behind positions
// that another hub has sent.
type delayed struct{ facts.Log }

func (d delayed) Recall(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error) {
	if err := pause.For(ctx, 15*time.Millisecond); err != nil {
		return nil, 0, err
	}
	return d.Log.Recall(ctx, topic, partition, from, maxBytes, wait)
}

// TestEveryJoinIsExact: under load, clients open feeds from the beginning or from now,
// leave after a random number of facts, and resume from a random position that they got,
// at the same hub or at one whose followers are behind.
// The union of what each got up to that position and after it has every fact of its
// account once, in the order of its stream.
func TestEveryJoinIsExact(t *testing.T) {
	t.Parallel()
	const accounts, clients, commands = 3, 24, 1800
	w := testworld.New(t)
	hubs := []*feed.Hub{
		running(t, newHub(t, w)),
		running(t, newHub(t, w, func(c *feed.Config) { c.Live = facts.NewReader(delayed{w.EventLog}, w.Watcher) })),
	}
	begin := time.Now()
	var b books
	written := b.write(t, w, accounts, 12, commands)
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
				over = b.total() == commands // what follows has everything
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
	testwait.Group(t, written, "the writers")
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

// visit opens a feed and reads some facts; with over, all.
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
	bounded, stop := context.WithTimeout(c.t.Context(), testwait.Limit(c.t)/2) // what is lost never comes
	defer stop()
	c.read(bounded, f, total()-len(c.all))
	return true
}
