package access

import (
	"context"
	"slices"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/projections"
)

// WorkspaceRow reads a workspace that the caller may work in and that is in one
// of the states.
func (a *Access) WorkspaceRow(ctx context.Context, id string, states ...string) (projections.Workspace, error) {
	w, err := a.Rows.Workspace(ctx, id)
	if err != nil {
		return w, err
	}
	if !slices.Contains(states, w.State) {
		return w, fault.Missing("workspace", id)
	}
	return w, a.admit(ctx, Workspaces, "workspace", id, projections.Owner{AccountID: w.AccountID, WorkspaceID: id})
}

// ConfigurationRow reads a configuration that is not deleted and that the caller
// sees. Templates are configurations.
func (a *Access) ConfigurationRow(ctx context.Context, id string) (projections.Configuration, error) {
	return a.configuration(ctx, "configuration", id)
}

// TemplateRow reads a template that the caller sees: a configuration of the
// template workspace.
func (a *Access) TemplateRow(ctx context.Context, id string) (projections.Configuration, error) {
	return a.configuration(ctx, "template", id)
}

func (a *Access) configuration(ctx context.Context, what, id string) (projections.Configuration, error) {
	c, live, err := a.Rows.Configuration(ctx, id)
	template := c.WorkspaceID == events.TemplateWorkspace
	switch {
	case fault.Is(err, fault.NotFound), err == nil && (c.Deleted || what == "template" && !template):
		return c, fault.Missing(what, id)
	case err != nil:
		return c, err
	}
	may := owned
	if template {
		may = Templates
	}
	return c, a.admit(ctx, may, what, id, projections.Owner{
		AccountID: c.AccountID, WorkspaceID: c.WorkspaceID, Sharing: c.Visibility, Live: live,
	})
}

// SimulationRow reads a simulation that is not deleted and that the caller may
// work with.
func (a *Access) SimulationRow(ctx context.Context, id string) (projections.Simulation, error) {
	s, live, err := a.Rows.Simulation(ctx, id)
	if err != nil {
		return s, err
	}
	if s.Deleted != "" {
		return s, fault.Missing("simulation", id)
	}
	return s, a.admit(ctx, owned, "simulation", id, projections.Owner{AccountID: s.AccountID, WorkspaceID: s.WorkspaceID, Live: live})
}

// AnySimulationRow reads a simulation of any account that is not deleted. Results
// are open to every authenticated user (document 1, Authentication), unless
// NETSIM_RESULTS_OWNERSHIP restricts them.
func (a *Access) AnySimulationRow(ctx context.Context, id string) (projections.Simulation, error) {
	s, live, err := a.Rows.Simulation(ctx, id)
	if err != nil {
		return s, err
	}
	if s.Deleted != "" || !live {
		return s, fault.Missing("simulation", id)
	}
	return s, nil
}

// MappingFileRow reads a mapping file, deleted or not, that the caller may work
// with.
func (a *Access) MappingFileRow(ctx context.Context, id string) (projections.MappingFile, error) {
	m, err := projections.FindMappingFile(ctx, a.DB, id)
	if err != nil {
		return m, err
	}
	return m, a.admit(ctx, owned, "mapping file", id, projections.Owner{AccountID: m.AccountID, WorkspaceID: m.WorkspaceID})
}

// UploadRow reads an upload session in any state that the caller may work with.
func (a *Access) UploadRow(ctx context.Context, id string) (projections.Upload, error) {
	u, err := projections.FindUpload(ctx, a.DB, id)
	if err != nil {
		return u, err
	}
	return u, a.admit(ctx, owned, "upload", id, projections.Owner{AccountID: u.AccountID, WorkspaceID: u.WorkspaceID})
}

// WebhookRow reads a webhook that is not deleted and that the caller may read and change.
// One of the caller's account that sends more than the caller sees is Forbidden.
func (a *Access) WebhookRow(ctx context.Context, id string) (projections.Webhook, error) {
	caller, err := Caller(ctx)
	if err != nil {
		return projections.Webhook{}, err
	}
	w, err := projections.FindWebhook(ctx, a.DB, id)
	switch own := Account(caller); {
	case err != nil:
		return w, err
	case w.Deleted || own != "" && own != w.AccountID:
		return w, fault.Missing("webhook", id)
	case !Webhooks(caller).Has(&w):
		return w, fault.New(fault.Forbidden, "webhook %s sends more than you may see", id)
	}
	return w, nil
}

// TracesetRow reads a traceset whose files are stored and that the caller sees
// (completions.md section 6.1).
func (a *Access) TracesetRow(ctx context.Context, id string) (projections.Traceset, error) {
	t, err := projections.FindTraceset(ctx, a.DB, id)
	if err != nil {
		return t, err
	}
	if t.Status == projections.Deleted {
		return t, fault.Missing("traceset", id)
	}
	return t, a.admit(ctx, Tracesets, "traceset", id, projections.Owner{AccountID: t.AccountID, WorkspaceID: t.WorkspaceID, Sharing: t.Scope})
}

// TracesetUploadRow reads the upload of a traceset that the caller sees. Until its
// files are stored, a traceset has no row of its own, and is in scope workspace.
func (a *Access) TracesetUploadRow(ctx context.Context, traceset string) (projections.Upload, error) {
	u, err := projections.FindTracesetUpload(ctx, a.DB, traceset)
	if err != nil {
		return u, err
	}
	return u, a.admit(ctx, Tracesets, "traceset", traceset, projections.Owner{
		AccountID: u.AccountID, WorkspaceID: u.WorkspaceID, Sharing: commands.ScopeWorkspace,
	})
}
