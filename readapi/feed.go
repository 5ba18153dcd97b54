package readapi

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"netsim/internal/wait"
	"netsim/projections"
)

// Feed wakes the followers of simulations when there are new events for them.
// After each change of the read model it polls the histories for all followers
// with one query, at most once per pollInterval.
type Feed struct {
	DB      projections.Reader
	Changes func() (changed <-chan struct{}, stop func()) // notifies that the read model has changed
	Log     *slog.Logger

	mu        sync.Mutex
	followers map[string]map[*follower]bool // by simulation
	ended     bool
}

const (
	pollInterval = 50 * time.Millisecond
	pollTimeout  = 5 * time.Second
	pollRetry    = time.Second // after a failed poll
)

// follower is a client that follows a simulation.
type follower struct {
	feed       *Feed
	simulation string
	seen       int64         // sequence of the last moment that it has read
	wake       chan struct{} // buffered, 1; closed when the follower leaves or is ended
	gone       bool          // whether it left or was ended
}

// Run wakes followers until ctx ends, and then ends all of them.
func (f *Feed) Run(ctx context.Context) error {
	changed, stop := f.Changes()
	defer stop()
	defer f.end()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
		for f.poll(ctx) != nil {
			if wait.For(ctx, pollRetry) != nil {
				return nil
			}
		}
		if wait.For(ctx, pollInterval) != nil {
			return nil
		}
	}
}

// poll wakes the followers that have not seen the last moment of their
// simulation, and ends those whose simulation or its workspace is deleted.
func (f *Feed) poll(ctx context.Context) error {
	f.mu.Lock()
	simulations := slices.Collect(maps.Keys(f.followers))
	f.mu.Unlock()
	if len(simulations) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	followed, err := projections.Follow(ctx, f.DB, simulations)
	if err != nil {
		if ctx.Err() == nil {
			f.Log.WarnContext(ctx, "the histories of simulations cannot be read", "error", err)
		}
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range followed {
		for one := range f.followers[s.Simulation] {
			if s.Gone {
				one.endLocked()
			} else if s.Last > one.seen {
				one.wakeLocked()
			}
		}
	}
	return nil
}

// follow adds a follower of a simulation. The follower has read the moments up to
// the sequence number seen. follow returns Unavailable when the feed has ended.
func (f *Feed) follow(simulation string, seen int64) (*follower, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return nil, errEnding()
	}
	if f.followers == nil {
		f.followers = map[string]map[*follower]bool{}
	}
	if f.followers[simulation] == nil {
		f.followers[simulation] = map[*follower]bool{}
	}
	one := &follower{feed: f, simulation: simulation, seen: seen, wake: make(chan struct{}, 1)}
	f.followers[simulation][one] = true
	return one, nil
}

// Open returns the number of followers.
func (f *Feed) Open() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, simulation := range f.followers {
		n += len(simulation)
	}
	return n
}

// saw records the last moment that the follower has read. With more, the follower
// is woken to read again.
func (one *follower) saw(seen int64, more bool) {
	one.feed.mu.Lock()
	defer one.feed.mu.Unlock()
	one.seen = seen
	if more {
		one.wakeLocked()
	}
}

// leave removes the follower. It may be called twice.
func (one *follower) leave() {
	one.feed.mu.Lock()
	defer one.feed.mu.Unlock()
	one.endLocked()
}

func (one *follower) wakeLocked() {
	if one.gone {
		return
	}
	select {
	case one.wake <- struct{}{}:
	default: // it is already awake
	}
}

func (one *follower) endLocked() {
	if one.gone {
		return
	}
	one.gone = true
	close(one.wake)
	others := one.feed.followers[one.simulation]
	if delete(others, one); len(others) == 0 {
		delete(one.feed.followers, one.simulation)
	}
}

// end ends all followers and refuses new ones.
func (f *Feed) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	for _, simulation := range f.followers {
		for one := range simulation {
			one.endLocked()
		}
	}
}
