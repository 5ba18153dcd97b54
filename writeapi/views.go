package writeapi

import (
	"context"

	"netsim/api"
	"netsim/commands"
	"netsim/events"
	"netsim/simulator/validation"
)

// Views reads what commands need to know about other streams, and what responses show.
// Package readapi implements it, so that a write admits whom a read admits, and shows what
// a read shows.
type Views interface {
	Workspaces
	Configurations
	Simulations
	Studies
	Tracesets
	TracesetFiles
	TracesetOwners
	MappingFiles
	Templates
	Uploaded
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
	// OperateTermination is AdmitTermination for an operator, who may terminate the
	// simulations of every account.
	OperateTermination(ctx context.Context, id string) (workspace string, live bool, state commands.Simulation, err error)
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

// Tracesets reads tracesets.
type Tracesets interface {
	// AdmitTraceset returns NotFound unless the caller sees the traceset.
	AdmitTraceset(ctx context.Context, id string) error
	// Traceset returns the data of a traceset that validation needs, whether or not
	// the traceset is deleted.
	Traceset(ctx context.Context, id string) (validation.Traceset, error)
}

// TracesetFiles locates the files of tracesets, and says whether a use must be
// recorded. A use postpones the expiry of a traceset.
type TracesetFiles interface {
	// TracesetDownload returns a download link for a file; "" is the primary file of
	// the lowest rank.
	TracesetDownload(ctx context.Context, id, file string) (api.TracesetDownload, error)
	// TracesetResolution returns the locations of the files. It returns Validation
	// if there are none.
	TracesetResolution(ctx context.Context, id string) (api.TracesetResolution, error)
	// TracesetUse reports whether to record a use now, and returns the partition key
	// for it.
	TracesetUse(ctx context.Context, id string) (partition string, due bool, err error)
}

// TracesetOwners checks who may change a traceset.
type TracesetOwners interface {
	// OwnTraceset returns the partition key of a traceset that the caller may
	// change. For a traceset whose files are not stored yet, it returns the partition
	// key and the id of its upload.
	OwnTraceset(ctx context.Context, id string) (partition, upload string, err error)
	// TracesetView returns a traceset.
	TracesetView(ctx context.Context, id string) (api.Traceset, error)
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

// Templates reads templates.
type Templates interface {
	// AdmitTemplate returns a template that the caller may see.
	AdmitTemplate(ctx context.Context, id string) (commands.Configuration, error)
	// AdmitTemplateDeletion returns NotFound unless the caller may see the template,
	// and Forbidden unless it belongs to the caller's account.
	AdmitTemplateDeletion(ctx context.Context, id string) error
	// TemplateView returns the view of a template that a command makes.
	TemplateView(id string) View[api.Template]
}

// Uploaded reads the resources that uploads make.
type Uploaded interface {
	// AdmitUpload returns the workspace of a session that the caller may use. It
	// returns Validation for a session of another kind.
	AdmitUpload(ctx context.Context, upload, kind string) (workspace string, err error)
	// UploadedMappingFile returns a mapping file and its entity tag.
	UploadedMappingFile(ctx context.Context, id string, duplicate bool) (api.MappingFile, string, error)
}
