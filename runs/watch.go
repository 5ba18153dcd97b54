package runs

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"netsim/commands"
	"netsim/projections"
)

// watch looks at the simulation while the engine runs: it stops the engine of
// one that was terminated, that has ended or that does not get on, reports its
// progress and stores its log. It returns when the run is over.
func (a *attempt) watch(ctx context.Context, stop context.CancelCauseFunc) {
	poll := time.NewTicker(cmp.Or(a.Poll, 200*time.Millisecond))
	defer poll.Stop()
	moved := a.Now() // when simulated time did
	reported, at, told := moved, int64(0), false
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
		}
		if err := a.verdict(ctx); err != nil {
			stop(err)
			return
		}
		now, p := a.Now(), a.run.Progress()
		if p.Time > at {
			moved, at, told = now, p.Time, false
		}
		switch quiet := now.Sub(moved); {
		case quiet >= a.stallLimit():
			stop(errStalled)
			return
		case quiet >= a.stallLimit()/3 && !told && !a.ended:
			told = true
			a.standsStill(ctx, &a.sim, a.log, recorded(&p), moved)
		}
		a.log.flush(ctx)
		if now.Sub(reported) >= cmp.Or(a.Report, 5*time.Second) && p.Time > 0 && !a.ended {
			reported = now
			a.report(ctx, commands.ReportProgress{Progress: recorded(&p)})
		}
	}
}

// verdict reads whether the run is still wanted: nil when it is or when that
// cannot be known now.
func (a *attempt) verdict(ctx context.Context) error {
	sim, err := projections.FindSimulation(ctx, a.DB, a.sim.ID)
	switch {
	case err != nil:
		if ctx.Err() == nil {
			a.Log.WarnContext(ctx, "the status of a running simulation cannot be read", "simulation", a.sim.ID, "error", err)
		}
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

// report records the progress. What cannot be recorded now is not missed.
func (a *attempt) report(ctx context.Context, progress commands.ReportProgress) {
	if progress.Progress.SimulatedTimeNs <= a.sim.SimulatedTimeNs {
		return // a predecessor was further
	}
	from := origin(a.sim.ID, "progress", strconv.FormatInt(progress.Progress.SimulatedTimeNs, 10))
	if _, err := commands.Handle(ctx, a.Commands, target(&a.sim), from, progress); err != nil {
		a.Log.WarnContext(ctx, "progress was not recorded", "simulation", a.sim.ID, "error", fmt.Errorf("report progress: %w", err))
	}
}
