package runs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/semaphore"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/objects"
	"netsim/projections"
	"netsim/runs/execution"
)

// Runner runs simulations with the built-in engine, and follows those that run at
// remote engines.
type Runner struct {
	Commands *handle.Handler
	DB       *pgxpool.Pool // the read model
	Objects  *objects.Store
	Now      func() time.Time
	Log      *slog.Logger
	Remote   Remote

	Limits Limits
	Room   *Room // that runs share; nil for no bound
	// Cores are how many short runs compute at once, apart from Room; nil for no bound.
	Cores *semaphore.Weighted

	// Yield reports whether the run with this context is to leave its worker for another
	// run; wanted says that another waits for room in this process. nil for never.
	Yield func(ctx context.Context, wanted bool) (bool, error)
	// Turn is the least time for which a run has its worker before it yields.
	Turn time.Duration
	// Cover sees to it that the credit held for a running simulation covers its cost, and
	// returns when to call it again. PaymentRequired ends the run. nil for no check.
	Cover func(ctx context.Context, simulation string) (again time.Time, err error)

	Poll   time.Duration // between two polls of the simulation's status, 0 for 200 ms
	Report time.Duration // between two progress events, 0 for 5 s
	Stall  time.Duration // wall-clock time without simulated progress that fails a run
	// StoreTimeout is how long a call is repeated if the object store does not
	// answer it properly. After that the run fails.
	StoreTimeout time.Duration

	// SnapshotEvery is the wall-clock time between the engine snapshots of a
	// simulation that asks for them, 0 for the interval that it asks for.
	SnapshotEvery time.Duration
}

// stagingLimit is how long after the request the inputs may become ready.
const stagingLimit = 10 * time.Minute

// Run runs the simulation to its end. It returns nil if there is nothing to do.
// After an error, including the context's own and ErrYielded, the caller must call Run
// again.
func (r *Runner) Run(ctx context.Context, id string) error {
	began := r.Now()
	sim, err := projections.FindSimulation(ctx, r.DB, id)
	if err != nil {
		return err
	}
	stopped := sim.Status == commands.Terminated && sim.ResultsManifest == ""
	switch {
	case sim.Deleted != "":
		return nil
	case sim.Status != commands.Provisioning && sim.Status != commands.Running && !stopped:
		return nil
	case sim.Status != commands.Provisioning && sim.Engine == "":
		return nil // no engine of this service runs it
	}
	log := &runLog{db: r.DB, simulation: id, now: r.Now, log: r.Log}
	if sim.Engine == commands.EngineRemote {
		return r.follow(ctx, sim, log)
	}
	calls := &storeCalls{Runner: r, simulation: id, log: log}
	order, in, err := r.staged(ctx, &sim, calls)
	switch {
	case errors.Is(err, errOver):
		return nil
	case err != nil:
		return r.unstaged(ctx, &sim, log, err)
	case order.Engine == commands.EngineRemote:
		return r.dispatch(ctx, &sim, order, in, log)
	}
	staged := r.Now().Sub(began)
	admitted, err := r.enter(ctx, &sim, in)
	if errors.Is(err, errOver) {
		return nil
	}
	if err != nil {
		return err
	}
	defer admitted.leave()
	log.begins(&sim, in)
	first := false
	if sim.Status == commands.Provisioning {
		sim, first, err = r.begin(ctx, &sim, events.SimulationStarted{
			Engine: commands.EngineBuiltin, RunID: events.DerivedID("run", sim.ID), Ranks: int64(in.Ranks),
		})
		if err != nil || sim.Status != commands.Running || sim.Deleted != "" {
			return err
		}
	}
	if sim.Checkpoint > 0 && !stopped {
		if err := r.resumed(ctx, &sim); err != nil {
			return err
		}
	}
	order.StartedAt = *sim.StartedAt
	a := &attempt{
		Runner: r, sim: sim, in: in, log: log, first: first, ended: stopped, admission: admitted, prepared: staged,
		files: calls.newFiles(ctx),
	}
	return a.do(ctx)
}

// staged reads the inputs of a simulation. It returns errOver if the simulation is
// deleted in the meantime.
func (r *Runner) staged(ctx context.Context, sim *projections.Simulation, calls *storeCalls) (order *Staged, in *execution.Inputs, err error) {
	staging, end := r.untilDeleted(ctx, sim.ID)
	defer end()
	err = calls.do(staging, "inputs could not be staged", func() error {
		order, in, err = r.stage().Inputs(staging, sim)
		if err != nil || order.Engine == commands.EngineRemote {
			return err
		}
		return r.Limits.read(staging, in)
	})
	if err != nil && errors.Is(context.Cause(staging), errOver) {
		err = errOver
	}
	return order, in, err
}

// unstaged fails a simulation whose inputs cannot be read, or returns an error for
// another attempt.
func (r *Runner) unstaged(ctx context.Context, sim *projections.Simulation, log *runLog, err error) error {
	reason := fmt.Sprintf("inputs could not be staged: they were not ready within %s", stagingLimit)
	switch lost, failed := errors.AsType[unstored](err); {
	case ctx.Err() != nil:
		return ctx.Err()
	case sim.Status == commands.Terminated:
		return nil // nothing is left to publish
	case failed:
		reason = lost.reason
	case errors.As(err, new(execution.Undelivered)):
		reason = err.Error()
	case fault.Is(err, fault.Unprocessable):
		reason = "inputs could not be staged: " + err.Error()
	case r.Now().Sub(sim.CreatedAt) < stagingLimit:
		return fmt.Errorf("stage the inputs of %s: %w", sim.ID, err)
	}
	r.Log.WarnContext(ctx, "the inputs of a simulation could not be staged", "simulation", sim.ID, "error", err)
	return r.refuse(ctx, sim, log, reason)
}

// refuse logs the reason and fails the simulation, without results.
func (r *Runner) refuse(ctx context.Context, sim *projections.Simulation, log *runLog, reason string) error {
	log.add(execution.Entry{Level: execution.Error, Component: execution.Provisioner, Message: reason})
	log.flush(ctx)
	return r.fail(ctx, sim, events.SimulationFailed{Progress: sim.Progress, Reason: reason})
}

// begin records that an engine has taken the run, and returns the simulation after
// that. first says that no other worker had begun it.
func (r *Runner) begin(ctx context.Context, sim *projections.Simulation, started events.SimulationStarted) (after projections.Simulation, first bool, err error) {
	result, err := handle.Command(ctx, r.Commands, target(sim), handle.System(sim.ID, "start"), commands.StartSimulation{Started: started})
	if err != nil && !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.NotFound) { // if it has ended or is deleted, the read model says so
		return *sim, false, fmt.Errorf("start %s: %w", sim.ID, err)
	}
	if result.Event != nil { // between the request and the start nothing else changes the row
		return sim.After(result.Event), true, nil
	}
	after, err = projections.FindSimulation(ctx, r.DB, sim.ID)
	return after, false, err
}

func (r *Runner) fail(ctx context.Context, sim *projections.Simulation, failed events.SimulationFailed) error {
	_, err := handle.Command(ctx, r.Commands, target(sim), handle.System(sim.ID, "fail"), commands.FailSimulation{Failed: failed})
	if err != nil {
		return fmt.Errorf("record that %s failed: %w", sim.ID, err)
	}
	return nil
}

func target(sim *projections.Simulation) handle.Target {
	return handle.Target{Stream: sim.ID, PartitionKey: sim.WorkspaceID}
}

// Purge removes the files and the log of a deleted simulation.
func (r *Runner) Purge(ctx context.Context, id string) error {
	if err := errors.Join(r.dropUploads(ctx, id), r.Objects.DeletePrefix(ctx, Prefix(id))); err != nil {
		return fmt.Errorf("purge %s: %w", id, err)
	}
	if _, err := r.DB.Exec(ctx, `DELETE FROM netsim.simulation_logs WHERE simulation_id = $1`, id); err != nil {
		return fmt.Errorf("purge the log of %s: %w", id, err)
	}
	return nil
}
