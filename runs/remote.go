package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/engines"
	"netsim/projections"
	"netsim/runs/execution"
	"netsim/simulator/document"
)

// Remote has the settings for runs at remote engines.
type Remote struct {
	Engines *engines.Client // nil without remote engines
	Poll    time.Duration   // between two polls of a run
	Timeout time.Duration   // time without a usable response after which a run fails
}

// linkTTL is the lifetime of the links for an engine's inputs.
const linkTTL = time.Hour

// stage returns the reader of inputs.
func (r *Runner) stage() *Stage {
	return &Stage{DB: r.DB, Objects: r.Objects, Limits: r.Limits, Remote: r.Remote.Engines != nil && len(r.Remote.Engines.URLs()) > 0}
}

// Check is Stage.Check with the remote engines of the settings.
func (r *Runner) Check(ctx context.Context, sim *projections.Simulation) (documentHash, reason string, err error) {
	return r.stage().Check(ctx, sim)
}

// remote reports whether a simulation runs or will run at a remote engine.
func (r *Runner) remote(ctx context.Context, sim *projections.Simulation) (bool, error) {
	if sim.Engine != "" || !r.stage().Remote {
		return sim.Engine == commands.EngineRemote, nil // if the settings name no engine, the run fails and says so
	}
	v, err := projections.FindConfigurationVersion(ctx, r.DB, sim.ConfigurationID, sim.ConfigurationVersion)
	if fault.Is(err, fault.NotFound) {
		return false, nil // a simple submission whose configuration does not exist yet
	}
	if err != nil {
		return false, err
	}
	doc, err := document.Parse(v.Document)
	return err == nil && doc.Engine() == commands.EngineRemote, nil //nolint:nilerr // the run reports an unreadable document
}

// dispatch orders the run of a simulation from a remote engine, records the
// platform link, and follows the run. If the worker dies in between, the next one
// gets the same run for the same order.
func (r *Runner) dispatch(ctx context.Context, sim *projections.Simulation, o *Staged, in *execution.Inputs, log *runLog) error {
	log.begins(sim, in)
	run, err := r.order(ctx, &o.Order)
	if err != nil {
		return r.notTaken(ctx, sim, log, err)
	}
	started, _, err := r.begin(ctx, sim, events.SimulationStarted{
		Engine: commands.EngineRemote, RunID: run.ID, BaseURL: run.BaseURL, Capabilities: run.Capabilities, Ranks: int64(in.Ranks),
	})
	if err != nil {
		return err
	}
	if started.Status != commands.Running || started.RunID != run.ID || started.BaseURL != run.BaseURL {
		r.free(ctx, run) // the simulation has ended, or another worker recorded its own run
	}
	if started.Status != commands.Running {
		return nil
	}
	return r.follow(ctx, started, log)
}

// order orders a run. It adds download links to the files of the order.
func (r *Runner) order(ctx context.Context, o *execution.Order) (engines.Run, error) {
	linked := *o
	if o.Traceset != nil {
		t := *o.Traceset
		t.Files = append([]execution.File{}, t.Files...)
		for i := range t.Files {
			if err := r.link(ctx, &t.Files[i]); err != nil {
				return engines.Run{}, err
			}
		}
		linked.Traceset = &t
	}
	if o.MappingFile != nil {
		m := *o.MappingFile
		if err := r.link(ctx, &m.File); err != nil {
			return engines.Run{}, err
		}
		linked.MappingFile = &m
	}
	text, err := json.Marshal(linked)
	if err != nil {
		return engines.Run{}, fmt.Errorf("encode the order of %s: %w", o.SimulationID, err)
	}
	return r.Remote.Engines.Order(ctx, o.SimulationID, text)
}

func (r *Runner) link(ctx context.Context, f *execution.File) error {
	link, err := r.Objects.PresignGet(ctx, f.Key, "input", "application/octet-stream", linkTTL)
	f.URL = link.URL
	return err
}

// notTaken handles an error of the order: it fails a simulation that no engine will
// take, or returns an error for another attempt.
func (r *Runner) notTaken(ctx context.Context, sim *projections.Simulation, log *runLog, err error) error {
	if refused, ok := errors.AsType[*engines.Refused](err); ok {
		return r.refuse(ctx, sim, log, refused.Error())
	}
	if ctx.Err() != nil || r.Now().Sub(sim.CreatedAt) < stagingLimit {
		return fmt.Errorf("order the run of %s: %w", sim.ID, err)
	}
	r.Log.WarnContext(ctx, "no engine has taken a run", "simulation", sim.ID, "error", err)
	return r.refuse(ctx, sim, log, fmt.Sprintf("no engine took the run within %s", stagingLimit))
}

// free asks the engine to remove the run. If that fails, the engine itself removes
// the run after some time.
func (r *Runner) free(ctx context.Context, run engines.Run) {
	err := r.Remote.Engines.Free(ctx, run)
	if refusal, ok := errors.AsType[*engines.Answered](err); ok && refusal.Status == 404 {
		return
	}
	if err != nil {
		r.Log.WarnContext(ctx, "an engine did not remove a run", "run", run.ID, "error", err)
	}
}

// reorder orders a lost run again, with the same order.
func (r *Runner) reorder(ctx context.Context, sim *projections.Simulation, lost engines.Run) (engines.Run, error) {
	o, err := r.stage().Order(ctx, sim)
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Unprocessable) {
		return lost, &engines.Refused{Reason: err.Error()}
	}
	if err != nil {
		return lost, err
	}
	run, err := r.order(ctx, &o.Order)
	if err != nil {
		return lost, err
	}
	from := handle.System(sim.ID, "reorder", lost.ID, run.BaseURL, run.ID)
	_, err = handle.Command(ctx, r.Commands, target(sim), from, commands.ReorderSimulation{
		Lost: lost.ID, Reordered: events.SimulationReordered{RunID: run.ID, BaseURL: run.BaseURL, Capabilities: run.Capabilities},
	})
	if err != nil {
		return lost, fmt.Errorf("record that %s was ordered again: %w", sim.ID, err)
	}
	return run, nil
}
