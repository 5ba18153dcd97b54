package runs

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/engines"
	"netsim/infra/objects"
	"netsim/infra/wait"
	"netsim/projections"
	"netsim/runs/execution"
)

// maxRefusals is how often a call is tried if the object store refuses it.
const maxRefusals = 5

// unstored is the error of a call to the object store that failed after all
// retries. Its text is the reason why the run fails.
type unstored struct{ reason string }

// Error implements error.
func (u unstored) Error() string { return u.reason }

// storeCalls makes the calls of a run to the object store, and repeats failed ones.
// It tries up to maxRefusals times if the store refuses the call, and for
// Runner.StoreTimeout if the store does not answer properly. It adds the first failure
// of a call to the run log.
type storeCalls struct {
	*Runner
	simulation string
	log        *runLog
	repeating  atomic.Int32 // calls that wait to be repeated
}

// do makes a call. what describes its failure. After NotFound, and after errors that
// are not the store's, the call is not repeated and the error is returned unchanged.
func (s *storeCalls) do(ctx context.Context, what string, call func() error) error {
	var since time.Time // the first failure
	pauses := wait.Doubling(100*time.Millisecond, 15*time.Second)
	for tries := 1; ; tries++ {
		err := call()
		if err == nil || ctx.Err() != nil || !objects.Failed(err) || fault.Is(err, fault.NotFound) {
			return err
		}
		code, refused := objects.Refused(err)
		problem := "the object store does not answer as it should"
		if refused {
			problem = "the object store refuses it (" + code + ")"
		}
		if since.IsZero() {
			since = s.Now()
			s.log.add(execution.Entry{Level: execution.Warn, Component: service, Message: what + ": " + problem + "; it is tried again"})
			s.Log.WarnContext(ctx, "a call to the object store failed", "simulation", s.simulation, "call", what, "error", err)
		}
		switch waited := s.Now().Sub(since); {
		case refused && tries >= maxRefusals:
			return unstored{fmt.Sprintf("%s: %s, %d times", what, problem, tries)}
		case waited >= s.StoreTimeout:
			return unstored{fmt.Sprintf("%s: %s, for %s", what, problem, s.StoreTimeout)}
		}
		if err := s.wait(ctx, pauses.NextBackOff()); err != nil {
			return err
		}
	}
}

// wait waits before the next try.
func (s *storeCalls) wait(ctx context.Context, pause time.Duration) error {
	s.repeating.Add(1)
	defer s.repeating.Add(-1)
	return wait.For(ctx, pause)
}

// unstored fails the run without results. If the simulation has already ended, only
// its log says that the results are missing.
func (a *attempt) unstored(ctx context.Context, reason string) error {
	reached := a.sim.Progress
	if a.run != nil {
		p := a.run.Progress()
		reached, reason = recorded(&p), a.run.Failure(reason)
	}
	a.log.add(execution.Entry{At: reached.SimulatedTimeNs * 1000, Level: execution.Error, Component: service, Message: reason})
	a.log.flush(ctx)
	if !a.ended {
		if err := a.fail(ctx, &a.sim, events.SimulationFailed{Progress: reached, Reason: reason}); err != nil {
			return err
		}
	}
	if err := a.discard(ctx); err != nil {
		a.Log.WarnContext(ctx, "the files of an abandoned run were not removed", "simulation", a.sim.ID, "error", err)
	}
	return nil
}

// Abandon fails a simulation without results, after all attempts at its run have
// failed. It does nothing if the simulation has ended.
func (r *Runner) Abandon(ctx context.Context, id string) error {
	sim, err := projections.FindSimulation(ctx, r.DB, id)
	if err != nil || sim.Deleted != "" || sim.Status != commands.Provisioning && sim.Status != commands.Running {
		return err
	}
	const reason = "the run could not be carried out; every attempt ended early"
	log := &runLog{db: r.DB, simulation: id, now: r.Now, log: r.Log}
	if err := log.append(ctx); err != nil {
		return err
	}
	if err := r.refuse(ctx, &sim, log, execution.Failure(reason, sim.LastCollective)); err != nil {
		return err
	}
	if sim.Engine == commands.EngineRemote && r.Remote.Engines != nil {
		r.free(ctx, engines.Run{BaseURL: sim.BaseURL, ID: sim.RunID})
	}
	return nil
}
