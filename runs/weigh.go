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
	Short   bool  // whether it takes a moment only
}

// shortTransfers is the most transfers of a run that is short. A core simulates as many in 0.02
// to 0.3 seconds, and they need 34 MB if all are in flight at once. It is an allToAll of 256
// ranks twice, a ring of 256 ranks, or an allReduce by halving-doubling of 4,096.
const shortTransfers = 131_072

// short reports whether a run with a number of transfers, negative if that is not known, is
// short.
func short(transfers int64) bool { return transfers >= 0 && transfers <= shortTransfers }

// weigh returns the weight of a simulation's run.
func (r *Runner) weigh(ctx context.Context, sim *projections.Simulation) (Weight, error) {
	w := Weight{Account: sim.AccountID, Study: sim.StudyID != ""}
	if sim.Simple != "" {
		if submission, err := presets.ParseSimple(sim.Simple); err == nil {
			w.Cost, w.Short = int64(collective.Ranks(submission.Groups)), short(collective.Transfers(submission.Groups))
		}
	}
	switch {
	case w.Cost > 0:
	case sim.Ranks > 0:
		w.Cost = sim.Ranks
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
