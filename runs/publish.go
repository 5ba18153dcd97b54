package runs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"netsim/commands"
	"netsim/events"
	"netsim/execution"
	"netsim/projections"
	"netsim/simulator/engine"
)

// publish closes the result files and records that they are there. A reason
// says that the run failed.
func (a *attempt) publish(ctx context.Context, reason string) (execution.End, error) {
	p := a.run.Progress()
	end, err := a.run.Close(reason)
	if err != nil {
		return end, fmt.Errorf("end %s: %w", a.sim.ID, err)
	}
	a.log.flush(ctx)
	a.files.done.Files = append(a.files.done.Files, a.files.checkpoints...)
	if err := a.files.writeJSON(execution.ReceiptName, a.receipt(end)); err != nil {
		return end, err
	}
	manifest, err := a.files.seal()
	if err != nil {
		return end, fmt.Errorf("write the manifest of %s: %w", a.sim.ID, err)
	}
	_, err = commands.Handle(ctx, a.Commands, target(&a.sim), origin(a.sim.ID, "publish", manifest), commands.PublishResults{
		Published: events.SimulationResultsPublished{
			Prefix: a.files.prefix, Manifest: manifest,
			Files: int64(len(a.files.done.Files)), Bytes: a.files.size(),
			TotalPackets: p.Packets, AvgLatencyPs: p.AvgLatency(), Partial: end.Partial(),
			Reached: recorded(&p),
		},
	})
	if err != nil {
		return end, fmt.Errorf("publish the results of %s: %w", a.sim.ID, err)
	}
	if a.every() > 0 {
		a.tidy(ctx)
	}
	return end, a.clear(ctx, a.sim.ID)
}

// clear removes what attempts have left beside the published results, and these
// as well when their simulation was deleted: its purge may have been before
// them.
func (r *Runner) clear(ctx context.Context, id string) error {
	sim, err := projections.FindSimulation(ctx, r.DB, id)
	if err != nil {
		return err
	}
	if sim.Deleted != "" {
		return r.Purge(ctx, id)
	}
	if err := errors.Join(r.dropUploads(ctx, id), r.dropFiles(ctx, id, sim.ResultsPrefix)); err != nil {
		r.Log.WarnContext(ctx, "what earlier attempts wrote is left", "simulation", id, "error", err)
	}
	return nil
}

// dropFiles removes the simulation's files that are not below the prefix of the
// published ones.
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

func (a *attempt) receipt(end execution.End) execution.Receipt {
	files := make([]execution.Result, len(a.files.done.Files))
	for i, f := range a.files.done.Files {
		files[i] = execution.Result{Name: f.Name, Hash: "sha256:" + f.SHA256, Size: f.Size}
	}
	return execution.NewReceipt(*a.in.Order, execution.Builtin, engine.Version, end, files)
}
