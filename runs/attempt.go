package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"netsim/commands"
	"netsim/events"
	"netsim/projections"
	"netsim/simulator/engine"
	"netsim/simulator/results"
	"netsim/simulator/units"
)

// Why an attempt ends before its engine does.
var (
	errTerminated = errors.New("the simulation was terminated")
	errOver       = errors.New("the simulation has ended or is deleted")
	errStalled    = errors.New("no simulated progress")
)

// maxTransfers bounds the rows of the per-transfer record, about 1 GB; what is
// left out is counted in summary.json.
const maxTransfers = 5_000_000

// attempt is one worker's run of one simulation.
type attempt struct {
	*Runner
	sim   projections.Simulation
	in    *Inputs
	log   *logbook
	files *files
	ended bool // the simulation is final already: only its results are missing

	mu     sync.Mutex
	latest engine.Progress
}

func newAttempt(ctx context.Context, r *Runner, sim projections.Simulation, in *Inputs, log *logbook) *attempt {
	in.Options.MaxFlows = r.MaxFlows
	in.Options.MaxReports = results.MaxReports(in.Fabric)
	in.Options.ProgressEvents = 4096 // a few milliseconds: how soon a stop is noticed
	return &attempt{
		Runner: r, sim: sim, in: in, log: log,
		files: &files{ctx: ctx, store: r.Objects, prefix: Prefix(sim.ID) + events.NewID("attempt") + "/"},
	}
}

// upTo has a terminated simulation run again as far as it was known to be.
func (a *attempt) upTo(ns int64) {
	a.ended = true
	a.in.Options.Limit = max(min(a.in.Options.Limit, ns*1000), 1)
}

func (a *attempt) run(ctx context.Context) error {
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		a.watch(running, stop)
	}()
	recorder, result, err := a.simulate(running)
	cause := context.Cause(running)
	stop(nil)
	<-watched

	err = a.conclude(ctx, recorder, result, cause, err)
	return errors.Join(err, a.files.abort())
}

// simulate lets the engine run. The recorder is nil when there is none yet.
func (a *attempt) simulate(ctx context.Context) (recorder *results.Recorder, result *engine.Result, err error) {
	if a.log.file, err = a.files.create("run.log"); err != nil {
		return nil, nil, err
	}
	o := a.in.Options
	a.log.add(0, levelInfo, componentEngine, "engine %s %s starts with seed %d, limit %s",
		builtin, engine.Version, o.Seed, units.FormatDuration(o.Limit))
	recorder, err = results.New(results.Config{
		Simulation: a.sim.Name, Start: *a.sim.StartedAt, Fabric: a.in.Fabric, Create: a.files.create,
		MaxTransfers: maxTransfers, ScaleUp: a.in.listed(),
	})
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			a.Log.ErrorContext(ctx, "the engine panicked", "simulation", a.sim.ID, "panic", p, "stack", string(debug.Stack()))
			err = errors.New("the engine stopped unexpectedly")
		}
	}()
	result, err = engine.Run(ctx, a.in.engineInput(), a.observer(ctx, recorder))
	return recorder, result, err
}

// observer writes the result files and the log, and keeps the progress for
// whoever watches.
func (a *attempt) observer(ctx context.Context, recorder *results.Recorder) engine.Observer {
	o := recorder.Observer()
	collective, rank := o.Collective, o.Rank
	o.Collective = func(c *engine.Collective) error {
		if c.Finished {
			a.log.add(c.End, levelDebug, componentEngine, "collective %d of group %s, %s %s of %s, took %s; ideal %s",
				c.ID, cmp.Or(c.GroupName, strconv.Itoa(int(c.Group))), c.OperationType, c.Algorithm, units.FormatSize(c.DataSize),
				units.FormatDuration(c.End-c.Start), units.FormatDuration(c.Ideal))
		}
		return collective(c)
	}
	o.Rank = func(k *engine.Rank) error {
		if k.Finished {
			a.log.add(k.Time, levelDebug, componentRank, "rank %d finished, %d sends, %d receives", k.Rank, k.Sends, k.Receives)
		}
		return rank(k)
	}
	o.Progress = func(p *engine.Progress) error {
		a.mu.Lock()
		a.latest = *p
		a.mu.Unlock()
		if a.log.full() {
			a.log.flush(ctx)
		}
		return nil
	}
	return o
}

func (a *attempt) progress() engine.Progress {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.latest
}

// conclude decides what an ended engine means for the simulation.
func (a *attempt) conclude(ctx context.Context, recorder *results.Recorder, result *engine.Result, cause, err error) error {
	p := a.progress()
	if result != nil {
		p = result.Progress
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(cause, errOver):
		return a.Objects.DeletePrefix(ctx, a.files.prefix)
	case a.files.err != nil:
		return fmt.Errorf("write the results of %s: %w", a.sim.ID, a.files.err)
	case recorder == nil:
		return err
	case err != nil:
		return a.failed(ctx, recorder, nil, p, err.Error())
	case errors.Is(cause, errStalled):
		return a.failed(ctx, recorder, result, p, fmt.Sprintf("no simulated progress for %s", a.stall()))
	}
	a.note(result)
	partial := a.ended || result.End == engine.Stopped
	if err := a.publish(ctx, recorder, result, p, partial); err != nil || partial {
		return err
	}
	_, err = commands.Handle(ctx, a.Commands, target(&a.sim), origin(a.sim.ID, "complete"), commands.CompleteRun{
		Completed: events.SimulationCompleted{Progress: recorded(&p), UnfinishedRanks: int64(len(result.Unfinished))},
	})
	if err != nil {
		return fmt.Errorf("record that %s is complete: %w", a.sim.ID, err)
	}
	return nil
}

// failed publishes what there is and then records the reason, which names the
// last finished collective (completions.md 5.1).
func (a *attempt) failed(ctx context.Context, recorder *results.Recorder, result *engine.Result, p engine.Progress, reason string) error {
	if phrase := "the last finished collective is "; !strings.Contains(reason, phrase) {
		reason += "; " + phrase + cmp.Or(p.LastCollective, "none")
	}
	a.log.add(p.Time, levelError, componentEngine, "%s", reason)
	if err := a.publish(ctx, recorder, result, p, true); err != nil || a.ended {
		return err
	}
	return a.fail(ctx, &a.sim, events.SimulationFailed{Progress: recorded(&p), Reason: reason})
}

// note logs how the run ended.
func (a *attempt) note(r *engine.Result) {
	how := [...]string{"every rank finished", "simulated time reached its limit", "the run was stopped"}[r.End]
	if a.ended {
		how = "the run was stopped" // repeated as far as it had been recorded
	}
	a.log.add(r.Time, levelInfo, componentEngine, "%s: %d events, %s delivered, %s",
		how, r.Events, units.FormatSize(r.Bytes), units.FormatRate(r.Throughput()))
	if n := len(r.Unfinished); n > 0 {
		a.log.add(r.Time, levelWarn, componentEngine, "%d of %d ranks have not finished, the first is rank %d",
			n, r.RanksTotal, r.Unfinished[0])
	}
}

// recorded is the progress as events carry it.
func recorded(p *engine.Progress) events.Progress {
	return events.Progress{
		SimulatedTimeNs: p.Time / 1000, EventsProcessed: p.Events,
		DeliveredBytes: p.Bytes, FinishedRanks: int64(p.Ranks),
	}
}
