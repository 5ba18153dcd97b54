package runs

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/projections"
	"netsim/runs/execution"
	"netsim/simulator/units"
)

// noProgress returns the reason of a run that fails after a time without progress.
func noProgress(d time.Duration) string { return fmt.Sprintf("no simulated progress for %s", d) }

// stalled logs and records since when simulated time has not advanced. It is called
// before the stall fails the run.
func (r *Runner) stalled(ctx context.Context, sim *projections.Simulation, log *runLog, p events.Progress, since time.Time) {
	since = since.UTC().Truncate(time.Millisecond)
	log.add(execution.Entry{At: p.SimulatedTimeNs * 1000, Level: execution.Warn, Component: execution.Engine, Message: fmt.Sprintf(
		"simulated time stands still at %s since %s; the last finished collective is %s",
		units.FormatDuration(p.SimulatedTimeNs*1000), since.Format(events.TimeLayout), cmp.Or(p.LastCollective, "none"))})
	from := handle.System(sim.ID, "stall", strconv.FormatInt(p.SimulatedTimeNs, 10))
	report := commands.ReportProgress{Progress: p, StalledSince: since}
	if _, err := handle.Command(ctx, r.Commands, target(sim), from, report); err != nil {
		r.Log.WarnContext(ctx, "a stall was not recorded", "simulation", sim.ID, "error", err)
	}
}
