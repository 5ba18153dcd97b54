package runs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/engines"
	"netsim/internal/wait"
	"netsim/projections"
	"netsim/runs/execution"
)

// follower is one worker's care for a run at a remote engine.
type follower struct {
	*Runner
	sim projections.Simulation
	run engines.Run
	log *logbook

	calls   *storeCalls
	files   *files       // the results that are here
	summary bytes.Buffer // one of them

	last     engines.Status // the newest that is known
	lines    int64          // number of the last log entry taken
	orders   int            // how often the run was ordered again
	silent   time.Time      // since when there is no usable answer; zero while there is
	trouble  int            // answers in a row that were of no use
	moved    time.Time      // when simulated time did
	told     bool           // that it does not
	reported time.Time      // when progress was
	stopping time.Time      // since when the engine is to stop; zero while it is not
	excess   string         // why the run fails when it has stopped; "" when it was terminated
}

// follow looks after a run that a remote engine has taken, until the simulation
// has ended and its results are here.
func (r *Runner) follow(ctx context.Context, sim projections.Simulation, log *logbook) error {
	if r.Remote.Engines == nil {
		return fmt.Errorf("%s runs at an engine behind HTTP, and there are none in the settings", sim.ID)
	}
	calls := &storeCalls{Runner: r, simulation: sim.ID, log: log}
	f := &follower{
		Runner: r, sim: sim, run: engines.Run{BaseURL: sim.BaseURL, ID: sim.RunID}, log: log,
		moved: r.Now(), reported: r.Now(),
		calls: calls, files: calls.newFiles(ctx),
	}
	log.add(execution.Entry{Level: execution.Info, Component: execution.Provisioner, Message: "a remote engine has the run " + f.run.ID})
	for {
		over, err := f.look(ctx)
		log.flush(ctx)
		if over || err != nil {
			return err
		}
		if err := f.pause(ctx); err != nil {
			return err
		}
	}
}

// pause waits for the next look, longer and longer while answers are of no use.
func (f *follower) pause(ctx context.Context) error {
	next := f.Remote.Poll << min(f.trouble, 4)
	return wait.For(ctx, min(next, 30*time.Second))
}

// look looks at the simulation and at its run once, and does what follows. It
// returns true when nothing is left to do.
func (f *follower) look(ctx context.Context) (over bool, err error) {
	if f.over(ctx) {
		f.stop(ctx)
		f.free(ctx, f.run)
		return true, nil
	}
	s, err := f.Remote.Engines.Status(ctx, f.run)
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case isStatus(err, http.StatusNotFound):
		return f.lost(ctx)
	case err != nil:
		return f.troubled(ctx, err)
	}
	if s.SimulatedTimeNs > f.last.SimulatedTimeNs {
		f.moved, f.told = f.Now(), false
	}
	f.last = s
	f.takeLogs(ctx)
	if s.State != engines.Running {
		return f.conclude(ctx)
	}
	f.silent, f.trouble = time.Time{}, 0
	f.tellProgress(ctx)
	return f.hurry(ctx)
}

// over reads whether the run or its results are still wanted. What cannot be
// read now is taken to be as it was.
func (f *follower) over(ctx context.Context) bool {
	sim, known := f.current(ctx, f.sim.ID)
	if !known {
		return false
	}
	f.sim = sim
	switch {
	case sim.Deleted != "":
		return true
	case sim.Status == commands.Terminated && sim.ResultsManifest == "":
		if f.stopping.IsZero() {
			f.stopping = f.Now()
		}
		return false
	}
	return sim.Status != commands.Running
}

// hurry has a run stopped that was terminated, that does not get on or that
// takes too long. An engine that does not stop in time is left to itself.
func (f *follower) hurry(ctx context.Context) (over bool, err error) {
	stall := f.Stall
	if f.last.SimulatedTimeNs == 0 {
		stall = max(stall, stagingLimit) // the engine fetches the inputs
	}
	switch quiet := f.Now().Sub(f.moved); {
	case !f.stopping.IsZero():
	case quiet >= stall:
		f.stopping, f.excess = f.Now(), noProgress(stall)
	case f.Now().Sub(*f.sim.StartedAt) > f.Limits.time():
		f.stopping, f.excess = f.Now(), f.Limits.tooLong().reason
	default:
		if quiet >= stall/3 && !f.told {
			f.told = true
			f.standsStill(ctx, &f.sim, f.log, f.progress(), f.moved)
		}
		return false, nil
	}
	f.stop(ctx)
	if f.Now().Sub(f.stopping) < f.Remote.Patience {
		return false, nil
	}
	return true, f.giveUp(ctx, cmp.Or(f.excess, "the engine does not stop"))
}

// stop asks the engine to stop the run. One that does not is asked again.
func (f *follower) stop(ctx context.Context) {
	err := f.Remote.Engines.Terminate(ctx, f.run)
	if refusal, ok := errors.AsType[*engines.Answered](err); ok && refusal.Status/100 == 4 {
		return // it has stopped, or cannot
	}
	if err != nil && ctx.Err() == nil {
		f.Log.WarnContext(ctx, "an engine was not told to stop", "simulation", f.sim.ID, "error", err)
	}
}

// lost is what follows when the engine does not know the run any more: it has
// restarted. The run is ordered again, unless it was to end.
func (f *follower) lost(ctx context.Context) (over bool, err error) {
	const most = 10
	f.orders++
	switch {
	case !f.stopping.IsZero():
		return true, f.giveUp(ctx, cmp.Or(f.excess, "the engine has lost the run"))
	case f.orders > most:
		return true, f.giveUp(ctx, fmt.Sprintf("the engine has lost the run %d times", f.orders))
	}
	run, err := f.reorder(ctx, &f.sim, f.run)
	if refused, ok := errors.AsType[*engines.Refused](err); ok {
		return true, f.giveUp(ctx, refused.Reason)
	}
	if err != nil {
		return f.troubled(ctx, err)
	}
	f.run, f.lines, f.last, f.moved = run, 0, engines.Status{}, f.Now()
	f.files = f.calls.newFiles(ctx) // those that are here are of the lost run
	f.tell(execution.Warn, "the engine had lost the run; it was ordered again as "+run.ID)
	return false, nil
}

// troubled notes an answer that is of no use. A run fails when there is no
// other for too long.
func (f *follower) troubled(ctx context.Context, err error) (over bool, _ error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	f.trouble++
	if f.silent.IsZero() {
		f.silent = f.Now()
		f.tell(execution.Warn, why(err))
	}
	f.Log.WarnContext(ctx, "an engine's answer is of no use", "simulation", f.sim.ID, "error", err)
	if f.Now().Sub(f.silent) < f.Remote.Patience {
		return false, nil
	}
	return true, f.giveUp(ctx, fmt.Sprintf("for %s: %s", f.Remote.Patience, why(err)))
}

// why is what is shown of an engine's error: not where the engine is.
func why(err error) string {
	if errors.As(err, new(*engines.Answered)) || errors.As(err, new(*engines.Garbled)) {
		return err.Error()
	}
	return "the engine does not answer"
}

// giveUp fails the simulation without results. One that was terminated stays
// without.
func (f *follower) giveUp(ctx context.Context, reason string) error {
	if err := f.failed(ctx, reason); err != nil {
		return err
	}
	if err := f.Objects.DeletePrefix(ctx, f.files.prefix); err != nil {
		f.Log.WarnContext(ctx, "files of a run without results are left", "simulation", f.sim.ID, "error", err)
	}
	f.stop(ctx)
	f.free(ctx, f.run)
	return nil
}

// failed records why the run failed, with the last finished collective.
func (f *follower) failed(ctx context.Context, reason string) error {
	if f.sim.Status != commands.Running {
		return nil
	}
	reason = execution.Failure(reason, f.last.LastCollective)
	f.tell(execution.Error, reason)
	return f.fail(ctx, &f.sim, events.SimulationFailed{Progress: f.progress(), Reason: reason})
}

func (f *follower) tell(level execution.Level, message string) {
	f.log.add(execution.Entry{At: f.last.SimulatedTimeNs * 1000, Level: level, Component: execution.Engine, Message: message})
}

// takeLogs copies what is new in the engine's log. A log is not worth a run.
func (f *follower) takeLogs(ctx context.Context) {
	for range 20 {
		entries, err := f.Remote.Engines.Logs(ctx, f.run, f.lines)
		if err != nil || len(entries) == 0 {
			return
		}
		for _, e := range entries {
			at, now := e.Time, f.Now()
			if at.IsZero() || at.After(now) {
				at = now
			}
			level := execution.Level(slices.Index([]string{"debug", "info", "warn", "error"}, e.Level))
			f.log.addAt(execution.Entry{Level: level, Component: e.Component, Message: e.Message}, at)
			f.lines = e.Number
		}
		f.log.flush(ctx)
	}
}

// progress is the newest, as events carry it: not behind what is recorded.
func (f *follower) progress() events.Progress {
	p := f.sim.Progress
	if f.last.SimulatedTimeNs > p.SimulatedTimeNs {
		p.SimulatedTimeNs, p.EventsProcessed = f.last.SimulatedTimeNs, f.last.EventsProcessed
		p.DeliveredBytes, p.FinishedRanks, p.LastCollective = f.last.DeliveredBytes, f.last.FinishedRanks, f.last.LastCollective
		p.TotalBytes, p.FinishedCollectives, p.TotalCollectives = f.last.TotalBytes, f.last.FinishedCollectives, f.last.TotalCollectives
	}
	return p
}

// tellProgress records the progress now and then.
func (f *follower) tellProgress(ctx context.Context) {
	p := f.progress()
	if f.Now().Sub(f.reported) < cmp.Or(f.Report, 5*time.Second) || p.SimulatedTimeNs <= f.sim.SimulatedTimeNs || !f.stopping.IsZero() {
		return
	}
	f.reported = f.Now()
	f.report(ctx, &f.sim, p)
}

func isStatus(err error, status int) bool {
	refusal, ok := errors.AsType[*engines.Answered](err)
	return ok && refusal.Status == status
}
