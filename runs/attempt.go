package runs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/projections"
	"netsim/runs/execution"
	"netsim/simulator/engine"
	"netsim/simulator/snapshot"
)

// The causes for which an attempt stops its engine.
var (
	errTerminated = errors.New("the simulation was terminated")
	errOver       = errors.New("the simulation has ended or is deleted")
	errStalled    = errors.New("no simulated progress")
)

// attempt is one worker's run of one simulation.
type attempt struct {
	*Runner
	sim   projections.Simulation
	in    *execution.Inputs
	log   *runLog
	files *files
	first bool // this attempt has recorded the start, so no earlier one has written files
	ended bool // the simulation has ended, and only its results are missing
	admission

	run *execution.Run // nil until it has started

	stop  context.CancelCauseFunc // of the engine
	began time.Time               // when this attempt began
	ran   time.Duration           // wall-clock time of earlier attempts up to the snapshot

	from  string    // key of the snapshot from which the attempt resumed, "" for none
	index int64     // of the last snapshot that the attempt stored, 0 for none
	saved time.Time // when the last snapshot was tried, or the attempt began
	// missed counts the consecutive snapshots that could not be stored.
	missed int

	workerStopping atomic.Bool // the worker shuts down

	prepared time.Duration // that it took to stage the inputs and to start the engine
	turn     time.Time     // when the engine started
	yielding atomic.Bool   // the run is to yield
}

// do runs the simulation.
func (a *attempt) do(ctx context.Context) error {
	live, end := a.outlive(ctx)
	defer end()
	running, stop := context.WithCancelCause(live)
	defer stop(nil)
	a.files.ctx, a.stop = live, stop
	err := a.start(live)
	if err == nil {
		err = a.watched(ctx, running, stop)
	}
	if lost, ok := errors.AsType[unstored](err); ok {
		err = a.unstored(ctx, lost.reason)
	}
	return errors.Join(err, a.files.abort())
}

// watched runs the engine while watch follows the simulation, and then concludes
// the run.
func (a *attempt) watched(ctx, running context.Context, stop context.CancelCauseFunc) error {
	running, span := traceRun(running, &a.sim, commands.EngineBuiltin)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		a.watch(running, stop)
	}()
	if a.ended && a.from != "" {
		stop(errTerminated)
	}
	result, err := a.run.Run(running)
	a.computed()
	cause := context.Cause(running)
	stop(nil)
	<-watched
	endRun(span, err)
	if crash := new(execution.Panic); errors.As(err, &crash) {
		a.Log.ErrorContext(ctx, "the engine panicked", "simulation", a.sim.ID, "panic", crash.Value, "stack", crash.Stack)
	}
	return a.conclude(ctx, result, cause, err)
}

// start starts the run from a snapshot or from the beginning.
func (a *attempt) start(ctx context.Context) error {
	a.began, a.saved = a.Now(), a.Now()
	resumed, err := a.resume(ctx)
	if err != nil {
		return err
	}
	if !resumed {
		a.run, err = execution.Start(a.in, a.config(ctx, a.files))
	}
	a.turn = a.Now()
	a.prepared += a.turn.Sub(a.began)
	return err
}

// config returns the configuration of a run that writes to the files.
func (a *attempt) config(ctx context.Context, to *files) execution.Config {
	c := execution.Config{Create: to.create, Reopen: to.reopen, Log: a.log.add, MaxFlows: a.most, Progress: func() {
		if a.log.full() {
			a.log.flush(ctx)
		}
	}}
	c.Snapshot = func(save func(io.Writer) error) error {
		if err := a.exceeds(); err != nil {
			a.stop(err)
			return nil
		}
		return a.snapshot(ctx, save)
	}
	if a.ended {
		c.UpTo = max(a.sim.SimulatedTimeNs*1000, 1)
	}
	return c
}

// conclude publishes the results after the engine has ended, and records the outcome
// of the simulation.
func (a *attempt) conclude(ctx context.Context, result *engine.Result, cause, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(cause, errOver):
		return a.discard(ctx)
	case errors.Is(err, ErrYielded):
		return ErrYielded
	case errors.Is(err, snapshot.ErrRefused):
		return a.forget(ctx, err)
	case a.files.err != nil:
		return fmt.Errorf("write the results of %s: %w", a.sim.ID, a.files.err)
	case errors.As(err, new(unstored)): // a snapshot could not be stored, but the results may be
		lost, _ := errors.AsType[unstored](err)
		return a.failed(ctx, lost.reason)
	case err != nil:
		return a.failed(ctx, err.Error())
	case errors.As(cause, new(excess)):
		return a.failed(ctx, cause.Error())
	case errors.Is(cause, errStalled):
		return a.failed(ctx, noProgress(a.Stall))
	}
	p := a.run.Progress()
	if errors.Is(cause, errTerminated) {
		a.log.add(execution.Entry{At: p.Time, Level: execution.Info, Component: service, Message: "the simulation is terminated"})
	}
	return a.publish(ctx, "", outcome{From: handle.System(a.sim.ID, "complete"), Command: commands.CompleteSimulation{
		Completed: events.SimulationCompleted{Progress: recorded(&p), UnfinishedRanks: int64(len(result.Unfinished))},
	}})
}

// failed publishes the results so far, and then records the failure.
func (a *attempt) failed(ctx context.Context, reason string) error {
	p := a.run.Progress()
	reason = a.run.Failure(reason)
	return a.publish(ctx, reason, outcome{From: handle.System(a.sim.ID, "fail"), Command: commands.FailSimulation{
		Failed: events.SimulationFailed{Progress: recorded(&p), Reason: reason},
	}})
}

// recorded converts the progress for an event.
func recorded(p *engine.Progress) events.Progress {
	return events.Progress{
		SimulatedTimeNs: p.Time / 1000, EventsProcessed: p.Events,
		DeliveredBytes: p.Bytes, FinishedRanks: int64(p.Ranks), TotalBytes: p.BytesTotal,
		FinishedCollectives: int64(p.Collectives), TotalCollectives: int64(p.CollectivesTotal), LastCollective: p.LastCollective,
	}
}
