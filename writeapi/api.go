// Package writeapi answers the operations that change something: a handler
// decodes the request, sends one command, and answers from the read model,
// where the change is visible when the command returns. It sees neither SQL
// nor Kafka nor a table; what it must know beforehand it asks through the
// interfaces below.
package writeapi

import (
	"context"
	"time"

	"netsim/api"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/simulator/blueprint"
	"netsim/simulator/validation"
)

// API has the POST, PATCH and DELETE operations but the preview's.
type API struct {
	Commands       *handle.Handler
	Workspaces     Workspaces
	Configurations Configurations
	Simulations    Simulations
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
	// Hold sets credit aside for a simulation that is about to be requested, or
	// returns PaymentRequired. Repeating it holds nothing more.
	Hold func(ctx context.Context, simulation string, requested events.SimulationRequested) error
	// TracesetID is the id of the account's traceset for a simple submission.
	TracesetID func(account string, submission blueprint.Simple) (string, error)
	// Unfold makes the traceset and the configuration of a simple submission.
	// Repeating it changes nothing.
	Unfold func(ctx context.Context, simulation string, requested events.SimulationRequested) error
}

// Quotas are the quotas of accounts.
type Quotas interface {
	// AdmitRun returns RateLimited for a run of the account that is beyond a
	// quota.
	AdmitRun(ctx context.Context, account string) error
	// AdmitUpload is the same for an upload of so many bytes.
	AdmitUpload(ctx context.Context, account string, size int64) error
}

// Workspaces are the workspaces as reads show them.
type Workspaces interface {
	// AdmitWorkspace returns NotFound unless the workspace is live and of the
	// caller's account, Forbidden unless the caller is a member.
	AdmitWorkspace(ctx context.Context, id string) error
	// AdmitWorkspaceDeletion is the same, but one that is being deleted passes.
	AdmitWorkspaceDeletion(ctx context.Context, id string) error
	// Workspace returns the workspace and its entity tag.
	Workspace(ctx context.Context, id string) (api.Workspace, string, error)
}

// Configurations are the configurations as reads show them.
type Configurations interface {
	// AdmitConfiguration returns the newest version of a configuration that
	// exists and that the caller may work with.
	AdmitConfiguration(ctx context.Context, id string) (commands.Configuration, error)
	// ConfigurationAt is the configuration as of a version, NotFound where
	// there is no such version.
	ConfigurationAt(ctx context.Context, id string, version int64) (commands.Configuration, error)
	// Configuration returns the configuration and its entity tag.
	Configuration(ctx context.Context, id string) (api.Configuration, string, error)
	// ConfigurationAfter is the configuration as a change at a time left it.
	ConfigurationAfter(ctx context.Context, id string, state commands.Configuration, at time.Time) (api.Configuration, error)
}

// Simulations are the simulations as reads show them.
type Simulations interface {
	// AdmitDeletion returns the workspace of a simulation that exists and that
	// the caller may delete.
	AdmitDeletion(ctx context.Context, id string) (workspace string, err error)
	// AdmitTermination is the same, but a simulation whose workspace is deleted
	// passes, and live is false. Of the state there is what decides about it.
	AdmitTermination(ctx context.Context, id string) (workspace string, live bool, state commands.Simulation, err error)
	// Simulation returns the simulation.
	Simulation(ctx context.Context, id string) (api.Simulation, error)
}

// Engines are the engines behind HTTP.
type Engines interface {
	// TerminateRun asks an engine to stop a run, and returns the HTTP status of
	// its answer. An error says that there was none.
	TerminateRun(ctx context.Context, baseURL, runID string) (status int, err error)
}

// MappingFiles are the mapping files as reads show them.
type MappingFiles interface {
	// AdmitMappingFile returns the workspace of a mapping file, deleted or not,
	// that the caller may work with.
	AdmitMappingFile(ctx context.Context, id string) (workspace string, err error)
	// MappingFile returns how a mapping file was made and whether it still is,
	// whoever asks; one that never was is not.
	MappingFile(ctx context.Context, id string) (made events.MappingFileCreated, live bool, err error)
	// Servers returns the server of each rank, as the stored file places them.
	Servers(ctx context.Context, file events.MappingFileCreated) ([]uint32, error)
}

// Tracesets are the tracesets as reads show them.
type Tracesets interface {
	// AdmitTraceset returns NotFound unless the traceset is there for the
	// caller.
	AdmitTraceset(ctx context.Context, id string) error
	// Traceset returns what validation needs of a traceset, deleted or not.
	Traceset(ctx context.Context, id string) (validation.Traceset, error)
}
