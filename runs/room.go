package runs

import (
	"cmp"
	"context"
	"math"
	"sync"

	"golang.org/x/sync/semaphore"

	"netsim/projections"
	"netsim/runs/execution"
)

// Room is how many transfers all runs of a process may have in flight. It bounds their
// memory. Each run has an equal share of it, but one whose collectives start more transfers
// at once has all of it, and runs alone. Runs wait in the order in which they come, so no run
// waits for ever.
type Room struct {
	free       *semaphore.Weighted
	all, share int64

	mu      sync.Mutex
	waiting map[string]int // runs that wait, by account
}

// waits reports whether a run of another account waits.
func (r *Room) waits(account string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for other, n := range r.waiting {
		if other != account && n > 0 {
			return true
		}
	}
	return false
}

// wait adds n waiting runs of an account.
func (r *Room) wait(account string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting[account] += n; r.waiting[account] == 0 {
		delete(r.waiting, account)
	}
}

// NewRoom returns room for a number of transfers that as many runs share.
func NewRoom(transfers, runs int) *Room {
	return &Room{
		free: semaphore.NewWeighted(int64(transfers)), all: int64(transfers), share: max(int64(transfers/runs), 1), waiting: map[string]int{},
	}
}

// admission is what a run was admitted with.
type admission struct {
	most     int    // transfers that it may have in flight at once
	computed func() // says that the engine has ended, if only its time is bounded
	leave    func() // must be called at the end
}

// enter waits until the run of a simulation may begin: until the room has space for it or, if
// it is short, until a core is free. If the simulation is deleted meanwhile, the error is
// errOver.
func (r *Runner) enter(ctx context.Context, sim *projections.Simulation, in *execution.Inputs) (admission, error) {
	none := func() {}
	switch {
	case short(in.Transfers) && r.Cores != nil:
		if err := r.await(ctx, sim, r.Cores, 1); err != nil {
			return admission{}, err
		}
		leave := sync.OnceFunc(func() { r.Cores.Release(1) })
		return admission{r.Limits.flows(), leave, leave}, nil
	case r.Room == nil:
		return admission{r.Limits.flows(), none, none}, nil
	}
	needed := r.Room.share
	if in.Flows()+int64(in.Ranks) > needed {
		needed = r.Room.all
	}
	if !r.Room.free.TryAcquire(needed) {
		r.Log.InfoContext(ctx, "a simulation waits until other runs end", "simulation", sim.ID, "transfers", needed)
		r.Room.wait(sim.AccountID, 1)
		defer r.Room.wait(sim.AccountID, -1)
		if err := r.await(ctx, sim, r.Room.free, needed); err != nil {
			return admission{}, err
		}
	}
	most := int(min(needed, cmp.Or(int64(r.Limits.Flows), math.MaxInt)))
	return admission{most, none, func() { r.Room.free.Release(needed) }}, nil
}

// await takes n of what is free as soon as there are so many, unless the simulation is deleted
// first.
func (r *Runner) await(ctx context.Context, sim *projections.Simulation, free *semaphore.Weighted, n int64) error {
	if free.TryAcquire(n) {
		return nil
	}
	waiting, end := r.untilDeleted(ctx, sim.ID)
	defer end()
	if err := free.Acquire(waiting, n); err != nil {
		return context.Cause(waiting)
	}
	return nil
}
