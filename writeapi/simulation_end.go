package writeapi

import (
	"context"
	"fmt"
	"time"

	"netsim/api"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/fault"
)

// TerminateSimulation implements POST /simulations/{sim_id}/terminate, by the
// table of completions.md section 5.4. The built-in engine stops because of the
// event. A remote engine is asked before the event is recorded. If the workspace
// is deleted, the worker notifies the remote engine afterwards.
func (a *API) TerminateSimulation(ctx context.Context, r api.TerminateSimulationRequestObject) (api.TerminateSimulationResponseObject, error) {
	w, err := change(ctx, "TerminateSimulation", r.SimID, r.Params.IdempotencyKey, nil)
	if err != nil {
		return nil, err
	}
	workspace, live, state, err := a.Views.AdmitTermination(ctx, r.SimID)
	if err != nil {
		return nil, err
	}
	terminate := commands.TerminateSimulation{ID: r.SimID, By: w.caller.UserID}
	if live && state.Engine == commands.EngineRemote {
		agreed, err := a.agreed(ctx, w, &state, terminate)
		if err != nil {
			return nil, err
		}
		if !agreed {
			return api.TerminateSimulation202Response{}, nil
		}
	}
	_, err = handle.Command[commands.Simulation](ctx, a.Commands, w.existing(workspace), w.origin, terminate)
	if !live {
		return stopDispatched(err)
	}
	if err != nil {
		return nil, err
	}
	s, err := a.Views.Simulation(ctx, r.SimID)
	if err != nil {
		return nil, err
	}
	return api.TerminateSimulation200JSONResponse(s), nil
}

// Termination terminates a simulation of any account for an operator.
type Termination struct{ API *API }

// Check refuses what Run would refuse.
func (t Termination) Check(ctx context.Context, id string) error {
	_, _, state, err := t.API.Views.OperateTermination(ctx, id)
	if err == nil {
		_, err = commands.TerminateSimulation{ID: id}.Decide(&state, time.Time{})
	}
	return err
}

// Run terminates the simulation as its owner does, and reports whether its engine agreed.
// Repeating it with the same origin does nothing.
func (t Termination) Run(ctx context.Context, id string, from handle.Origin) (agreed bool, err error) {
	a, w := t.API, write{stream: id, origin: from}
	workspace, live, state, err := a.Views.OperateTermination(ctx, id)
	if err != nil {
		return false, err
	}
	terminate := commands.TerminateSimulation{ID: id, By: from.Actor}
	if live && state.Engine == commands.EngineRemote {
		if agreed, err := a.agreed(ctx, w, &state, terminate); err != nil || !agreed {
			return false, err
		}
	}
	_, err = handle.Command[commands.Simulation](ctx, a.Commands, w.existing(workspace), w.origin, terminate)
	return err == nil, err
}

// agreed asks the remote engine to stop a run, and reports whether the engine
// agreed. If the command has run before or would be refused, agreed reports true
// without asking.
func (a *API) agreed(ctx context.Context, w write, s *commands.Simulation, terminate commands.TerminateSimulation) (bool, error) {
	done, err := a.repeated(ctx, w)
	if err != nil || done {
		return done, err
	}
	if _, err := terminate.Decide(s, time.Time{}); err != nil {
		return true, nil //nolint:nilerr // the command returns the refusal
	}
	status, err := a.Engines.TerminateRun(ctx, s.BaseURL, s.RunID)
	if err != nil {
		return false, &fault.Fault{
			Code: fault.Unavailable, RetryAfter: time.Second, Cause: err,
			Message: fmt.Sprintf("the engine of simulation %s does not answer", terminate.ID),
		}
	}
	switch status / 100 {
	case 2:
		return true, nil
	case 4:
		return false, nil
	}
	return false, fault.New(passedOn(status), "the engine of simulation %s answers with status %d", terminate.ID, status)
}

// passedOn returns the code for an engine's HTTP status: the corresponding code if
// completions.md section 1.3 has one, otherwise BadGateway.
func passedOn(status int) fault.Code {
	switch status {
	case 500:
		return fault.Internal
	case 501:
		return fault.NotImplemented
	case 503:
		return fault.Unavailable
	case 504:
		return fault.GatewayTimeout
	}
	return fault.BadGateway
}

// stopDispatched returns the response for a simulation whose workspace is deleted:
// 202, whatever the state of the simulation.
func stopDispatched(err error) (api.TerminateSimulationResponseObject, error) {
	switch fault.CodeOf(err) {
	case fault.Conflict, fault.NotFound, fault.Validation, fault.NotImplemented:
		err = nil
	}
	if err != nil {
		return nil, err
	}
	return api.TerminateSimulation202Response{}, nil
}

// DeleteSimulation implements DELETE /simulations/{sim_id} (completions.md
// section 5.5). The files are removed in the background.
func (a *API) DeleteSimulation(ctx context.Context, r api.DeleteSimulationRequestObject) (api.DeleteSimulationResponseObject, error) {
	w, err := change(ctx, "DeleteSimulation", r.SimID, r.Params.IdempotencyKey, nil)
	if err != nil {
		return nil, err
	}
	_, err = a.once(ctx, w, func() error {
		workspace, err := a.Views.AdmitDeletion(ctx, r.SimID)
		if err != nil {
			return err
		}
		_, err = handle.Command[commands.Simulation](ctx, a.Commands, w.existing(workspace), w.origin,
			commands.DeleteSimulation{ID: r.SimID, Reason: "request"})
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.DeleteSimulation200JSONResponse{
		ID: r.SimID, Status: api.SimulationDeletionStatusDeleting,
		Message: "results, logs and checkpoints are being removed",
	}, nil
}
