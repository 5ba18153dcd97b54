package readapi

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"netsim/infra/wait"
	"netsim/projections"
)

// Followers wakes the followers of simulations, or of studies, when there are new events for
// them. After each change of the read model it polls with one query for all followers, at
// most once per interval.
type Followers struct {
	DB      projections.Reader
	Changes func() (changed <-chan struct{}, stop func()) // notifies that the read model has changed
	Log     *slog.Logger
	Studies bool // whether the followers are those of studies

	mu        sync.Mutex
	followers map[string]map[*follower]bool // by what they follow
	ended     bool
}

const (
	pollInterval      = 50 * time.Millisecond
	studyPollInterval = 200 * time.Millisecond // a poll counts all runs of the studies
	pollTimeout       = 5 * time.Second
	pollRetry         = time.Second // after a failed poll
)

// follower is a client that follows a simulation or a study.
type follower struct {
	all  *Followers
	id   string        // of what it follows
	seen int64         // Last of projections.Followed when it last read
	wake chan struct{} // buffered, 1; closed when the follower leaves or is ended
	gone bool          // whether it left or was ended
}

// Run wakes followers until ctx ends, and then ends all of them.
func (f *Followers) Run(ctx context.Context) error {
	changed, stop := f.Changes()
	defer stop()
	defer f.end()
	interval := pollInterval
	if f.Studies {
		interval = studyPollInterval
	}
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
		if wait.For(ctx, interval) != nil {
			return nil
		}
	}
}

// poll wakes the followers that have not seen the last moment of their simulation, or the
// state of their study, and ends those where it or its workspace is deleted.
func (f *Followers) poll(ctx context.Context) error {
	f.mu.Lock()
	ids := slices.Collect(maps.Keys(f.followers))
	f.mu.Unlock()
	if len(ids) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	read := projections.Follow
	if f.Studies {
		read = projections.FollowStudies
	}
	followed, err := read(ctx, f.DB, ids)
	if err != nil {
		if ctx.Err() == nil {
			f.Log.WarnContext(ctx, "what clients follow cannot be read", "error", err, "studies", f.Studies)
		}
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range followed {
		for one := range f.followers[s.ID] {
			if s.Gone {
				one.endLocked()
			} else if s.Last > one.seen || f.Studies && s.Last != one.seen { // numbers of states do not ascend
				one.wakeLocked()
			}
		}
	}
	return nil
}

// follow adds a follower of a simulation or a study, which has read what has the number
// seen. follow returns Unavailable when they have ended.
func (f *Followers) follow(id string, seen int64) (*follower, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return nil, errEnding()
	}
	if f.followers == nil {
		f.followers = map[string]map[*follower]bool{}
	}
	if f.followers[id] == nil {
		f.followers[id] = map[*follower]bool{}
	}
	one := &follower{all: f, id: id, seen: seen, wake: make(chan struct{}, 1)}
	f.followers[id][one] = true
	return one, nil
}

// Open returns the number of followers.
func (f *Followers) Open() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, those := range f.followers {
		n += len(those)
	}
	return n
}

// saw records what the follower has read. With more, the follower is woken to read again.
func (one *follower) saw(seen int64, more bool) {
	one.all.mu.Lock()
	defer one.all.mu.Unlock()
	one.seen = seen
	if more {
		one.wakeLocked()
	}
}

// leave removes the follower. It may be called twice.
func (one *follower) leave() {
	one.all.mu.Lock()
	defer one.all.mu.Unlock()
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
	others := one.all.followers[one.id]
	if delete(others, one); len(others) == 0 {
		delete(one.all.followers, one.id)
	}
}

// end ends all followers and refuses new ones.
func (f *Followers) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	for _, those := range f.followers {
		for one := range those {
			one.endLocked()
		}
	}
}
