package writeapi

import (
	"cmp"
	"context"

	"netsim/api"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/simulator/document"
)

// CloneConfiguration implements POST /configurations/{config_id}/clone: it copies
// one version. CloneTemplate clones templates.
func (a *API) CloneConfiguration(ctx context.Context, r api.CloneConfigurationRequestObject) (api.CloneConfigurationResponseObject, error) {
	// An idempotency key identifies a clone of this configuration only.
	w, err := create(ctx, "CloneConfiguration "+r.ConfigID, events.ConfigurationPrefix, r.Params.IdempotencyKey, r.Body)
	if err != nil {
		return nil, err
	}
	if err := oneAccount(w.caller); err != nil {
		return nil, err
	}
	made, tag, err := a.made(ctx, w, func() (handle.Result, error) { return a.cloneVersion(ctx, w, r.ConfigID, r.Body) })
	if err != nil {
		return nil, err
	}
	return api.CloneConfiguration201JSONResponse{Body: made, Headers: api.CloneConfiguration201ResponseHeaders{
		ETag: tag, Location: "/api/v1/configurations/" + made.ID,
	}}, nil
}

// cloneVersion clones the requested version into the requested workspace. The
// defaults are the newest version and the workspace of the original.
func (a *API) cloneVersion(ctx context.Context, w write, id string, body *api.ConfigurationClone) (none handle.Result, err error) {
	c, _, err := a.mutable(ctx, id)
	if err != nil {
		return none, err
	}
	if body.Version != 0 {
		if c, err = a.Views.ConfigurationAt(ctx, id, body.Version); err != nil {
			return none, err
		}
	}
	return a.clone(ctx, w, source{id, c}, body.Name, cmp.Or(body.WorkspaceID, c.WorkspaceID))
}

// source is the original of a clone: a template or a version of a configuration.
type source struct {
	id string
	commands.Configuration
}

// clone makes a draft in a workspace, the default one for "". The draft has the
// source's traceset and, byte for byte, its document. It does not have the mapping
// file, which is also removed from the document (completions.md section 2.5;
// document 1, Versioning item 8).
func (a *API) clone(ctx context.Context, w write, from source, name, workspace string) (none handle.Result, err error) {
	workspace, err = a.destination(ctx, workspace)
	if err != nil {
		return none, err
	}
	doc, err := document.Parse(from.Document)
	if err != nil {
		return none, err
	}
	if from.MappingFile != "" {
		doc.SetMapping("")
		if from.Document, err = document.Canonical(doc); err != nil {
			return none, err
		}
	}
	ranks := int64(0)
	if from.TracesetID != "" {
		t, err := a.Views.Traceset(ctx, from.TracesetID)
		if err != nil {
			return none, err
		}
		ranks = t.Ranks
	}
	return handle.Command[commands.Configuration](ctx, a.Commands, w.to(workspace), w.origin,
		commands.CreateConfiguration{Created: events.ConfigurationCreated{
			AccountID: w.caller.AccountID, WorkspaceID: workspace, Name: name,
			Document: from.Document, ComponentCount: int64(doc.ComponentCount()), Status: commands.Draft,
			TracesetID: from.TracesetID, RankCount: ranks, ParentConfigurationID: from.id,
		}})
}

// destination returns the workspace of a new resource: the requested workspace, or
// the default one for "". It returns an error unless the caller may use it.
func (a *API) destination(ctx context.Context, workspace string) (string, error) {
	switch workspace {
	case "":
		workspace = events.DefaultWorkspace
	case events.TemplateWorkspace:
		return "", fault.New(fault.Validation, "workspaceId must not be the template workspace")
	}
	return workspace, a.Views.AdmitWorkspace(ctx, workspace)
}
