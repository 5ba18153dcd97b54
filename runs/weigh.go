package runs

import (
	"context"

	"netsim/fault"
	"netsim/projections"
	"netsim/simulator/collective"
	"netsim/simulator/presets"
)

// Weigh returns the account of a simulation, the weight of its run in the job queue,
// which is its number of ranks or 1 while that is unknown, and whether it is of a study.
func (r *Runner) Weigh(ctx context.Context, id string) (account string, cost int64, study bool, err error) {
	sim, err := projections.FindSimulation(ctx, r.DB, id)
	if err != nil {
		return "", 0, false, err
	}
	switch {
	case sim.Ranks > 0:
		cost = sim.Ranks
	case sim.Simple != "":
		if submission, err := presets.ParseSimple(sim.Simple); err == nil {
			cost = int64(collective.Ranks(submission.Groups))
		}
	case sim.TracesetID != "":
		t, err := projections.FindTraceset(ctx, r.DB, sim.TracesetID)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return "", 0, false, err
		}
		cost = t.RankCount
	}
	return sim.AccountID, max(cost, 1), sim.StudyID != "", nil
}
