package projections

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"netsim/commands"
)

// The statuses of tracesets whose upload is open or aborted (completions.md 6.1).
const (
	TracesetUploading    = "uploading"
	TracesetUploadFailed = "upload_failed"
)

// TracesetQuery asks for tracesets that are not deleted, newest first. A traceset
// whose upload is not completed is listed from its upload, with scope workspace.
type TracesetQuery struct {
	Seen     Rule
	Statuses []string // nil for every status
	Page     Page
}

// TracesetItem is a row of a list of tracesets. A traceset whose upload is open
// or aborted has no library.
type TracesetItem struct {
	Traceset

	FilesCount int64
}

// ListTracesets returns one page and the position of the next one. It merges one
// index scan for each scope of the rule, workspace and status. A scan reads no more
// rows than a page has.
func ListTracesets(ctx context.Context, db Reader, q TracesetQuery) ([]TracesetItem, []string, error) {
	keys := []sortKey{{"created_at", "timestamptz", true}, {"id", "text", true}}
	if err := q.Page.fits(keys); err != nil {
		return nil, nil, err
	}
	var c conditions
	stored, sessions := q.walks(keys)
	var all []string
	for _, s := range q.Seen {
		all = append(all, stored.in(s, &c)...)
		if s.Sharing == "" || s.Sharing == commands.ScopeWorkspace {
			s.Sharing = "" // uploads have no such column
			all = append(all, sessions.in(s, &c)...)
		}
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

// walks returns the scan of the tracesets whose files are stored, and the scan of
// the uploads of the other tracesets.
func (q TracesetQuery) walks(keys []sortKey) (stored, sessions walk) {
	stored = walk{
		table: "tracesets", keys: keys, page: q.Page,
		columns: `id, workspace_id, name, description, format, library_hash, total_size,
			rank_count, status, scope, created_at, modified_at, json_array_length(files::json)`,
		where:    "status <> 'deleted'",
		statuses: q.some(commands.TracesetReady, commands.TracesetProcessing, commands.TracesetMetadataFailed),
	}
	sessions = walk{
		table: "uploads", keys: []sortKey{keys[0], {"result_id", "text", true}}, page: q.Page,
		columns: `result_id, workspace_id, name, description, '', '',
			(SELECT coalesce(sum((f ->> 'size')::bigint), 0)::bigint FROM json_array_elements(files::json) f), 0::bigint,
			CASE status WHEN 'open' THEN 'uploading' ELSE 'upload_failed' END, 'workspace', created_at, created_at, json_array_length(files::json)`,
		where: "kind = 'traceset' AND status <> 'completed' AND reason <> 'deleted'",
	}
	for _, s := range q.some(TracesetUploading, TracesetUploadFailed) {
		if s == TracesetUploading {
			sessions.statuses = append(sessions.statuses, commands.UploadOpen)
		} else {
			sessions.statuses = append(sessions.statuses, commands.UploadAborted)
		}
	}
	return stored, sessions
}

// some returns the given statuses that the query asks for.
func (q TracesetQuery) some(statuses ...string) []string {
	return slices.DeleteFunc(statuses, func(s string) bool { return q.Statuses != nil && !slices.Contains(q.Statuses, s) })
}

// walk scans the first rows of each status, in the order of an index.
type walk struct {
	table, columns, where string
	statuses              []string
	keys                  []sortKey
	page                  Page
}

// in returns the SQL of the walk over a scope, nil when the scope can have no
// rows. Each workspace has a scan of its own.
func (w walk) in(s Scope, c *conditions) []string {
	if len(w.statuses) == 0 || none(s.Workspaces) {
		return nil
	}
	from := "unnest(" + c.arg(w.statuses) + "::text[]) AS s (status)"
	where := w.where + " AND " + c.behind(w.keys, w.page.After)
	if s.Workspaces != nil {
		from += " CROSS JOIN (SELECT p.id FROM unnest(" + c.arg(s.Workspaces) + "::text[]) AS p (id)"
		if s.Live {
			from += " WHERE " + s.live(c, "p.id")
		}
		from += ") AS wanted (workspace)"
		where += " AND workspace_id = wanted.workspace"
		s.Workspaces, s.Live = nil, false
	}
	return []string{fmt.Sprintf("(SELECT t.* FROM %s CROSS JOIN LATERAL (SELECT %s FROM %s WHERE status = s.status AND %s AND %s ORDER BY %s LIMIT %d) AS t)",
		from, w.columns, w.table, s.on(c, ownersOf(w.table, "scope")), where, orderBy(w.keys), w.page.Limit+1)}
}
