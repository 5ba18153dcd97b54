package readapi

import (
	"context"

	"netsim/api"
	"netsim/commands"
	"netsim/events"
	"netsim/infra/web"
	"netsim/projections"
	"netsim/readapi/access"
)

// ListWorkspaces implements GET /workspaces (completions.md section 2.8): the
// live workspaces that the caller is a member of, newest first.
func (a *API) ListWorkspaces(ctx context.Context, r api.ListWorkspacesRequestObject) (api.ListWorkspacesResponseObject, error) {
	p := r.Params
	l, err := a.listing(ctx, r, 50)
	if err != nil {
		return nil, err
	}
	rows, next, err := projections.ListWorkspaces(ctx, a.DB, projections.WorkspaceQuery{
		Seen: access.Workspaces(l.caller), Page: l.page,
		Where: []projections.Filter{
			projections.Equal("owner", p.Owner),
			projections.Search(p.Search, "name", "description"),
			projections.Within("created_at", p.CreatedAfter.Time, p.CreatedBefore.Time),
			projections.Within("modified_at", p.ModifiedAfter.Time, p.ModifiedBefore.Time),
		},
	})
	if err != nil {
		return nil, err
	}
	items := api.Each(rows, func(w *projections.Workspace) api.WorkspaceListItem {
		return api.WorkspaceListItem{
			ID: w.ID, Name: w.Name, Description: w.Description, Owner: w.Owner,
			CreatedAt: timestamp(w.CreatedAt), ModifiedAt: timestamp(w.ModifiedAt),
		}
	})
	return api.ListWorkspaces200JSONResponse{Workspaces: items, Pagination: l.pagination(len(items), next)}, nil
}

// GetWorkspace implements GET /workspaces/{workspace_id}.
func (a *API) GetWorkspace(ctx context.Context, r api.GetWorkspaceRequestObject) (api.GetWorkspaceResponseObject, error) {
	row, err := a.WorkspaceRow(ctx, r.WorkspaceID, projections.Live)
	if err != nil {
		return nil, err
	}
	w, tag, err := a.workspaceView(ctx, &row)
	if err != nil {
		return nil, err
	}
	if web.NotModified(r.Params.IfNoneMatch, tag) {
		return api.GetWorkspace304Response{Headers: api.NotModifiedResponseHeaders{ETag: tag}}, nil
	}
	return api.GetWorkspace200JSONResponse{Body: w, Headers: api.GetWorkspace200ResponseHeaders{ETag: tag}}, nil
}

// WorkspaceView returns the view of a workspace that a command makes. Views do
// not check access, because their callers respond to a permitted write.
func (a *API) WorkspaceView(id string) view[api.Workspace] {
	return a.workspaceAfter(projections.Workspace{ID: id})
}

// AdmitWorkspaceChange returns the view of a workspace after a change. It returns
// an error unless the workspace is live and the caller may work in it.
func (a *API) AdmitWorkspaceChange(ctx context.Context, id string) (view[api.Workspace], error) {
	w, err := a.WorkspaceRow(ctx, id, projections.Live)
	return a.workspaceAfter(w), err
}

func (a *API) workspaceAfter(before projections.Workspace) view[api.Workspace] {
	return func(ctx context.Context, e *events.Event, state commands.State) (_ api.Workspace, tag string, err error) {
		var w projections.Workspace
		if made, ok := state.(*commands.Workspace); ok {
			w = before.After(e, made)
		} else if w, err = a.Rows.Workspace(ctx, before.ID); err != nil {
			return api.Workspace{}, "", err
		}
		if e != nil && e.Sequence == 1 {
			return workspaceOf(&w, projections.WorkspaceStats{}), web.ETag(w.Version), nil // there is nothing in it yet
		}
		return a.workspaceView(ctx, &w)
	}
}

// workspaceView returns a workspace with the counts of the caller's account, and
// its entity tag.
func (a *API) workspaceView(ctx context.Context, w *projections.Workspace) (api.Workspace, string, error) {
	caller, err := access.Caller(ctx)
	if err != nil {
		return api.Workspace{}, "", err
	}
	stats, err := a.Rows.CountWorkspace(ctx, w.ID, access.Account(caller))
	return workspaceOf(w, stats), web.ETag(w.Version), err
}

func workspaceOf(w *projections.Workspace, stats projections.WorkspaceStats) api.Workspace {
	return api.Workspace{
		ID: w.ID, Name: w.Name, Description: w.Description, Owner: w.Owner,
		CreatedAt: timestamp(w.CreatedAt), ModifiedAt: timestamp(w.ModifiedAt),
		Stats: api.WorkspaceStats(stats),
	}
}
