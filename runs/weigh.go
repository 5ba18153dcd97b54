package runs

import (
	"context"

	"netsim/fault"
	"netsim/projections"
	"netsim/simulator/collective"
	"netsim/simulator/presets"
)

// Weight is what the job queue needs to know of a run.
type Weight struct {
	Account string
	Cost    int64 // its number of ranks, or 1 while that is unknown
	Study   bool  // whether it is of a study
}

// weigh returns the weight of a simulation's run.
func (r *Runner) weigh(ctx context.Context, sim *projections.Simulation) (Weight, error) {
	w := Weight{Account: sim.AccountID, Study: sim.StudyID != ""}
	switch {
	case sim.Ranks > 0:
		w.Cost = sim.Ranks
	case sim.Simple != "":
		if submission, err := presets.ParseSimple(sim.Simple); err == nil {
			w.Cost = int64(collective.Ranks(submission.Groups))
		}
	case sim.TracesetID != "":
		t, err := projections.FindTraceset(ctx, r.DB, sim.TracesetID)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return w, err
		}
		w.Cost = t.RankCount
	}
	w.Cost = max(w.Cost, 1)
	return w, nil
}
