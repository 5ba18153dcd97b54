package projections

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"netsim/commands"
)

// The statuses of tracesets that are their uploads (completions.md 6.1).
const (
	TracesetUploading    = "uploading"
	TracesetUploadFailed = "upload_failed"
)

// TracesetQuery asks for the tracesets that a caller sees, newest first: those
// of its workspaces, those promoted to its account, and everyone's public ones
// (completions.md section 6.1). Deleted ones are not there, nor what a
// workspace that is not live had for itself.
type TracesetQuery struct {
	Scope     Scope
	Workspace string   // only those that were made in it; "" for every one
	Statuses  []string // nil for every one
	Page      Page
}

// TracesetItem is a row of a list of tracesets. One that is being uploaded, or
// that nothing came of, has no library.
type TracesetItem struct {
	Traceset

	FilesCount int64
}

// tracesetWalk is a walk over one index of tracesets, or of uploads.
type tracesetWalk struct {
	scope string
	where string // which of that scope
	from  string // what the condition refers to beside the row
}

// ListTracesets returns one page and the position of the next one. It merges
// short walks, one over each scope and status of what can be seen, each of
// which an index has in order.
func ListTracesets(ctx context.Context, db Reader, q TracesetQuery) ([]TracesetItem, []string, error) {
	keys := []sortKey{{"created_at", "timestamptz", true}, {"id", "text", true}}
	if err := q.Page.fits(keys); err != nil || none(q.Statuses) {
		return nil, nil, err
	}
	var c conditions
	kept, sessions := q.some(commands.TracesetReady, commands.TracesetProcessing, commands.TracesetMetadataFailed), q.sessions()
	own, has := q.own(&c)
	c.after(keys, q.Page.After)
	behind := c.where()
	var all []string
	if len(kept) > 0 {
		wanted := c.arg(kept)
		walks := q.promoted(&c)
		if has {
			walks = append(walks, own)
		}
		for _, w := range walks {
			all = append(all, w.over("tracesets", `id, workspace_id, name, description, format, library_hash, total_size,
				rank_count, status, scope, created_at, modified_at, json_array_length(files::json)`,
				fmt.Sprintf("status = s.status AND status <> 'deleted' AND scope = '%s' AND %s", w.scope, behind), wanted, keys, q.Page.Limit))
		}
	}
	if len(sessions) > 0 && has {
		wanted := c.arg(sessions)
		uploaded := []sortKey{keys[0], {"result_id", "text", true}}
		behind := strings.ReplaceAll(behind, "(created_at, id)", "(created_at, result_id)")
		all = append(all, own.over("uploads", `result_id, workspace_id, name, description, '', '',
					(SELECT coalesce(sum((f ->> 'size')::bigint), 0)::bigint FROM json_array_elements(files::json) f), 0::bigint,
					CASE status WHEN 'open' THEN 'uploading' ELSE 'upload_failed' END, 'workspace', created_at, created_at, json_array_length(files::json)`,
			"status = s.status AND kind = 'traceset' AND status <> 'completed' AND reason <> 'deleted' AND "+behind, wanted, uploaded, q.Page.Limit))
	}
	if len(all) == 0 {
		return nil, nil, nil
	}
	rows, err := db.Query(ctx, fmt.Sprintf("SELECT * FROM (%s) AS seen (id, workspace_id, name, description, format, library_hash, total_size, "+
		"rank_count, status, scope, created_at, modified_at, files_count) ORDER BY %s LIMIT %d",
		strings.Join(all, " UNION ALL "), orderBy(keys), q.Page.Limit+1), c.args...)
	found, err := collect(rows, err, pgx.RowToStructByNameLax[TracesetItem])
	if err != nil {
		return nil, nil, fmt.Errorf("list tracesets: %w", err)
	}
	found, next := cut(found, q.Page.Limit, func(t *TracesetItem) []any { return []any{t.CreatedAt, t.ID} })
	return found, next, nil
}

// over is the SQL of the walk: the first rows of each status.
func (w tracesetWalk) over(table, columns, where, statuses string, keys []sortKey, limit int) string {
	return fmt.Sprintf("(SELECT t.* FROM unnest(%s::text[]) AS s (status)%s CROSS JOIN LATERAL (SELECT %s FROM %s WHERE %s AND %s ORDER BY %s LIMIT %d) AS t)",
		statuses, w.from, columns, table, w.where, where, orderBy(keys), limit+1)
}

// promoted are the walks over what was promoted.
func (q TracesetQuery) promoted(c *conditions) []tracesetWalk {
	account, in := "true", "true"
	if q.Scope.AccountID != "" {
		account = "account_id = " + c.arg(q.Scope.AccountID)
	}
	if q.Workspace != "" {
		in = "workspace_id = " + c.arg(q.Workspace)
	}
	return []tracesetWalk{
		{scope: commands.ScopeTenant, where: account + " AND " + in},
		{scope: commands.ScopePublic, where: in},
	}
}

// own is the walk over what workspaces have for themselves, if any can be seen.
func (q TracesetQuery) own(c *conditions) (w tracesetWalk, has bool) {
	within := members(q.Scope, q.Workspace)
	if none(within) {
		return w, false
	}
	w.scope, w.where = commands.ScopeWorkspace, "true"
	if q.Scope.AccountID != "" {
		w.where = "account_id = " + c.arg(q.Scope.AccountID)
	}
	if within == nil {
		w.where += " AND workspace_id <> ALL (ARRAY(SELECT id FROM workspaces WHERE state <> 'live' AND " + w.where + "))"
		return w, true
	}
	w.from = fmt.Sprintf(` CROSS JOIN (SELECT DISTINCT p.id FROM unnest(%s::text[]) AS p (id)
		WHERE NOT EXISTS (SELECT FROM workspaces w WHERE w.id = p.id AND w.state <> 'live')) AS place (workspace)`, c.arg(within))
	w.where += " AND workspace_id = place.workspace"
	return w, true
}

// some returns which of the statuses are asked for.
func (q TracesetQuery) some(statuses ...string) []string {
	return slices.DeleteFunc(statuses, func(s string) bool { return q.Statuses != nil && !slices.Contains(q.Statuses, s) })
}

// sessions are the statuses of uploads that are asked for.
func (q TracesetQuery) sessions() []string {
	var statuses []string
	for _, s := range q.some(TracesetUploading, TracesetUploadFailed) {
		if s == TracesetUploading {
			statuses = append(statuses, commands.UploadOpen)
		} else {
			statuses = append(statuses, commands.UploadAborted)
		}
	}
	return statuses
}
