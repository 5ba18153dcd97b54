package writeapi

import (
	"context"
	"time"

	"netsim/api"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/simulator/units"
)

const (
	defaultCheckpointInterval = 10 * time.Minute // wall clock, completions.md section 5.2
	minCheckpointInterval     = 10 * time.Second
)

// StartSimulation implements POST /simulations (completions.md section 5.2).
func (a *API) StartSimulation(ctx context.Context, r api.StartSimulationRequestObject) (api.StartSimulationResponseObject, error) {
	w, err := create(ctx, "StartSimulation", events.SimulationPrefix, r.Params.IdempotencyKey, r.Body)
	if err != nil {
		return nil, err
	}
	requested, err := readStart(r.Body)
	if err != nil {
		return nil, err
	}
	var result handle.Result
	if _, err := a.once(ctx, w, func() (err error) { result, err = a.start(ctx, w, requested, r.Body); return err }); err != nil {
		return nil, err
	}
	var s api.Simulation
	if result.Event != nil {
		s, err = a.Views.RequestedSimulation(ctx, result.Event)
	} else {
		s, err = a.Views.Simulation(ctx, w.stream)
	}
	if err != nil {
		return nil, err
	}
	return api.StartSimulation201JSONResponse{Body: asRequested(s), Headers: api.StartSimulation201ResponseHeaders{
		Location: "/api/v1/simulations/" + s.ID,
	}}, nil
}

// asRequested returns the simulation in the state right after its request. The
// simulation may have progressed since, but a repetition must get the first
// response again.
func asRequested(s api.Simulation) api.Simulation {
	return api.Simulation{
		ID: s.ID, WorkspaceID: s.WorkspaceID,
		ConfigurationID: s.ConfigurationID, ConfigurationVersion: s.ConfigurationVersion,
		Name: s.Name, Status: api.SimulationStatusValidating, CreatedAt: s.CreatedAt,
		AppliedMappingFile: s.AppliedMappingFile,
	}
}

// readStart reads a start request, except its references to other resources.
func readStart(body *api.SimulationStart) (events.SimulationRequested, error) {
	duration, err := units.ParseDuration(body.Duration)
	if err != nil {
		return events.SimulationRequested{}, fault.New(fault.Validation, "duration %s", err)
	}
	requested := events.SimulationRequested{
		Origin: commands.OriginStart, Name: body.Name,
		DurationNs: duration.Nanoseconds(), Duration: body.Duration,
	}
	c := body.Checkpointing
	if c == nil {
		return requested, nil
	}
	interval := defaultCheckpointInterval
	if c.Interval != "" {
		if interval, err = units.ParseDuration(c.Interval); err != nil {
			return requested, fault.New(fault.Validation, "checkpointing.interval %s", err)
		}
	}
	if interval < minCheckpointInterval {
		return requested, fault.New(fault.Validation, "checkpointing.interval must be at least 10s, got '%s'", c.Interval)
	}
	requested.Checkpointing = events.Checkpointing{Enabled: c.Enabled, IntervalNs: interval.Nanoseconds()}
	return requested, nil
}

// start checks the resources that the request names, and requests the simulation.
func (a *API) start(ctx context.Context, w write, requested events.SimulationRequested, body *api.SimulationStart) (none handle.Result, err error) {
	newest, err := a.Views.AdmitConfiguration(ctx, body.ConfigurationID)
	if err != nil {
		return none, err
	}
	if body.WorkspaceID != "" && body.WorkspaceID != newest.WorkspaceID {
		if err := a.Views.AdmitWorkspace(ctx, body.WorkspaceID); err != nil {
			return none, err
		}
		return none, fault.New(fault.Validation, "workspaceId must be that of the configuration, %s, got %s", newest.WorkspaceID, body.WorkspaceID)
	}
	if newest.WorkspaceID == events.TemplateWorkspace {
		return none, inTemplateWorkspace()
	}
	version := newest
	if body.ConfigurationVersion != 0 && body.ConfigurationVersion != newest.Version {
		if version, err = a.Views.ConfigurationAt(ctx, body.ConfigurationID, body.ConfigurationVersion); err != nil {
			return none, err
		}
	}
	if version.MappingFile != "" {
		_, live, err := a.Views.MappingFile(ctx, version.MappingFile)
		if err != nil {
			return none, err
		}
		if !live {
			return none, fault.New(fault.MappingFileDeletedReference, "mapping file %s of version %d of configuration %s is deleted; detach it or attach another",
				version.MappingFile, version.Version, body.ConfigurationID)
		}
	}
	if version.Status != commands.Validated {
		return none, fault.New(fault.Unprocessable, "version %d of configuration %s is %s, not validated",
			version.Version, body.ConfigurationID, version.Status)
	}
	requested.AccountID, requested.WorkspaceID = version.AccountID, version.WorkspaceID
	requested.ConfigurationID, requested.ConfigurationVersion = body.ConfigurationID, version.Version
	requested.TracesetID, requested.MappingFileID = version.TracesetID, version.MappingFile
	requested.SandboxID = w.caller.SandboxID
	return a.request(ctx, w, requested)
}

// request checks the quotas, reserves the credit and then requests the simulation.
// If the process ends before the request, the credit is released some minutes
// later.
func (a *API) request(ctx context.Context, w write, requested events.SimulationRequested) (none handle.Result, err error) {
	if err := a.Quotas.AdmitRun(ctx, requested.AccountID); err != nil {
		return none, err
	}
	if err := a.Hold(ctx, w.stream, w.origin.CorrelationID, requested); err != nil {
		return none, err
	}
	return handle.Command[commands.Simulation](ctx, a.Commands, w.to(requested.WorkspaceID), w.origin,
		commands.RequestSimulation{Requested: requested})
}

func inTemplateWorkspace() error {
	return fault.New(fault.Validation, "the configuration is in the template workspace; clone it first")
}
