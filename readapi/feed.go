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

// Feed wakes those who follow simulations when there is something for them. It
// looks once for all of them, when the projector says that the read model has
// changed, and at most every lookEvery.
type Feed struct {
	DB      projections.Reader
	Changes func() (changed <-chan struct{}, stop func()) // says that the read model has changed
	Log     *slog.Logger

	mu        sync.Mutex
	followers map[string]map[*follower]bool // by simulation
	ended     bool
}

const (
	lookEvery   = 50 * time.Millisecond
	lookTimeout = 5 * time.Second
	lookAgain   = time.Second // after a look that failed
)

// follower is one who follows a simulation.
type follower struct {
	feed       *Feed
	simulation string
	seen       int64         // sequence of the last moment it has read
	wake       chan struct{} // has room for one; closed when the feed ends it
	gone       bool          // it has left, or was ended
}

// Run wakes followers until ctx ends, and then ends them.
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
		for f.look(ctx) != nil {
			if wait.For(ctx, lookAgain) != nil {
				return nil
			}
		}
		if wait.For(ctx, lookEvery) != nil {
			return nil
		}
	}
}

// look wakes those whose simulation has a moment that they have not seen, and
// ends those whose simulation is gone.
func (f *Feed) look(ctx context.Context) error {
	f.mu.Lock()
	simulations := slices.Collect(maps.Keys(f.followers))
	f.mu.Unlock()
	if len(simulations) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
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

// follow has somebody follow a simulation whose moments up to seen are known.
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

// Open returns how many follow a simulation.
func (f *Feed) Open() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, simulation := range f.followers {
		n += len(simulation)
	}
	return n
}

// saw notes what the follower has read, and whether there may be more.
func (one *follower) saw(seen int64, more bool) {
	one.feed.mu.Lock()
	defer one.feed.mu.Unlock()
	one.seen = seen
	if more {
		one.wakeLocked()
	}
}

// leave ends the following. It may be called again.
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
	default: // it is awake already
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

// end ends everyone, and lets nobody follow any more.
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
