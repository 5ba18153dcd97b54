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

// LibraryQuery asks for the libraries of tracesets that the caller can see
// (completions.md section 2.7).
type LibraryQuery struct {
	Seen  Rule   // each of its scopes has one value of Sharing
	Scope string // scope of the most promoted traceset; "" for every scope
	Page  Page
}

// Library is a library, computed from the visible tracesets that refer to it.
type Library struct {
	ID         string
	Hash       string
	Format     string
	Layout     string
	Scope      string // of the most promoted traceset
	TotalSize  int64  // bytes
	References int64  // tracesets
	RankCount  int64
	Status     string // of the traceset whose extraction has come furthest
	Files      string // JSON array of events.TracesetFile
	FileCount  int64  // with layout prefix: the files in the folder
	Family     string // workloadFamily of the oldest traceset that has one
	CreatedAt  time.Time
}

// FileList returns the files as they were uploaded.
func (l *Library) FileList() ([]events.TracesetFile, error) {
	return fileList[events.TracesetFile]("library", l.ID, l.Files)
}

// seen returns the SQL condition that the caller can see a traceset.
func (q LibraryQuery) seen(c *conditions, row string) string {
	return q.Seen.on(c, ownersOf(row, "scope"))
}

// ListLibraries returns one page, newest first, and the position of the next
// one. A library takes the position of the oldest of its most promoted
// tracesets, so a page is a list of these tracesets.
func ListLibraries(ctx context.Context, db Reader, q LibraryQuery) ([]Library, []string, error) {
	keys := []sortKey{{"created_at", "timestamptz", true}, {"id", "text", true}}
	if err := q.Page.fits(keys); err != nil {
		return nil, nil, err
	}
	const rank = "array_position(ARRAY['workspace', 'tenant', 'public'], %s.scope)"
	var c conditions
	first := fmt.Sprintf(`NOT EXISTS (SELECT FROM tracesets o WHERE o.library_hash = tracesets.library_hash AND o.status <> 'deleted' AND %s
		AND (%s > %s OR o.scope = tracesets.scope AND (o.created_at, o.id) < (tracesets.created_at, tracesets.id)))`,
		q.seen(&c, "o"), fmt.Sprintf(rank, "o"), fmt.Sprintf(rank, "tracesets"))
	w := walk{
		table: "tracesets", columns: "library_hash, created_at, id", keys: keys, page: q.Page,
		where:    "status <> 'deleted' AND " + first,
		statuses: []string{commands.TracesetReady, commands.TracesetProcessing, commands.TracesetMetadataFailed},
	}
	var walks []string
	for _, s := range q.Seen {
		if q.Scope == "" || q.Scope == s.Sharing {
			walks = append(walks, w.in(s, &c)...)
		}
	}
	if len(walks) == 0 {
		return nil, nil, nil
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

// readLibraries reads the libraries with these hashes, in their order.
func readLibraries(ctx context.Context, db Reader, q LibraryQuery, hashes []string) ([]Library, error) {
	var c conditions
	wanted := c.arg(hashes)
	// Metadata that was extracted for one traceset applies to all tracesets of the
	// library.
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

// FindLibraries returns at most limit visible libraries, in the order of their
// hashes: those with the id or, if id is "", those whose hash has the prefix.
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
		return nil, fmt.Errorf("find library %s%s: %w", id, prefix, err)
	}
	return readLibraries(ctx, db, q, hashes)
}

// ListLibraryTracesets returns the ids, names and workspaces of at most limit
// visible tracesets of a library, newest first.
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
