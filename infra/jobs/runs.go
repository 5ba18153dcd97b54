package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/riverqueue/river"
)

// EnqueueRun has a simulation run, unless it waits or runs already. When it
// starts is decided by what other accounts have waiting (fair.go).
func (j *Jobs) EnqueueRun(ctx context.Context, simulation string) error {
	run, options, err := j.runOf(ctx, simulation)
	if err != nil {
		return err
	}
	if _, err := j.client.Insert(ctx, run, options); err != nil {
		return fmt.Errorf("enqueue %s: %w", run.Kind(), err)
	}
	return j.shareOut(ctx, nil)
}

// runOf is the job of a simulation's run, which waits for its turn.
func (j *Jobs) runOf(ctx context.Context, simulation string) (river.JobArgs, *river.InsertOpts, error) {
	var run river.JobArgs = RunSimulation{SimulationID: simulation}
	if j.config.Elsewhere != nil {
		elsewhere, err := j.config.Elsewhere(ctx, simulation)
		if err != nil {
			return nil, nil, fmt.Errorf("ask where %s runs: %w", simulation, err)
		}
		if elsewhere {
			run = FollowSimulation{SimulationID: simulation}
		}
	}
	own := share{Cost: 1}
	if j.config.Weigh != nil {
		var err error
		if own.Account, own.Cost, err = j.config.Weigh(ctx, simulation); err != nil {
			return nil, nil, fmt.Errorf("estimate what %s costs: %w", simulation, err)
		}
	}
	metadata, err := json.Marshal(own)
	return run, &river.InsertOpts{Pending: true, Metadata: metadata}, err
}

// isRun reports whether a job of this kind is the run of a simulation.
func isRun(kind string) bool { return slices.Contains(runKinds(), kind) }

// EnqueuePurge has removed what a deleted simulation left behind, and cancels its
// run if that waits for a worker.
func (j *Jobs) EnqueuePurge(ctx context.Context, simulation string) error {
	_, err := j.pool.Exec(ctx, `
		UPDATE jobs.river_job SET state = 'cancelled', finalized_at = now()
		WHERE kind = ANY($1) AND args @> jsonb_build_object('simulationId', $2::text)
		  AND state IN ('pending', 'available', 'scheduled', 'retryable')`, runKinds(), simulation)
	if err != nil {
		return fmt.Errorf("cancel the run of %s: %w", simulation, err)
	}
	if err := j.shareOut(ctx, nil); err != nil {
		return err
	}
	return j.enqueue(ctx, PurgeSimulation{SimulationID: simulation})
}
