package feed

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"netsim/events"
	"netsim/fault"
	"netsim/infra/facts"
)

// Log is the log that feeds read. eventlog.Kafka implements it.
type Log interface {
	Topic(family events.Family) string
	// OffsetsAt returns, by partition, the offset of the first record that was
	// recorded at the time or later, or the end.
	OffsetsAt(ctx context.Context, topic string, at time.Time) ([]int64, error)
}

// Verdicts says up to which offset records are judged.
type Verdicts interface {
	Next(family events.Family, partition int32) int64
}

// Config has what a Hub needs.
type Config struct {
	Log        Log
	Verdicts   Verdicts
	Live       *facts.Reader // of the followers
	History    *facts.Reader // of feeds that are behind; another one, so that they do not evict what followers share
	Partitions map[events.Family]int32
	// Owners reads the owners of streams from the read model.
	Owners func(ctx context.Context, streams []string) (map[string]Owner, error)

	Heartbeat time.Duration // longest time without a message
	Pace      time.Duration // shortest time between two writes to a client, which then gets all facts since
	Writes    int           // writes a second to all clients, from which on the time between two grows
	Buffer    int           // bytes of JSON that the queue of a feed may have
	CatchUps  int           // reads of the log at a time by feeds that are behind
	Rate      int           // facts a second that these feeds read, all together
	Now       func() time.Time
	Logger    *slog.Logger
}

// maxQueued bounds the facts in the queue of a feed.
const maxQueued = 8192

// Hub has the feeds of a process. It is safe for concurrent use.
type Hub struct {
	Config
	owners  *owners
	history *pacer

	mu        sync.Mutex
	running   context.Context // nil before Run
	ended     bool
	followers map[part]*follower
	feeds     map[*Feed]bool // all that are open
	stopped   sync.WaitGroup // followers

	sent    atomic.Int64
	reasons [len(reasons)]atomic.Int64
	failed  atomic.Int64
}

// New returns a hub. Feeds can be opened once Run runs.
func New(c Config) *Hub {
	return &Hub{
		Config: c, owners: &owners{find: c.Owners}, history: newPacer(c.CatchUps, c.Rate, c.Now),
		followers: map[part]*follower{}, feeds: map[*Feed]bool{},
	}
}

// Run serves feeds until ctx ends, and then ends all of them.
func (h *Hub) Run(ctx context.Context) error {
	h.mu.Lock()
	h.running = ctx
	h.mu.Unlock()
	<-ctx.Done()
	h.mu.Lock()
	h.ended = true
	for f := range h.feeds {
		f.endLocked(Shutdown)
	}
	h.mu.Unlock()
	h.stopped.Wait()
	return nil
}

// Report has the counters of a hub.
type Report struct {
	Open, Behind int              // feeds, and those of them that read the log
	Followed     int              // partitions
	Sent         int64            // facts
	Ended        map[Reason]int64 // feeds, by reason
	Failed       int64            // reads of the log or of owners
}

// Report returns the hub's counters.
func (h *Hub) Report() Report {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := Report{Open: len(h.feeds), Followed: len(h.followers), Sent: h.sent.Load(), Failed: h.failed.Load(), Ended: map[Reason]int64{}}
	for f := range h.feeds {
		if !f.joined {
			r.Behind++
		}
	}
	for i, reason := range reasons {
		r.Ended[reason] = h.reasons[i].Load()
	}
	return r
}

// join subscribes the feed to the followers of its partitions. From the offsets that it
// returns on, the feed's queue gets every fact.
func (h *Hub) join(f *Feed) (from []int64, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return nil, errEnding()
	}
	from = make([]int64, len(f.parts))
	for i, at := range f.parts {
		one := h.followers[at]
		if one == nil {
			one = h.followLocked(at)
		}
		one.addLocked(f)
		from[i] = one.next
	}
	f.joined = true
	return from, nil
}

// leave removes the feed. It may be called twice.
func (h *Hub) leave(f *Feed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.feeds[f] {
		return
	}
	delete(h.feeds, f)
	f.queue = nil
	if !f.joined {
		return
	}
	for _, at := range f.parts {
		if one := h.followers[at]; one.removeLocked(f) {
			one.stop()
			delete(h.followers, at)
		}
	}
}

// errEnding refuses a feed while the service shuts down.
func errEnding() error {
	return &fault.Fault{Code: fault.Unavailable, Message: "the service is shutting down; repeat the request", RetryAfter: time.Second}
}
