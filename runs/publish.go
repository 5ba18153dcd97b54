package runs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/projections"
	"netsim/runs/execution"
	"netsim/simulator/engine"
)

// outcome is the command that records how a run ended.
type outcome = handle.Sent[commands.Simulation]

// publish closes the result files and records them, and then the outcome, unless the
// simulation has ended already. A reason other than "" says why the run failed.
func (a *attempt) publish(ctx context.Context, reason string, with outcome) error {
	p := a.run.Progress()
	a.files.overlap()
	end, err := a.run.Close(reason)
	if err != nil {
		return fmt.Errorf("end %s: %w", a.sim.ID, err)
	}
	a.log.flush(ctx)
	if a.every() == 0 {
		a.files.snapshots = nil // the run has not asked for those at which it yielded
	}
	a.files.done.Files = append(a.files.done.Files, a.files.snapshots...)
	receipt := execution.NewReceipt(*a.in.Order, execution.Builtin, engine.Version, end, a.files.results())
	published := events.SimulationResultsPublished{
		TotalPackets: p.Packets, AvgLatencyPs: p.AvgLatency(), Partial: end.Partial(), Reached: recorded(&p),
	}
	if !end.Partial() {
		published.Figures = a.figures(&p)
	}
	outcomes := []outcome{with}
	if a.ended || reason == "" && end.Partial() {
		outcomes = nil
	}
	if a.first && a.every() == 0 && a.index == 0 { // there are no other files
		recorded, err := a.list(ctx, &a.sim, a.files, receipt, published, outcomes...)
		if err == nil && !recorded {
			err = a.clear(ctx, a.sim.ID)
		}
		return err
	}
	if _, err = a.list(ctx, &a.sim, a.files, receipt, published); err != nil {
		return err
	}
	if a.every() > 0 || a.index > 0 || a.from != "" {
		a.tidy(ctx)
	}
	if err = a.clear(ctx, a.sim.ID); err != nil || outcomes == nil {
		return err
	}
	if _, err = handle.Command(ctx, a.Commands, target(&a.sim), with.From, with.Command); err != nil {
		return fmt.Errorf("record the outcome of %s: %w", a.sim.ID, err)
	}
	return nil
}

// figures sums up whole results.
func (a *attempt) figures(p *engine.Progress) events.Figures {
	h := a.run.Headline()
	return events.Figures{
		InputHash: a.in.Order.InputHash(), EngineVersion: engine.Version,
		TimePs: p.Time, GoodputBps: p.Throughput(),
		MeanLinkPpm: h.MeanLink, BusiestTier: h.BusiestTier, Bottleneck: h.Bottleneck, BottleneckPpm: h.Share, ExposedPpm: h.Exposed,
	}
}

// list writes the receipt and the manifest, and records the files together with the
// numbers in published. Outcomes are appended behind that record, without waiting for its
// verdict. recorded is false if the files are not listed now, as of a deleted simulation.
func (r *Runner) list(ctx context.Context, sim *projections.Simulation, f *files, receipt execution.Receipt, published events.SimulationResultsPublished, outcomes ...outcome) (recorded bool, err error) {
	if err := f.writeJSON(execution.ReceiptName, receipt); err != nil {
		return false, fmt.Errorf("write the receipt of %s: %w", sim.ID, err)
	}
	manifest, err := f.seal()
	f.calls.log.flush(ctx) // which calls were made again
	if err != nil {
		return false, fmt.Errorf("write the manifest of %s: %w", sim.ID, err)
	}
	published.Prefix, published.Manifest = f.prefix, manifest
	published.Files, published.Bytes = int64(len(f.done.Files)), f.size()
	sent := append([]outcome{{From: handle.System(sim.ID, "publish", manifest), Command: commands.PublishResults{Published: published}}}, outcomes...)
	for i := range sent {
		sent[i].Values = ctx // each has its span
	}
	results, err := handle.All(ctx, r.Commands, target(sim), sent)
	if err != nil {
		return false, fmt.Errorf("publish the results of %s: %w", sim.ID, err)
	}
	return results[0].Event != nil, nil
}

// clear removes the files of other attempts. If the simulation is deleted, clear
// also removes the published results: a purge that ran before they were written
// has not removed them.
func (r *Runner) clear(ctx context.Context, id string) error {
	sim, err := projections.FindSimulation(ctx, r.DB, id)
	if err != nil {
		return err
	}
	if sim.Deleted != "" {
		return r.Purge(ctx, id)
	}
	if err := errors.Join(r.dropUploads(ctx, id), r.dropFiles(ctx, id, sim.ResultsPrefix)); err != nil {
		r.Log.WarnContext(ctx, "the files of earlier attempts were not removed", "simulation", id, "error", err)
	}
	return nil
}

// dropFiles removes the simulation's files that are not below the prefix of its
// published results.
func (r *Runner) dropFiles(ctx context.Context, id, published string) error {
	if published == "" {
		return nil
	}
	for o, err := range r.Objects.List(ctx, Prefix(id)) {
		if err == nil && !strings.HasPrefix(o.Key, published) {
			err = r.Objects.Delete(ctx, o.Key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
