package projections

import (
	"context"
	"fmt"
)

// FindWorkspace reads a workspace in any state. It returns NotFound for a
// missing one.
func FindWorkspace(ctx context.Context, db Reader, id string) (Workspace, error) {
	return find(ctx, db, &NewWorkspaces().table, "workspace", id)
}

// WorkspaceStats counts the resources of an account in a workspace.
type WorkspaceStats struct {
	ActiveSimulations  int64 // neither ended nor deleted
	ConfigurationCount int64
	SimulationCount    int64
}

// WorkspaceQuery asks for live workspaces, newest first.
type WorkspaceQuery struct {
	Seen  Rule
	Where []Filter
	Page  Page
}

// ListWorkspaces returns one page and the position of the next one.
func ListWorkspaces(ctx context.Context, db Reader, q WorkspaceQuery) ([]Workspace, []string, error) {
	t := &NewWorkspaces().table
	keys := []sortKey{{"created_at", "timestamptz", true}, {"id", "text", true}}
	if err := q.Page.fits(keys); err != nil {
		return nil, nil, err
	}
	var c conditions
	c.add("state = 'live'")
	c.add(q.Seen.on(&c, owners{account: "account_id", workspace: "id"}))
	c.filter(q.Where)
	c.after(keys, q.Page.After)
	rows, err := db.Query(ctx, fmt.Sprintf(`SELECT %s FROM workspaces WHERE %s ORDER BY %s LIMIT %s`,
		t.columns.List(""), c.where(), orderBy(keys), c.arg(q.Page.Limit+1)), c.args...)
	found, err := collect(rows, err, t.columns.Scan)
	if err != nil {
		return nil, nil, fmt.Errorf("list workspaces: %w", err)
	}
	found, next := cut(found, q.Page.Limit, func(w *Workspace) []any { return []any{w.CreatedAt, w.ID} })
	return found, next, nil
}

// WorkspaceIsLive reports whether the workspace is neither deleted nor being
// deleted. It is true for a missing workspace.
func WorkspaceIsLive(ctx context.Context, db Reader, id string) (bool, error) {
	var live bool
	if err := db.QueryRow(ctx, "SELECT "+liveWorkspace("$1"), id).Scan(&live); err != nil {
		return false, fmt.Errorf("read workspace %s: %w", id, err)
	}
	return live, nil
}

// liveWorkspace is the condition that a workspace is neither deleted nor being
// deleted.
func liveWorkspace(id string) string {
	return "NOT EXISTS (SELECT FROM workspaces AS w WHERE w.id = " + id + " AND w.state <> 'live')"
}
