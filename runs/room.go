package runs

import (
	"cmp"
	"context"
	"math"

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
}

// NewRoom returns room for a number of transfers that as many runs share.
func NewRoom(transfers, runs int) *Room {
	return &Room{semaphore.NewWeighted(int64(transfers)), int64(transfers), max(int64(transfers/runs), 1)}
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
		if err := r.Room.free.Acquire(waiting, needed); err != nil {
			return 0, nil, context.Cause(waiting)
		}
	}
	return int(min(needed, cmp.Or(int64(r.Limits.Flows), math.MaxInt))), leave, nil
}
