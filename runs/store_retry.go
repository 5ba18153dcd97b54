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
	"netsim/internal/wait"
	"netsim/projections"
	"netsim/runs/execution"
)

// maxRefusals is how often a call is made that the object store refuses.
const maxRefusals = 5

// unstored is that the object store does not do what a run needs, after all
// retries. Its text is the reason for which the run fails.
type unstored struct{ reason string }

// Error implements error.
func (u unstored) Error() string { return u.reason }

// storeCalls makes the object store's calls for a run, and repeats those that
// fail: one that is refused a few times, one without a proper answer for as
// long as the store may be down. The log of the run has the first failure.
type storeCalls struct {
	*Runner
	simulation string
	log        *logbook
	repeating  atomic.Int32 // calls that wait to be repeated
}

// do makes a call. What says what goes wrong when it fails. Errors that are not
// the store's, and that something is not there, are returned as they are.
func (s *storeCalls) do(ctx context.Context, what string, call func() error) error {
	var since time.Time // the first failure
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
			s.Log.WarnContext(ctx, "the object store fails a run's call", "simulation", s.simulation, "call", what, "error", err)
		}
		switch waited := s.Now().Sub(since); {
		case refused && tries >= maxRefusals:
			return unstored{fmt.Sprintf("%s: %s, %d times", what, problem, tries)}
		case waited >= s.Patience:
			return unstored{fmt.Sprintf("%s: %s, for %s", what, problem, s.Patience)}
		}
		if err := s.wait(ctx, tries); err != nil {
			return err
		}
	}
}

// wait waits 0.1, 0.2, 0.4 … at most 15 seconds.
func (s *storeCalls) wait(ctx context.Context, tries int) error {
	s.repeating.Add(1)
	defer s.repeating.Add(-1)
	return wait.For(ctx, min(100*time.Millisecond<<min(tries-1, 10), 15*time.Second))
}

// unstored fails the run without results. Of one that has ended otherwise only
// the log says that its results are missing.
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
		a.Log.WarnContext(ctx, "files of a run without results are left", "simulation", a.sim.ID, "error", err)
	}
	return nil
}

// Abandon fails a simulation whose run has been tried in vain, without results.
// One that has ended stays as it is.
func (r *Runner) Abandon(ctx context.Context, id string) error {
	sim, err := projections.FindSimulation(ctx, r.DB, id)
	if err != nil || sim.Deleted != "" || sim.Status != commands.Provisioning && sim.Status != commands.Running {
		return err
	}
	const reason = "the run could not be carried out; every attempt ended early"
	log := &logbook{db: r.DB, simulation: id, now: r.Now, log: r.Log}
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
