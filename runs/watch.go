package runs

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/projections"
)

// watch polls the simulation while the engine runs. It stops the engine if the
// simulation was terminated, has ended or makes no progress. It also reports the
// progress and stores the log. It returns when it has stopped the engine or ctx
// ends.
func (a *attempt) watch(ctx context.Context, stop context.CancelCauseFunc) {
	poll := time.NewTicker(cmp.Or(a.Poll, 200*time.Millisecond))
	defer poll.Stop()
	moved := a.Now() // when simulated time last advanced
	reported, at, warned := moved, int64(0), false
	asked, covered := a.turn, a.turn.Add(firstCover)
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
		}
		if err := a.wanted(ctx); err != nil {
			stop(err)
			return
		}
		now, p := a.Now(), a.run.Progress()
		if p.Time > at || a.files.calls.repeating.Load() > 0 { // waiting for the object store is not a stall
			moved, at, warned = now, p.Time, false
		}
		switch quiet := now.Sub(moved); {
		case quiet >= a.Stall:
			stop(errStalled)
			return
		case quiet >= a.Stall/3 && !warned && !a.ended:
			warned = true
			a.stalled(ctx, &a.sim, a.log, recorded(&p), moved)
		}
		if !a.ended && !now.Before(covered) {
			var spent bool
			if covered, spent = a.covered(ctx, a.sim.ID); spent {
				stop(excess{creditExhausted})
				return
			}
		}
		if !a.yielding.Load() && now.Sub(asked) >= min(askEvery, a.Turn) {
			asked = now
			a.yielding.Store(a.yields(ctx))
		}
		a.log.flush(ctx)
		reached := recorded(&p)
		if now.Sub(reported) >= cmp.Or(a.Report, 5*time.Second) && reached.SimulatedTimeNs > a.sim.SimulatedTimeNs && !a.ended {
			reported = now
			a.report(ctx, &a.sim, reached)
		}
	}
}

// untilDeleted returns a context that ends with errOver when the simulation is
// deleted. The caller must call end.
func (r *Runner) untilDeleted(ctx context.Context, id string) (_ context.Context, end func()) {
	staging, stop := context.WithCancelCause(ctx)
	go func() {
		poll := time.NewTicker(cmp.Or(r.Poll, 200*time.Millisecond))
		defer poll.Stop()
		for {
			select {
			case <-staging.Done():
				return
			case <-poll.C:
			}
			if sim, known := r.current(staging, id); known && sim.Deleted != "" {
				stop(errOver)
			}
		}
	}()
	return staging, func() { stop(nil) }
}

// wanted returns the reason why the run is no longer needed. It returns nil if the
// run is needed or the simulation cannot be read.
func (a *attempt) wanted(ctx context.Context) error {
	sim, known := a.current(ctx, a.sim.ID)
	switch {
	case !known:
		return nil
	case sim.Deleted != "":
		return errOver
	case a.ended || sim.Status == commands.Running:
		return nil
	case sim.Status == commands.Terminated:
		return errTerminated
	}
	return errOver
}

// current reads a simulation; known is false if it cannot be read.
func (r *Runner) current(ctx context.Context, id string) (sim projections.Simulation, known bool) {
	sim, err := projections.FindSimulation(ctx, r.DB, id)
	if err != nil && ctx.Err() == nil {
		r.Log.WarnContext(ctx, "the status of a running simulation cannot be read", "simulation", id, "error", err)
	}
	return sim, err == nil
}

// report records the progress. An error is only logged, because the next report
// includes this progress.
func (r *Runner) report(ctx context.Context, sim *projections.Simulation, p events.Progress) {
	from := handle.System(sim.ID, "progress", strconv.FormatInt(p.SimulatedTimeNs, 10))
	if _, err := handle.Command(ctx, r.Commands, target(sim), from, commands.ReportProgress{Progress: p}); err != nil {
		r.Log.WarnContext(ctx, "progress was not recorded", "simulation", sim.ID, "error", err)
	}
}
