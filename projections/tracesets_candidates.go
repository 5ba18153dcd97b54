package projections

import (
	"context"
	"fmt"
)

// TracesetQuery asks for the tracesets that a caller sees, newest first: the
// scope's own, those promoted to its account, and everyone's public ones
// (completions.md section 6.1). Deleted ones, and those of workspaces that are
// not live, are not there.
type TracesetQuery struct {
	Scope     Scope
	Workspace string   // only those in it; "" for every one
	Statuses  []string // nil for every one
	Page      Page
}

// ListTracesets returns one page, of which files are not read, and the position
// of the next one. What an account sees of its own and what is public are two
// walks over an index each.
func ListTracesets(ctx context.Context, db Reader, q TracesetQuery) ([]Traceset, []string, error) {
	const columns = "id, workspace_id, name, description, format, library_hash, total_size, rank_count, status, scope, created_at, modified_at"
	keys := []sortKey{{"created_at", "timestamptz", true}, {"id", "text", true}}
	if err := q.Page.fits(keys); err != nil || none(q.Statuses) {
		return nil, nil, err
	}
	var c conditions
	c.add("status <> 'deleted'")
	c.add("workspace_id <> ALL (ARRAY(SELECT id FROM workspaces WHERE state <> 'live'))")
	if q.Workspace != "" {
		c.add("workspace_id = ?", q.Workspace)
	}
	if q.Statuses != nil {
		c.add("status = ANY(?)", q.Statuses)
	}
	c.after(keys, q.Page.After)
	walk := func(visible string) string {
		return fmt.Sprintf("(SELECT %s FROM tracesets WHERE %s AND %s ORDER BY %s LIMIT %d)",
			columns, c.where(), visible, orderBy(keys), q.Page.Limit+1)
	}
	own, public := "true", ""
	if q.Scope.AccountID != "" {
		account := c.arg(q.Scope.AccountID)
		own, public = "account_id = "+account, "scope = 'public' AND account_id <> "+account
	}
	if q.Scope.Workspaces != nil {
		own += " AND (scope <> 'workspace' OR workspace_id = ANY(" + c.arg(q.Scope.Workspaces) + "))"
	}
	page := walk(own)
	if public != "" {
		page += " UNION ALL " + walk(public)
	}
	rows, err := db.Query(ctx, fmt.Sprintf("SELECT * FROM (%s) AS seen ORDER BY %s LIMIT %d", page, orderBy(keys), q.Page.Limit+1), c.args...)
	found, err := collect(rows, err, func(t *Traceset) []any {
		return []any{
			&t.ID, &t.WorkspaceID, &t.Name, &t.Description, &t.Format, &t.LibraryHash, &t.TotalSize, &t.RankCount,
			&t.Status, &t.Scope, &t.CreatedAt, &t.ModifiedAt,
		}
	})
	if err != nil {
		return nil, nil, fmt.Errorf("list tracesets: %w", err)
	}
	found, next := cut(found, q.Page.Limit, func(t *Traceset) []any { return []any{t.CreatedAt, t.ID} })
	return found, next, nil
}
