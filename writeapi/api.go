// Package writeapi implements the operations that change something. A handler
// decodes the request, runs one command, and makes the response from the state that
// the command made. When the command returns, every read shows that state. The
// package uses neither SQL nor Kafka: it reads through the interfaces below.
package writeapi

import (
	"context"

	"netsim/api"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/runs/studies/plan"
	"netsim/simulator/presets"
	"netsim/simulator/validation"
)

// API implements the POST, PATCH and DELETE operations, except the preview and
// the checks that change nothing. It also implements the download and resolve
// operations of tracesets, because they record a use.
type API struct {
	Commands       *handle.Handler
	Workspaces     Workspaces
	Configurations Configurations
	Simulations    Simulations
	Studies        Studies
	Tracesets      Tracesets
	TracesetFiles  TracesetFiles
	TracesetOwners TracesetOwners
	MappingFiles   MappingFiles
	Templates      Templates
	Sessions       Sessions
	Completions    Completions
	Direct         DirectUploads
	Uploaded       Uploaded
	Engines        Engines
	Quotas         Quotas
	MaxFiles       int // of an upload
	// Hold reserves credit for a simulation before it is requested, or returns
	// PaymentRequired. Repeating it reserves nothing more.
	Hold func(ctx context.Context, simulation string, requested events.SimulationRequested) error
	// ForecastStudy returns what a study would do and cost if it started now. It changes
	// nothing.
	ForecastStudy func(ctx context.Context, started events.StudyStarted) (api.StudyForecast, error)
	// StudySources reads what a study of a configuration and its axes name.
	StudySources func(ctx context.Context, started events.StudyStarted) (*plan.Sources, error)
	// RequireCredit returns PaymentRequired if the account has no credit for simulations.
	RequireCredit func(ctx context.Context, account string) error
	// TracesetID returns the id of the account's traceset for a simple submission.
	TracesetID func(account string, submission presets.Simple) (string, error)
	// Unfold makes the traceset and the configuration of a simple submission.
	// Repeating it changes nothing.
	Unfold func(ctx context.Context, simulation string, requested events.SimulationRequested) error
}

// Quotas checks the quotas of accounts.
type Quotas interface {
	// AdmitRun returns RateLimited if another run would exceed a quota.
	AdmitRun(ctx context.Context, account string) error
	// AdmitStudy returns RateLimited if another study would exceed a quota.
	AdmitStudy(ctx context.Context, account string) error
	// AdmitUpload returns RateLimited if an upload of that size, in bytes, would
	// exceed a quota.
	AdmitUpload(ctx context.Context, account string, size int64) error
}

// View returns a resource and its entity tag as they are right after a command's
// event, so the response to a write never shows a later write. state is the write
// state after the event. The result equals a read of that version, because the same
// code makes both. Without an event, View returns the resource as it is now.
type View[V any] = func(ctx context.Context, e *events.Event, state commands.State) (V, string, error)

// Workspaces reads workspaces.
type Workspaces interface {
	// AdmitWorkspace returns NotFound unless the workspace is live and belongs to
	// the caller's account, and Forbidden unless the caller is a member. It admits
	// every caller to a built-in workspace.
	AdmitWorkspace(ctx context.Context, id string) error
	// AdmitWorkspaceDeletion is AdmitWorkspace, but also admits a workspace that is
	// being deleted.
	AdmitWorkspaceDeletion(ctx context.Context, id string) error
	// AdmitWorkspaceChange is AdmitWorkspace, and returns the view of the workspace
	// after a change.
	AdmitWorkspaceChange(ctx context.Context, id string) (View[api.Workspace], error)
	// WorkspaceView returns the view of a workspace that a command makes.
	WorkspaceView(id string) View[api.Workspace]
}

// Configurations reads configurations.
type Configurations interface {
	// AdmitConfiguration returns the newest version of a configuration. It returns
	// NotFound or Forbidden unless the caller may use it.
	AdmitConfiguration(ctx context.Context, id string) (commands.Configuration, error)
	// ConfigurationAt returns a version of the configuration, or NotFound.
	ConfigurationAt(ctx context.Context, id string, version int64) (commands.Configuration, error)
	// AdmitConfigurationChange is AdmitConfiguration, and also returns the view of the
	// configuration after a change.
	AdmitConfigurationChange(ctx context.Context, id string) (commands.Configuration, View[api.Configuration], error)
	// ConfigurationView returns the view of a configuration that a command makes.
	ConfigurationView(id string) View[api.Configuration]
}

// Simulations reads simulations.
type Simulations interface {
	// AdmitDeletion returns the workspace of a simulation. It returns NotFound or
	// Forbidden unless the caller may delete the simulation.
	AdmitDeletion(ctx context.Context, id string) (workspace string, err error)
	// AdmitTermination returns the workspace and the state of a simulation. It returns
	// NotFound or Forbidden unless the caller may terminate the simulation. live is
	// false if the workspace is deleted. The state has only what the decision needs.
	AdmitTermination(ctx context.Context, id string) (workspace string, live bool, state commands.Simulation, err error)
	// RequestedSimulation returns the simulation right after its request.
	RequestedSimulation(ctx context.Context, requested *events.Event) (api.Simulation, error)
	// Simulation returns the simulation.
	Simulation(ctx context.Context, id string) (api.Simulation, error)
}

// Studies reads studies.
type Studies interface {
	// AdmitStudyChange returns the workspace of a study, and whether runs of it have not
	// ended. It returns NotFound or Forbidden unless the caller may terminate, resume and
	// delete the study.
	AdmitStudyChange(ctx context.Context, id string) (workspace string, unfinished bool, err error)
	// StartedStudy returns the study right after its start.
	StartedStudy(started *events.Event) (api.Study, error)
	// StudyAsStarted is StartedStudy for a study that may have progressed since.
	StudyAsStarted(ctx context.Context, id string) (api.Study, error)
	// StudyAfter returns the study right after a command's event, nil for as it is now.
	StudyAfter(ctx context.Context, id string, e *events.Event) (api.Study, error)
}

// Engines calls the remote engines.
type Engines interface {
	// TerminateRun asks an engine to stop a run. It returns the HTTP status of the
	// response, or an error if there is none.
	TerminateRun(ctx context.Context, baseURL, runID string) (status int, err error)
}

// MappingFiles reads mapping files.
type MappingFiles interface {
	// AdmitMappingFile returns the workspace of a mapping file, deleted or not. It
	// returns NotFound or Forbidden unless the caller may use the file.
	AdmitMappingFile(ctx context.Context, id string) (workspace string, err error)
	// MappingFile returns the event that created a mapping file. live is false for a
	// deleted or missing file. MappingFile does not check the caller.
	MappingFile(ctx context.Context, id string) (made events.MappingFileCreated, live bool, err error)
	// Servers returns the server of each rank from the stored file.
	Servers(ctx context.Context, file events.MappingFileCreated) ([]uint32, error)
}

// Tracesets reads tracesets.
type Tracesets interface {
	// AdmitTraceset returns NotFound unless the caller sees the traceset.
	AdmitTraceset(ctx context.Context, id string) error
	// Traceset returns the data of a traceset that validation needs, whether or not
	// the traceset is deleted.
	Traceset(ctx context.Context, id string) (validation.Traceset, error)
}
