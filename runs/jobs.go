package runs

import (
	"context"

	"netsim/projections"
)

// RunSimulation is the job that runs a simulation with the built-in engine.
type RunSimulation struct {
	SimulationID string `json:"simulationId"`
	Weight       Weight `json:"-"` // for Enqueue
}

// Kind is its stored name.
func (RunSimulation) Kind() string { return "run_simulation" }

// FollowSimulation is the job that follows a simulation's run at a remote engine.
type FollowSimulation struct {
	SimulationID string `json:"simulationId"`
	Weight       Weight `json:"-"` // for Enqueue
}

// Kind is its stored name.
func (FollowSimulation) Kind() string { return "follow_simulation" }

// PurgeSimulation is the job that removes the files and the log of a deleted
// simulation.
type PurgeSimulation struct {
	SimulationID string `json:"simulationId"`
}

// Kind is its stored name.
func (PurgeSimulation) Kind() string { return "purge_simulation" }

// JobAttempts is the number of attempts before a run is abandoned. Together they
// outlast a transient fault, such as an event log that does not answer: the last
// attempts are half a minute apart.
const JobAttempts = 50

// Job is a job of this package.
type Job = interface{ Kind() string }

// JobKinds returns the kinds of jobs that run a simulation. A simulation has a job
// of one of them.
func JobKinds() []string { return []string{RunSimulation{}.Kind(), FollowSimulation{}.Kind()} }

// Job returns the job that runs a simulation.
func (r *Runner) Job(ctx context.Context, simulation string) (Job, error) {
	sim, err := projections.FindSimulation(ctx, r.DB, simulation)
	if err != nil {
		return nil, err
	}
	weight, err := r.weigh(ctx, &sim)
	if err != nil {
		return nil, err
	}
	remote, err := r.remote(ctx, &sim)
	if remote {
		return FollowSimulation{SimulationID: simulation, Weight: weight}, err
	}
	return RunSimulation{SimulationID: simulation, Weight: weight}, err
}

// Queue enqueues the jobs of simulations.
type Queue struct {
	Runner *Runner
	// Enqueue enqueues a job, unless an equal job waits or runs.
	Enqueue func(ctx context.Context, job Job) error
	// Cancel cancels jobs that wait for a worker.
	Cancel func(ctx context.Context, jobs ...Job) error
}

// EnqueueRun enqueues the run of a simulation, unless its job waits or runs.
func (q *Queue) EnqueueRun(ctx context.Context, simulation string) error {
	job, err := q.Runner.Job(ctx, simulation)
	if err != nil {
		return err
	}
	return q.Enqueue(ctx, job)
}

// EnqueuePurge enqueues the purge of a deleted simulation, and cancels the
// simulation's run if it waits for a worker.
func (q *Queue) EnqueuePurge(ctx context.Context, simulation string) error {
	if err := q.Cancel(ctx, RunSimulation{SimulationID: simulation}, FollowSimulation{SimulationID: simulation}); err != nil {
		return err
	}
	return q.Enqueue(ctx, PurgeSimulation{SimulationID: simulation})
}
