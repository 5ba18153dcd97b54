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

// enter waits until the room has space for the run of a simulation. It returns how many
// transfers the run may have in flight. The caller must call leave. If the simulation is
// deleted meanwhile, the error is errOver.
func (r *Runner) enter(ctx context.Context, sim *projections.Simulation, in *execution.Inputs) (most int, leave func(), err error) {
	if r.Room == nil {
		return r.Limits.flows(), func() {}, nil
	}
	needed := r.Room.share
	if in.Flows()+int64(in.Ranks) > needed {
		needed = r.Room.all
	}
	leave = func() { r.Room.free.Release(needed) }
	if !r.Room.free.TryAcquire(needed) {
		r.Log.InfoContext(ctx, "a simulation waits until other runs end", "simulation", sim.ID, "transfers", needed)
		waiting, end := r.untilDeleted(ctx, sim.ID)
		defer end()
		r.Room.wait(sim.AccountID, 1)
		defer r.Room.wait(sim.AccountID, -1)
		if err := r.Room.free.Acquire(waiting, needed); err != nil {
			return 0, nil, context.Cause(waiting)
		}
	}
	return int(min(needed, cmp.Or(int64(r.Limits.Flows), math.MaxInt))), leave, nil
}
