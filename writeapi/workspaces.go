package writeapi

import (
	"context"
	"strings"

	"netsim/api"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
)

// CreateWorkspace implements POST /workspaces (completions.md section 2.8).
func (a *API) CreateWorkspace(ctx context.Context, r api.CreateWorkspaceRequestObject) (api.CreateWorkspaceResponseObject, error) {
	w, err := create(ctx, "CreateWorkspace", events.WorkspacePrefix, r.Params.IdempotencyKey, r.Body)
	if err != nil {
		return nil, err
	}
	if err := oneAccount(w.caller); err != nil {
		return nil, err
	}
	result, err := handle.Command[commands.Workspace](ctx, a.Commands, w.to(w.stream), w.origin, commands.CreateWorkspace{
		AccountID: w.caller.AccountID, Owner: w.caller.UserID, Name: r.Body.Name, Description: r.Body.Description,
	})
	if err != nil {
		return nil, err
	}
	made, tag, err := a.Views.WorkspaceView(w.stream)(ctx, result.Event, result.State)
	if err != nil {
		return nil, err
	}
	return api.CreateWorkspace201JSONResponse{Body: made, Headers: api.CreateWorkspace201ResponseHeaders{
		ETag: tag, Location: "/api/v1/workspaces/" + made.ID,
	}}, nil
}

// UpdateWorkspace implements PATCH /workspaces/{workspace_id}.
func (a *API) UpdateWorkspace(ctx context.Context, r api.UpdateWorkspaceRequestObject) (api.UpdateWorkspaceResponseObject, error) {
	w, err := change(ctx, "UpdateWorkspace", r.WorkspaceID, r.Params.IdempotencyKey, r.Body)
	if err != nil {
		return nil, err
	}
	if err := notBuiltIn(r.WorkspaceID); err != nil {
		return nil, err
	}
	match, err := matchOf(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	after, err := a.Views.AdmitWorkspaceChange(ctx, r.WorkspaceID)
	if err != nil {
		return nil, err
	}
	result, err := handle.Command[commands.Workspace](ctx, a.Commands, w.existing(r.WorkspaceID), w.origin, commands.UpdateWorkspace{
		ID: r.WorkspaceID, Name: r.Body.Name, Description: r.Body.Description, Match: match,
	})
	if err != nil {
		return nil, err
	}
	changed, tag, err := after(ctx, result.Event, result.State)
	if err != nil {
		return nil, err
	}
	return api.UpdateWorkspace200JSONResponse{Body: changed, Headers: api.UpdateWorkspace200ResponseHeaders{ETag: tag}}, nil
}

// DeleteWorkspace implements DELETE /workspaces/{workspace_id}. Repeating it
// during the deletion, or at any time under its key, gives the same response.
func (a *API) DeleteWorkspace(ctx context.Context, r api.DeleteWorkspaceRequestObject) (api.DeleteWorkspaceResponseObject, error) {
	w, err := change(ctx, "DeleteWorkspace", r.WorkspaceID, r.Params.IdempotencyKey, nil)
	if err != nil {
		return nil, err
	}
	if err := notBuiltIn(r.WorkspaceID); err != nil {
		return nil, err
	}
	_, err = a.once(ctx, w, func() error {
		if err := a.Views.AdmitWorkspaceDeletion(ctx, r.WorkspaceID); err != nil {
			return err
		}
		_, err := handle.Command[commands.Workspace](ctx, a.Commands, w.existing(r.WorkspaceID), w.origin,
			commands.DeleteWorkspace{ID: r.WorkspaceID})
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.DeleteWorkspace202JSONResponse{ID: r.WorkspaceID, Status: api.WorkspaceDeletionStatusDeleting}, nil
}

// SetLegacyProject implements POST /workspaces/{workspace_id}/legacy-project.
func (a *API) SetLegacyProject(ctx context.Context, r api.SetLegacyProjectRequestObject) (api.SetLegacyProjectResponseObject, error) {
	w, err := change(ctx, "SetLegacyProject", r.WorkspaceID, r.Params.IdempotencyKey, r.Body)
	if err != nil {
		return nil, err
	}
	if err := notBuiltIn(r.WorkspaceID); err != nil {
		return nil, err
	}
	after, err := a.Views.AdmitWorkspaceChange(ctx, r.WorkspaceID)
	if err != nil {
		return nil, err
	}
	project := strings.ToLower(r.Body.LegacyProjectID) // UUIDs compare without case
	result, err := handle.Command[commands.Workspace](ctx, a.Commands, w.existing(r.WorkspaceID), w.origin, commands.SetLegacyProject{
		ID: r.WorkspaceID, LegacyProjectID: project,
	})
	if err != nil {
		return nil, err
	}
	_, tag, err := after(ctx, result.Event, result.State)
	if err != nil {
		return nil, err
	}
	return api.SetLegacyProject200JSONResponse{
		Body: api.LegacyProject{
			WorkspaceID: r.WorkspaceID, LegacyProjectID: project,
			Created: result.Event != nil || result.Repeated,
		},
		Headers: api.SetLegacyProject200ResponseHeaders{ETag: tag},
	}, nil
}

// notBuiltIn refuses changes to the workspaces that the service owns
// (completions.md section 1.1).
func notBuiltIn(workspace string) error {
	if events.BuiltIn(workspace) {
		return fault.New(fault.Forbidden, "workspace %s is built in and cannot be changed", workspace)
	}
	return nil
}
