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
	"netsim/infra/wait"
	"netsim/projections"
	"netsim/runs/execution"
)

// follower follows one run at a remote engine, for one worker.
type follower struct {
	*Runner
	sim projections.Simulation
	run engines.Run
	log *runLog

	calls   *storeCalls
	files   *files       // the results in the object store
	summary bytes.Buffer // content of the result file summary.json

	last     engines.Status // the newest status
	lines    int64          // number of the last log entry copied
	orders   int            // how often the run was ordered again
	silent   time.Time      // first of the consecutive unusable responses; zero after a usable one
	trouble  int            // number of consecutive unusable responses
	moved    time.Time      // when simulated time last advanced
	warned   bool           // whether the current stall was logged
	reported time.Time      // when progress was last recorded
	stopping time.Time      // when the engine was first asked to stop; zero before
	covered  time.Time      // when its cost is next compared with its credit
	excess   string         // why the run fails once it has stopped; "" if it was terminated
}

// follow follows a run that a remote engine has taken, until the simulation has
// ended and its results are in the object store.
func (r *Runner) follow(ctx context.Context, sim projections.Simulation, log *runLog) (err error) {
	if r.Remote.Engines == nil {
		return fmt.Errorf("%s runs at an engine behind HTTP, and there are none in the settings", sim.ID)
	}
	calls := &storeCalls{Runner: r, simulation: sim.ID, log: log}
	ctx, span := traceRun(ctx, &sim, commands.EngineRemote)
	defer func() { endRun(span, err) }()
	f := &follower{
		Runner: r, sim: sim, run: engines.Run{BaseURL: sim.BaseURL, ID: sim.RunID}, log: log,
		moved: r.Now(), reported: r.Now(),
		calls: calls, files: calls.newFiles(ctx),
	}
	log.add(execution.Entry{Level: execution.Info, Component: execution.Provisioner, Message: "a remote engine has the run " + f.run.ID})
	pauses := wait.Doubling(min(r.Remote.Poll, longestPoll), min(16*r.Remote.Poll, longestPoll))
	for {
		over, err := f.poll(ctx)
		log.flush(ctx)
		if over || err != nil {
			return err
		}
		if f.trouble == 0 {
			pauses.Reset() // it polls less often only after unusable responses
		}
		if err := wait.For(ctx, pauses.NextBackOff()); err != nil {
			return err
		}
	}
}

// longestPoll bounds the pause before a poll.
const longestPoll = 30 * time.Second

// poll reads the state of the simulation and of its run once, and acts on it. over
// is true when nothing is left to do.
func (f *follower) poll(ctx context.Context) (over bool, err error) {
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
		f.moved, f.warned = f.Now(), false
	}
	f.last = s
	f.copyLog(ctx)
	if s.State != engines.Running {
		return f.conclude(ctx)
	}
	f.silent, f.trouble = time.Time{}, 0
	f.reportProgress(ctx)
	return f.limit(ctx)
}

// over reports whether neither the run nor its results are needed any more. It
// returns false if the simulation cannot be read.
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

// limit stops a run that was terminated, makes no progress or takes too long. It
// abandons the run if the engine does not stop within the timeout.
func (f *follower) limit(ctx context.Context) (over bool, err error) {
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
	case f.unpaid(ctx):
		f.stopping, f.excess = f.Now(), creditExhausted
	default:
		if quiet >= stall/3 && !f.warned {
			f.warned = true
			f.stalled(ctx, &f.sim, f.log, f.progress(), f.moved)
		}
		return false, nil
	}
	f.stop(ctx)
	if f.Now().Sub(f.stopping) < f.Remote.Timeout {
		return false, nil
	}
	return true, f.abandon(ctx, cmp.Or(f.excess, "the engine does not stop"))
}

// unpaid reports, when it is due, whether the run has spent its credit.
func (f *follower) unpaid(ctx context.Context) (spent bool) {
	if f.Now().Before(f.covered) {
		return false
	}
	f.covered, spent = f.Runner.covered(ctx, f.sim.ID)
	return spent
}

// stop asks the engine to stop the run. The next poll asks again.
func (f *follower) stop(ctx context.Context) {
	err := f.Remote.Engines.Terminate(ctx, f.run)
	if refusal, ok := errors.AsType[*engines.Answered](err); ok && refusal.Status/100 == 4 {
		return // the run has stopped, or the engine cannot stop it
	}
	if err != nil && ctx.Err() == nil {
		f.Log.WarnContext(ctx, "an engine could not be asked to stop", "simulation", f.sim.ID, "error", err)
	}
}

// lost orders the run again if the engine no longer knows it, for example after a
// restart. A run that was stopping is not ordered again.
func (f *follower) lost(ctx context.Context) (over bool, err error) {
	const most = 10
	f.orders++
	switch {
	case !f.stopping.IsZero():
		return true, f.abandon(ctx, cmp.Or(f.excess, "the engine has lost the run"))
	case f.orders > most:
		return true, f.abandon(ctx, fmt.Sprintf("the engine has lost the run %d times", f.orders))
	}
	run, err := f.reorder(ctx, &f.sim, f.run)
	if refused, ok := errors.AsType[*engines.Refused](err); ok {
		return true, f.abandon(ctx, refused.Reason)
	}
	if err != nil {
		return f.troubled(ctx, err)
	}
	f.run, f.lines, f.last, f.moved = run, 0, engines.Status{}, f.Now()
	f.files = f.calls.newFiles(ctx) // drops the files of the lost run
	f.note(execution.Warn, "the engine had lost the run; it was ordered again as "+run.ID)
	return false, nil
}

// troubled counts an unusable response. The run fails after a timeout without a
// usable one.
func (f *follower) troubled(ctx context.Context, err error) (over bool, _ error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	f.trouble++
	if f.silent.IsZero() {
		f.silent = f.Now()
		f.note(execution.Warn, why(err))
	}
	f.Log.WarnContext(ctx, "an engine's answer is unusable", "simulation", f.sim.ID, "error", err)
	if f.Now().Sub(f.silent) < f.Remote.Timeout {
		return false, nil
	}
	return true, f.abandon(ctx, fmt.Sprintf("for %s: %s", f.Remote.Timeout, why(err)))
}

// why returns the text of an engine's error for clients, without the engine's
// address.
func why(err error) string {
	if errors.As(err, new(*engines.Answered)) || errors.As(err, new(*engines.Garbled)) {
		return err.Error()
	}
	return "the engine does not answer"
}

// abandon fails the simulation without results. A terminated simulation stays
// terminated.
func (f *follower) abandon(ctx context.Context, reason string) error {
	if err := f.failed(ctx, reason); err != nil {
		return err
	}
	if err := f.Objects.DeletePrefix(ctx, f.files.prefix); err != nil {
		f.Log.WarnContext(ctx, "the files of an abandoned run were not removed", "simulation", f.sim.ID, "error", err)
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
	f.note(execution.Error, reason)
	return f.fail(ctx, &f.sim, events.SimulationFailed{Progress: f.progress(), Reason: reason})
}

func (f *follower) note(level execution.Level, message string) {
	f.log.add(execution.Entry{At: f.last.SimulatedTimeNs * 1000, Level: level, Component: execution.Engine, Message: message})
}

// copyLog copies the new entries of the engine's log. It ignores errors, because
// the run does not depend on its log.
func (f *follower) copyLog(ctx context.Context) {
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

// progress returns the newest progress for an event, never less than the recorded
// progress.
func (f *follower) progress() events.Progress {
	p := f.sim.Progress
	if f.last.SimulatedTimeNs > p.SimulatedTimeNs {
		p.SimulatedTimeNs, p.EventsProcessed = f.last.SimulatedTimeNs, f.last.EventsProcessed
		p.DeliveredBytes, p.FinishedRanks, p.LastCollective = f.last.DeliveredBytes, f.last.FinishedRanks, f.last.LastCollective
		p.TotalBytes, p.FinishedCollectives, p.TotalCollectives = f.last.TotalBytes, f.last.FinishedCollectives, f.last.TotalCollectives
	}
	return p
}

// reportProgress records the progress at intervals of Runner.Report.
func (f *follower) reportProgress(ctx context.Context) {
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
