package runs

import "context"

// RunSimulation is the job of a simulation's run.
type RunSimulation struct {
	SimulationID string `json:"simulationId"`
}

// Kind is its stored name.
func (RunSimulation) Kind() string { return "run_simulation" }

// FollowSimulation is the job of a simulation's run at a remote engine.
type FollowSimulation struct {
	SimulationID string `json:"simulationId"`
}

// Kind is its stored name.
func (FollowSimulation) Kind() string { return "follow_simulation" }

// PurgeSimulation is the job that removes what a deleted simulation left behind.
type PurgeSimulation struct {
	SimulationID string `json:"simulationId"`
}

// Kind is its stored name.
func (PurgeSimulation) Kind() string { return "purge_simulation" }

// JobAttempts is how often a run is tried before it is abandoned. A fault that
// passes, such as an event log that does not answer, has passed by then: the last
// attempts are half a minute apart.
const JobAttempts = 50

// A Job is one of this package.
type Job = interface{ Kind() string }

// JobKinds are the kinds of a run's job; a simulation has one of them.
func JobKinds() []string { return []string{RunSimulation{}.Kind(), FollowSimulation{}.Kind()} }

// Job returns the job of a simulation's run.
func (r *Runner) Job(ctx context.Context, simulation string) (Job, error) {
	remote, err := r.remote(ctx, simulation)
	if remote {
		return FollowSimulation{SimulationID: simulation}, err
	}
	return RunSimulation{SimulationID: simulation}, err
}

// Queue enqueues the jobs of simulations.
type Queue struct {
	Runner *Runner
	// Enqueue enqueues a job, unless an equal one is still to be done.
	Enqueue func(ctx context.Context, job Job) error
	// Cancel cancels jobs that wait for a worker.
	Cancel func(ctx context.Context, jobs ...Job) error
}

// EnqueueRun has a simulation run, unless it waits or runs already.
func (q *Queue) EnqueueRun(ctx context.Context, simulation string) error {
	job, err := q.Runner.Job(ctx, simulation)
	if err != nil {
		return err
	}
	return q.Enqueue(ctx, job)
}

// EnqueuePurge has removed what a deleted simulation left behind, and cancels its
// run if that waits for a worker.
func (q *Queue) EnqueuePurge(ctx context.Context, simulation string) error {
	if err := q.Cancel(ctx, RunSimulation{SimulationID: simulation}, FollowSimulation{SimulationID: simulation}); err != nil {
		return err
	}
	return q.Enqueue(ctx, PurgeSimulation{SimulationID: simulation})
}
