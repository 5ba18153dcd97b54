package runs

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/projections"
)

// ErrYielded is the error of a run that has left its worker to another run. It continues
// from its snapshot.
var ErrYielded = errors.New("the run has yielded its worker")

const (
	// turnShare times the time that it took to prepare the attempt is the least time before
	// it yields, so that a run loses at most a fifth of its time to yields.
	turnShare = 4
	// askEvery is the longest time between two questions whether the run is to yield.
	askEvery = time.Second
)

// yields asks, once the run has had its turn, whether it is to yield.
func (a *attempt) yields(ctx context.Context) bool {
	if a.Yield == nil || a.ended || a.Now().Sub(a.turn) < max(a.Turn, turnShare*a.prepared) {
		return false
	}
	if held := a.Commands.Held; held != nil && held(events.SimulationYielded{}.EventType()) {
		return false // processes of the previous release would bill the time for which it waits
	}
	yields, err := a.Yield(ctx, a.Room != nil && a.Room.waits(a.sim.AccountID))
	if err != nil && ctx.Err() == nil {
		a.Log.WarnContext(ctx, "it is not known whether other runs wait", "simulation", a.sim.ID, "error", err)
	}
	return yields
}

// leave records that the run has yielded and returns ErrYielded, after its snapshot was
// stored. If it was not, or the event is not recorded, the run goes on, and is asked again.
func (a *attempt) leave(ctx context.Context, err error) error {
	if err == nil {
		p := a.run.Progress()
		_, err = handle.Command(ctx, a.Commands, target(&a.sim), handle.System(a.sim.ID, "yield", strconv.FormatInt(a.index, 10)),
			commands.YieldSimulation{Yielded: events.SimulationYielded{Progress: recorded(&p)}})
	}
	if err == nil {
		return ErrYielded
	}
	a.Log.WarnContext(ctx, "a run could not yield its worker", "simulation", a.sim.ID, "error", err)
	a.yielding.Store(false)
	return nil
}

// resumed records that a worker continues a run that had yielded.
func (r *Runner) resumed(ctx context.Context, sim *projections.Simulation) error {
	from := handle.System(sim.ID, "resume", strconv.FormatInt(sim.Checkpoint, 10))
	if _, err := handle.Command(ctx, r.Commands, target(sim), from, commands.ResumeSimulation{}); err != nil {
		return fmt.Errorf("resume %s: %w", sim.ID, err)
	}
	return nil
}
