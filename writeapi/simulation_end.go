package writeapi

import (
	"context"

	"netsim/api"
	"netsim/commands"
	"netsim/fault"
)

// TerminateSimulation implements POST /simulations/{sim_id}/terminate, by the
// table of completions.md section 5.4. The built-in engine can always stop: it
// sees the event.
func (a *API) TerminateSimulation(ctx context.Context, r api.TerminateSimulationRequestObject) (api.TerminateSimulationResponseObject, error) {
	w, err := change(ctx, "TerminateSimulation", r.SimID, r.Params.IdempotencyKey, nil)
	if err != nil {
		return nil, err
	}
	workspace, live, err := a.Simulations.AdmitTermination(ctx, r.SimID)
	if err != nil {
		return nil, err
	}
	_, err = commands.Handle[commands.Simulation](ctx, a.Commands, w.existing(workspace), w.origin,
		commands.TerminateSimulation{ID: r.SimID, By: w.caller.UserID})
	if !live {
		return stopDispatched(err)
	}
	if err != nil {
		return nil, err
	}
	s, err := a.Simulations.Simulation(ctx, r.SimID)
	if err != nil {
		return nil, err
	}
	return api.TerminateSimulation200JSONResponse(s), nil
}

// stopDispatched answers for a simulation whose workspace is deleted: whatever
// its state is, there is nothing more to do and nothing to show.
func stopDispatched(err error) (api.TerminateSimulationResponseObject, error) {
	switch {
	case err == nil, fault.Is(err, fault.Conflict), fault.Is(err, fault.NotFound), fault.Is(err, fault.Validation):
		return api.TerminateSimulation202Response{}, nil
	}
	return nil, err
}

// DeleteSimulation implements DELETE /simulations/{sim_id} (completions.md
// section 5.5). The files are removed in the background.
func (a *API) DeleteSimulation(ctx context.Context, r api.DeleteSimulationRequestObject) (api.DeleteSimulationResponseObject, error) {
	w, err := change(ctx, "DeleteSimulation", r.SimID, r.Params.IdempotencyKey, nil)
	if err != nil {
		return nil, err
	}
	done, err := a.repeated(ctx, w)
	if err != nil {
		return nil, err
	}
	if !done {
		workspace, err := a.Simulations.AdmitSimulation(ctx, r.SimID)
		if err != nil {
			return nil, err
		}
		if _, err := commands.Handle[commands.Simulation](ctx, a.Commands, w.existing(workspace), w.origin,
			commands.DeleteSimulation{ID: r.SimID, Reason: "request"}); err != nil {
			return nil, err
		}
	}
	return api.DeleteSimulation200JSONResponse{
		ID: r.SimID, Status: api.SimulationDeletionStatusDeleting,
		Message: "results, logs and checkpoints are being removed",
	}, nil
}
