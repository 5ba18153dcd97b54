package readapi

import (
	"context"

	"netsim/access"
	"netsim/api"
	web "netsim/infra/web"
	"netsim/projections"
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
	items := each(rows, func(w *projections.Workspace) api.WorkspaceListItem {
		return api.WorkspaceListItem{
			ID: w.ID, Name: w.Name, Description: w.Description, Owner: w.Owner,
			CreatedAt: timestamp(w.CreatedAt), ModifiedAt: timestamp(w.ModifiedAt),
		}
	})
	return api.ListWorkspaces200JSONResponse{Workspaces: items, Pagination: l.pagination(len(items), next)}, nil
}

// GetWorkspace implements GET /workspaces/{workspace_id}.
func (a *API) GetWorkspace(ctx context.Context, r api.GetWorkspaceRequestObject) (api.GetWorkspaceResponseObject, error) {
	if err := a.AdmitWorkspace(ctx, r.WorkspaceID); err != nil {
		return nil, err
	}
	w, tag, err := a.Workspace(ctx, r.WorkspaceID)
	if err != nil {
		return nil, err
	}
	if web.NotModified(r.Params.IfNoneMatch, tag) {
		return api.GetWorkspace304Response{Headers: api.NotModifiedResponseHeaders{ETag: tag}}, nil
	}
	return api.GetWorkspace200JSONResponse{Body: w, Headers: api.GetWorkspace200ResponseHeaders{ETag: tag}}, nil
}

// Workspace returns a workspace with the counts of the caller's account, and its
// entity tag. It does not check access, because its callers respond to a
// permitted write or have checked it.
func (a *API) Workspace(ctx context.Context, id string) (api.Workspace, string, error) {
	caller, err := access.Caller(ctx)
	if err != nil {
		return api.Workspace{}, "", err
	}
	w, err := a.Rows.Workspace(ctx, id)
	if err != nil {
		return api.Workspace{}, "", err
	}
	stats, err := a.Rows.CountWorkspace(ctx, id, access.Account(caller))
	if err != nil {
		return api.Workspace{}, "", err
	}
	return api.Workspace{
		ID: w.ID, Name: w.Name, Description: w.Description, Owner: w.Owner,
		CreatedAt: timestamp(w.CreatedAt), ModifiedAt: timestamp(w.ModifiedAt),
		Stats: api.WorkspaceStats(stats),
	}, web.ETag(w.Version), nil
}
