package runs

import (
	"context"

	"netsim/fault"
	"netsim/projections"
	"netsim/simulator/blueprint"
	"netsim/simulator/collective"
)

// Weigh tells whose the run of a simulation is, and estimates what it costs by
// its ranks, as its price does; 1 while they are not known.
func (r *Runner) Weigh(ctx context.Context, id string) (account string, cost int64, err error) {
	sim, err := projections.FindSimulation(ctx, r.DB, id)
	if err != nil {
		return "", 0, err
	}
	switch {
	case sim.Ranks > 0:
		cost = sim.Ranks
	case sim.Simple != "":
		if submission, err := blueprint.ParseSimple(sim.Simple); err == nil {
			cost = int64(collective.Ranks(submission.Groups))
		}
	case sim.TracesetID != "":
		t, err := projections.FindTraceset(ctx, r.DB, sim.TracesetID)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return "", 0, err
		}
		cost = t.RankCount
	}
	return sim.AccountID, max(cost, 1), nil
}
