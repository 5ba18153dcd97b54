package studies

import (
	"context"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/projections"
)

// stopDominated terminates runs whose points can no longer be on the Pareto front of time
// and price: a completed point took less simulated time than the run has already taken, on
// a fabric that costs no more. The simulated time of a run only grows, so nothing is
// guessed. open are the unfinished runs of the study.
func (w *Worker) stopDominated(ctx context.Context, s *projections.Study, prices *Prices, open []projections.StudyRun) error {
	var longest int64
	for _, r := range open {
		longest = max(longest, timeSoFar(r))
	}
	if longest == 0 {
		return nil
	}
	completed, err := projections.PointTimes(ctx, w.DB, s.ID, longest)
	if err != nil || len(completed) == 0 {
		return err
	}
	for _, r := range open {
		dominated, err := isDominated(r, completed, prices)
		if err != nil {
			return err
		}
		if !dominated {
			continue
		}
		_, err = handle.Command(ctx, w.Commands, handle.Target{Stream: r.ID, PartitionKey: r.WorkspaceID},
			handle.System(r.ID, "dominated"), commands.TerminateSimulation{ID: r.ID, By: events.System})
		switch fault.CodeOf(err) {
		case fault.Conflict, fault.NotFound, fault.NotImplemented: // it has ended, or goes on
		default:
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// timeSoFar returns the simulated time that a running run has taken, in ps.
func timeSoFar(r projections.StudyRun) int64 {
	if r.Status != commands.Running || r.Deleted != "" {
		return 0
	}
	return r.SimulatedTimeNs * 1000
}

func isDominated(r projections.StudyRun, completed []projections.PointTime, prices *Prices) (bool, error) {
	price, err := prices.Of(int(r.StudyPoint))
	if err != nil {
		return false, err
	}
	for _, c := range completed {
		if c.TimePs >= timeSoFar(r) {
			return false, nil
		}
		other, err := prices.Of(int(c.Point))
		if err != nil {
			return false, err
		}
		if other.Price.Cmp(price.Price) <= 0 {
			return true, nil
		}
	}
	return false, nil
}
