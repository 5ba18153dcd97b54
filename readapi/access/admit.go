package access

import (
	"context"
	"slices"
	"strings"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/projections"
)

// AdmitWorkspace returns an error unless the workspace is live and the caller may
// work in it.
func (a *Access) AdmitWorkspace(ctx context.Context, id string) error {
	if events.BuiltIn(id) {
		return nil // it is open to everyone and cannot be deleted
	}
	_, err := a.WorkspaceRow(ctx, id, projections.Live)
	return err
}

// AdmitWorkspaceDeletion is AdmitWorkspace, but a workspace that is being
// deleted passes.
func (a *Access) AdmitWorkspaceDeletion(ctx context.Context, id string) error {
	_, err := a.WorkspaceRow(ctx, id, projections.Live, projections.Deleting)
	return err
}

// AdmitConfiguration returns the newest version of a configuration that exists
// and that the caller may work with.
func (a *Access) AdmitConfiguration(ctx context.Context, id string) (commands.Configuration, error) {
	c, err := a.ConfigurationRow(ctx, id)
	return StateOf(&c), err
}

// StateOf returns what writes need to know of a configuration before their command.
func StateOf(c *projections.Configuration) commands.Configuration {
	return commands.Configuration{
		AccountID: c.AccountID, WorkspaceID: c.WorkspaceID, Version: c.Version, Status: c.Status,
		Findings: c.Findings, Document: c.Document, TracesetID: c.TracesetID, MappingFile: c.MappingFileID,
	}
}

// ConfigurationAt is AdmitConfiguration for one version.
func (a *Access) ConfigurationAt(ctx context.Context, id string, version int64) (commands.Configuration, error) {
	c, err := a.AdmitConfiguration(ctx, id)
	if err != nil {
		return c, err
	}
	v, err := projections.FindConfigurationVersion(ctx, a.DB, id, version)
	c.Version, c.Status, c.Document = v.Version, v.Status, v.Document
	c.TracesetID, c.MappingFile = v.TracesetID, v.MappingFileID
	return c, err
}

// AdmitTemplate returns a template that the caller sees.
func (a *Access) AdmitTemplate(ctx context.Context, id string) (commands.Configuration, error) {
	if _, err := a.TemplateRow(ctx, id); err != nil {
		return commands.Configuration{}, err
	}
	return a.AdmitConfiguration(ctx, id)
}

// AdmitTemplateDeletion returns NotFound unless the caller sees the template,
// Forbidden unless the caller's account made it.
func (a *Access) AdmitTemplateDeletion(ctx context.Context, id string) error {
	t, err := a.TemplateRow(ctx, id)
	if err != nil {
		return err
	}
	caller, err := Caller(ctx)
	switch {
	case err != nil:
		return err
	case t.AccountID == "":
		return fault.New(fault.Forbidden, "template %s is built in and cannot be deleted", id)
	case t.AccountID != caller.AccountID:
		return fault.New(fault.Forbidden, "template %s is another account's", id)
	}
	return nil
}

// AdmitDeletion returns the workspace of a simulation that the caller may delete.
func (a *Access) AdmitDeletion(ctx context.Context, id string) (workspace string, err error) {
	s, err := a.SimulationRow(ctx, id)
	if err != nil {
		return "", err
	}
	caller, err := Caller(ctx)
	if err != nil {
		return "", err
	}
	return s.WorkspaceID, mayEnd(caller, "simulation", s.ID, s.WorkspaceID, s.CreatedBy)
}

// AdmitTermination returns the workspace of a simulation that the caller may
// terminate, and the state on which that decision depends. A simulation whose
// workspace is deleted passes, with live false (completions.md section 5.4).
func (a *Access) AdmitTermination(ctx context.Context, id string) (workspace string, live bool, state commands.Simulation, err error) {
	caller, err := Caller(ctx)
	if err != nil {
		return "", false, state, err
	}
	s, live, err := a.Rows.Simulation(ctx, id)
	if err != nil {
		return "", false, state, err
	}
	if err := a.admit(ctx, everOwned, "simulation", id, projections.Owner{AccountID: s.AccountID, WorkspaceID: s.WorkspaceID}); err != nil {
		return "", false, state, err
	}
	if err := mayEnd(caller, "simulation", s.ID, s.WorkspaceID, s.CreatedBy); err != nil {
		return "", false, state, err
	}
	return terminated(&s, live)
}

// OperateTermination is AdmitTermination for an operator, who may terminate the simulations
// of every account.
func (a *Access) OperateTermination(ctx context.Context, id string) (workspace string, live bool, state commands.Simulation, err error) {
	s, live, err := a.Rows.Simulation(ctx, id)
	if err != nil {
		return "", false, state, err
	}
	return terminated(&s, live)
}

// terminated returns what AdmitTermination does of a simulation.
func terminated(s *projections.Simulation, live bool) (workspace string, _ bool, state commands.Simulation, err error) {
	if s.Deleted != "" && (live || s.Deleted != "workspace") {
		return "", false, state, fault.Missing("simulation", s.ID)
	}
	state.Exists, state.Status, state.Deleted = true, s.Status, s.Deleted != ""
	state.Engine, state.RunID, state.BaseURL = s.Engine, s.RunID, s.BaseURL
	state.Stoppable = slices.Contains(strings.Fields(s.Capabilities), commands.CanTerminate)
	return s.WorkspaceID, live, state, nil
}

// AdmitMappingFile returns the workspace of a mapping file, deleted or not,
// that the caller may work with.
func (a *Access) AdmitMappingFile(ctx context.Context, id string) (workspace string, err error) {
	m, err := a.MappingFileRow(ctx, id)
	return m.WorkspaceID, err
}

// AdmitUpload returns the workspace of an upload session that the caller may work
// with, and Validation for a session of another kind.
func (a *Access) AdmitUpload(ctx context.Context, id, kind string) (workspace string, err error) {
	u, err := a.UploadRow(ctx, id)
	if err != nil {
		return "", err
	}
	if u.Kind != kind {
		return "", fault.New(fault.Validation, "uploadId %s is an upload of another kind, %s", id, u.Kind)
	}
	return u.WorkspaceID, nil
}

// AdmitTraceset returns NotFound unless the caller sees the traceset and the
// traceset routes are on.
func (a *Access) AdmitTraceset(ctx context.Context, id string) error {
	_, err := a.TracesetRow(ctx, id)
	if fault.Is(err, fault.Forbidden) || err == nil && !a.TraceRoutes {
		return fault.Missing("traceset", id)
	}
	return err
}

// OwnTraceset returns the partition key of the stream of a traceset that the
// caller may change: one of the caller's account, in a workspace that the caller
// is a member of. For a traceset whose files are not stored yet, it returns the
// partition key of the upload, and the upload's id.
func (a *Access) OwnTraceset(ctx context.Context, id string) (partition, upload string, err error) {
	caller, err := Caller(ctx)
	if err != nil {
		return "", "", err
	}
	t, err := a.TracesetRow(ctx, id)
	if fault.Is(err, fault.NotFound) {
		u, e := a.TracesetUploadRow(ctx, id)
		if e != nil {
			return "", "", e
		}
		return u.WorkspaceID, u.ID, nil
	}
	if err != nil {
		return "", "", err
	}
	if own := Account(caller); own != "" && t.AccountID != own {
		return "", "", fault.New(fault.Forbidden, "traceset %s is another account's", id)
	}
	return t.Partition, "", Member(ctx, t.WorkspaceID)
}
