package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/engines"
	"netsim/runs/execution"
	"netsim/simulator/results"
)

// summaryName is the name of the result file whose numbers the service shows.
const summaryName = "summary.json"

// maxSummary is the size of the largest summary that is read, in bytes.
const maxSummary = 1 << 20

// conclude fetches the results of a run that has ended, and records how it ended.
// After an error of the engine the next poll tries again.
func (f *follower) conclude(ctx context.Context) (over bool, err error) {
	order, err := f.stage().Order(ctx, &f.sim) // for the receipt
	switch {
	case fault.Is(err, fault.NotFound), fault.Is(err, fault.Unprocessable):
		return true, f.abandon(ctx, err.Error())
	case err != nil:
		return false, err
	}
	about, err := f.fetch(ctx)
	var lost unstored
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.As(err, &lost):
		return true, f.abandon(ctx, lost.reason)
	case f.files.err != nil:
		return false, fmt.Errorf("write the results of %s: %w", f.sim.ID, f.files.err)
	case errors.As(err, new(excess)):
		return true, f.abandon(ctx, err.Error())
	case isStatus(err, http.StatusNotFound):
		return f.lost(ctx)
	case err != nil:
		return f.troubled(ctx, err)
	}
	if err := f.publish(ctx, order, about); errors.As(err, &lost) {
		return true, f.abandon(ctx, lost.reason)
	} else if err != nil {
		return false, err
	}
	if err := f.record(ctx); err != nil {
		return false, err
	}
	f.free(ctx, f.run)
	return true, nil
}

// fetch copies the missing result files into the object store.
func (f *follower) fetch(ctx context.Context) (about engines.About, err error) {
	if about, err = f.Remote.Engines.Describe(ctx, f.run.BaseURL); err != nil {
		return about, err
	}
	listed, err := f.Remote.Engines.Results(ctx, f.run)
	if err != nil {
		return about, err
	}
	left := f.Limits.results()
	for _, file := range listed {
		if file.Size > left {
			return about, f.Limits.tooMuch()
		}
		left -= file.Size
	}
	for _, file := range listed {
		fetched := slices.ContainsFunc(f.files.done.Files, func(d File) bool { return d.Name == file.Name })
		if fetched || file.Name == execution.ReceiptName || file.Name == ManifestName { // the service writes its own
			continue
		}
		if err := f.download(ctx, file); err != nil {
			return about, errors.Join(err, f.files.abort())
		}
	}
	return about, nil
}

// download stores one file. It also keeps the summary in memory.
func (f *follower) download(ctx context.Context, file engines.File) error {
	w, err := f.files.create(file.Name)
	if err != nil {
		return err
	}
	var to io.Writer = w
	if file.Name == summaryName && file.Size <= maxSummary {
		f.summary.Reset()
		to = io.MultiWriter(w, &f.summary)
	}
	if err := f.Remote.Engines.Download(ctx, f.run, file, to); err != nil {
		return err
	}
	return w.Close()
}

// publish publishes the files in the object store.
func (f *follower) publish(ctx context.Context, order *Staged, about engines.About) error {
	var summary results.Summary
	_ = json.Unmarshal(f.summary.Bytes(), &summary) // the summary of another engine may have another form and is ignored
	end := f.end()
	receipt := execution.NewReceipt(order.Order, about.Engine, about.Version, end, f.files.results())
	_, err := f.list(ctx, &f.sim, f.files, receipt, events.SimulationResultsPublished{
		TotalPackets: max(summary.TotalPackets, 0), AvgLatencyPs: max(summary.AvgLatencyPs, 0),
		Partial: end.Partial(), Reached: f.progress(),
	})
	if err != nil {
		return err
	}
	return f.clear(ctx, f.sim.ID)
}

// end returns how the run ended. The engine's own end is preferred, because with it
// the run can be repeated; otherwise the end follows from the state.
func (f *follower) end() execution.End {
	states := map[string][]string{
		engines.Completed: {execution.Finished, execution.Limited}, engines.Failed: {execution.Failed}, engines.Terminated: {execution.Stopped},
	}[f.last.State]
	var reported execution.End
	if json.Unmarshal(f.last.End, &reported) == nil && slices.Contains(states, reported.State) {
		return reported
	}
	state := states[0]
	if f.last.State == engines.Completed && f.last.UnfinishedRanks > 0 {
		state = execution.Limited
	}
	return execution.End{State: state, TimePs: f.last.SimulatedTimeNs * 1000, Reason: f.last.FailureReason}
}

// record appends the final event, unless the simulation was terminated and already
// has one. A run that the engine stopped without a recorded request counts as
// terminated, because the sender of the request may have died.
func (f *follower) record(ctx context.Context) error {
	var err error
	switch {
	case f.sim.Status != commands.Running:
		return nil
	case f.excess != "":
		return f.failed(ctx, f.excess)
	case f.last.State == engines.Failed:
		reason := f.last.FailureReason
		if reason == "" {
			reason = "the engine reports a failure without a reason"
		}
		return f.failed(ctx, reason)
	case f.last.State == engines.Terminated:
		_, err = handle.Command(ctx, f.Commands, target(&f.sim), handle.System(f.sim.ID, "terminated"), commands.TerminateSimulation{
			ID: f.sim.ID, By: events.System,
		})
		if fault.Is(err, fault.NotImplemented) {
			return f.failed(ctx, "the engine stopped the run, which it says it cannot")
		}
		if fault.Is(err, fault.Conflict) {
			return nil // it was terminated in the meantime
		}
	default:
		_, err = handle.Command(ctx, f.Commands, target(&f.sim), handle.System(f.sim.ID, "complete"), commands.CompleteSimulation{
			Completed: events.SimulationCompleted{Progress: f.progress(), UnfinishedRanks: f.last.UnfinishedRanks},
		})
	}
	if err != nil {
		return fmt.Errorf("record the end of %s: %w", f.sim.ID, err)
	}
	return nil
}
