package projections

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/commands"
	"netsim/events"
)

// LibraryQuery asks for libraries as the tracesets tell of them that can be
// seen: those of a workspace, those promoted to its account, and everyone's
// public ones; of no workspace only these (completions.md section 2.7).
type LibraryQuery struct {
	AccountID string // "" for every account
	Workspace string // "" for none
	Scope     string // of the library, as its most promoted traceset has it; "" for every one
	Page      Page
}

// Library is what can be seen of a library.
type Library struct {
	ID         string
	Hash       string
	Format     string
	Layout     string
	Scope      string // of the most promoted traceset
	TotalSize  int64  // bytes
	References int64  // tracesets
	RankCount  int64
	Status     string // of the traceset of which most is known
	Files      string // JSON array of events.TracesetFile
	FileCount  int64  // of a prefix
	Family     string // workloadFamily of a traceset that says one
	CreatedAt  time.Time
}

// FileList are the files as they were uploaded.
func (l *Library) FileList() ([]events.TracesetFile, error) {
	return fileList[events.TracesetFile]("library", l.ID, l.Files)
}

// seen is the SQL condition that a traceset can be seen.
func (q LibraryQuery) seen(c *conditions, row string) string {
	public := row + ".scope = 'public'"
	if q.Workspace == "" {
		return public
	}
	account := "true"
	if q.AccountID != "" {
		account = row + ".account_id = " + c.arg(q.AccountID)
	}
	return fmt.Sprintf(`(%s OR %s AND (%s.scope = 'tenant' OR %s.workspace_id = %s
		AND NOT EXISTS (SELECT FROM workspaces w WHERE w.id = %s.workspace_id AND w.state <> 'live')))`,
		public, account, row, row, c.arg(q.Workspace), row)
}

// scopes are those that are asked for, of what can be seen.
func (q LibraryQuery) scopes() []string {
	var scopes []string
	for _, s := range []string{commands.ScopePublic, commands.ScopeTenant, commands.ScopeWorkspace} {
		if (q.Scope == "" || q.Scope == s) && (q.Workspace != "" || s == commands.ScopePublic) {
			scopes = append(scopes, s)
		}
	}
	return scopes
}

// ListLibraries returns one page, newest first, and the position of the next
// one. A library stands where the oldest of its most promoted tracesets does,
// so that a page is walks over tracesets that leave out the others.
func ListLibraries(ctx context.Context, db Reader, q LibraryQuery) ([]Library, []string, error) {
	keys := []sortKey{{"created_at", "timestamptz", true}, {"id", "text", true}}
	scopes := q.scopes()
	if err := q.Page.fits(keys); err != nil || len(scopes) == 0 {
		return nil, nil, err
	}
	const rank = "array_position(ARRAY['workspace', 'tenant', 'public'], %s.scope)"
	var c conditions
	c.after(keys, q.Page.After)
	all := TracesetQuery{Scope: Scope{AccountID: q.AccountID}}
	if q.Workspace != "" {
		all.Scope.Workspaces = []string{q.Workspace}
	}
	var walks []string
	first := fmt.Sprintf(`NOT EXISTS (SELECT FROM tracesets o WHERE o.library_hash = tracesets.library_hash AND o.status <> 'deleted' AND %s
		AND (%s > %s OR o.scope = tracesets.scope AND (o.created_at, o.id) < (tracesets.created_at, tracesets.id)))`,
		q.seen(&c, "o"), fmt.Sprintf(rank, "o"), fmt.Sprintf(rank, "tracesets"))
	statuses := c.arg([]string{commands.TracesetReady, commands.TracesetProcessing, commands.TracesetMetadataFailed})
	for _, scope := range scopes {
		w := tracesetWalk{scope: scope, where: "true"}
		switch {
		case scope == commands.ScopeWorkspace:
			w, _ = all.own(&c)
		case scope == commands.ScopeTenant && q.AccountID != "":
			w.where = "account_id = " + c.arg(q.AccountID)
		}
		walks = append(walks, w.over("tracesets", "library_hash, created_at, id",
			fmt.Sprintf("status = s.status AND status <> 'deleted' AND scope = '%s' AND %s AND %s", scope, c.where(), first), statuses, keys, q.Page.Limit))
	}
	rows, err := db.Query(ctx, fmt.Sprintf("SELECT * FROM (%s) AS t ORDER BY %s LIMIT %d",
		strings.Join(walks, " UNION ALL "), orderBy(keys), q.Page.Limit+1), c.args...)
	type standing struct {
		LibraryHash, ID string
		CreatedAt       time.Time
	}
	found, err := collect(rows, err, pgx.RowToStructByName[standing])
	if err != nil {
		return nil, nil, fmt.Errorf("list libraries: %w", err)
	}
	found, next := cut(found, q.Page.Limit, func(s *standing) []any { return []any{s.CreatedAt, s.ID} })
	hashes := make([]string, len(found))
	for i, s := range found {
		hashes[i] = s.LibraryHash
	}
	libraries, err := readLibraries(ctx, db, q, hashes)
	return libraries, next, err
}

// readLibraries reads what can be seen of libraries, in the order of the hashes.
func readLibraries(ctx context.Context, db Reader, q LibraryQuery, hashes []string) ([]Library, error) {
	var c conditions
	wanted := c.arg(hashes)
	// What one traceset of a library has learnt holds for all of them.
	const best = "ORDER BY array_position(ARRAY['ready', 'processing', 'metadata_failed'], status), created_at, id"
	one := func(column string) string { return fmt.Sprintf("(array_agg(%[1]s %[2]s))[1] AS %[1]s", column, best) }
	rows, err := db.Query(ctx, fmt.Sprintf(`
		SELECT min(library_id) AS id, library_hash AS hash, %s, %s,
			CASE WHEN bool_or(scope = 'public') THEN 'public' WHEN bool_or(scope = 'tenant') THEN 'tenant' ELSE 'workspace' END AS scope,
			min(total_size) AS total_size, count(*) AS "references", %s, %s, %s, %s,
			coalesce((array_agg(family ORDER BY created_at, id) FILTER (WHERE family <> ''))[1], '') AS family, min(created_at) AS created_at
		FROM (SELECT *, CASE workload WHEN '' THEN '' ELSE coalesce(workload::json ->> 'workloadFamily', '') END AS family
			FROM tracesets t WHERE library_hash = ANY(%s) AND status <> 'deleted' AND %s) AS t
		GROUP BY library_hash ORDER BY array_position(%s, library_hash)`,
		one("format"), one("layout"), one("rank_count"), one("status"), one("files"), one("file_count"),
		wanted, q.seen(&c, "t"), wanted), c.args...)
	found, err := collect(rows, err, pgx.RowToStructByName[Library])
	if err != nil {
		return nil, fmt.Errorf("read libraries: %w", err)
	}
	return found, nil
}

// FindLibraries returns the libraries that can be seen and that have the id, or
// a hash that begins with the prefix; in the order of their hashes, at most as
// many as limit.
func FindLibraries(ctx context.Context, db Reader, q LibraryQuery, id, prefix string, limit int) ([]Library, error) {
	var c conditions
	if id != "" {
		c.add("t.library_id = ?", id)
	} else {
		c.add("t.library_hash BETWEEN ? AND ?", prefix, prefix+strings.Repeat("f", 64-len(prefix)))
	}
	seen := q.seen(&c, "t")
	rows, err := db.Query(ctx, fmt.Sprintf(`SELECT DISTINCT library_hash FROM tracesets t WHERE status <> 'deleted' AND %s AND %s
		ORDER BY library_hash LIMIT %d`, c.where(), seen, limit), c.args...)
	hashes, err := collect(rows, err, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("look for library %s%s: %w", id, prefix, err)
	}
	return readLibraries(ctx, db, q, hashes)
}

// ListLibraryTracesets returns the tracesets of a library that can be seen, the
// newest first: their ids, names and workspaces.
func ListLibraryTracesets(ctx context.Context, db Reader, q LibraryQuery, hash string, limit int) ([]Traceset, error) {
	var c conditions
	c.add("t.library_hash = ?", hash)
	seen := q.seen(&c, "t")
	rows, err := db.Query(ctx, fmt.Sprintf(`SELECT id, name, workspace_id FROM tracesets t
		WHERE status <> 'deleted' AND %s AND %s ORDER BY created_at DESC, id DESC LIMIT %d`, c.where(), seen, limit), c.args...)
	found, err := collect(rows, err, pgx.RowToStructByNameLax[Traceset])
	if err != nil {
		return nil, fmt.Errorf("list the tracesets of library %s: %w", hash, err)
	}
	return found, nil
}
