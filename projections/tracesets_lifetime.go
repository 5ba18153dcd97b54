package projections

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/fault"
)

// usedBySimulations selects the ids of tracesets of simulations that have not
// ended.
const usedBySimulations = `SELECT traceset_id FROM simulations WHERE status IN ('validating', 'provisioning', 'running') AND deleted = ''`

// ListExpiredTracesets returns the ids and partitions of at most limit tracesets
// that have expired and that no unfinished simulation uses (completions.md
// section 6.4).
func ListExpiredTracesets(ctx context.Context, db Reader, now time.Time, limit int) ([]Traceset, error) {
	rows, err := db.Query(ctx, `SELECT id, partition_key FROM tracesets
		WHERE status <> 'deleted' AND expires_at <= $1 AND id NOT IN (`+usedBySimulations+`) ORDER BY expires_at, id LIMIT $2`, now, limit)
	found, err := collect(rows, err, pgx.RowToStructByNameLax[Traceset])
	if err != nil {
		return nil, fmt.Errorf("list expired tracesets: %w", err)
	}
	return found, nil
}

// UnneededLibraries returns which of the libraries have objects that can be deleted.
// All tracesets of such a library are deleted and would have expired by now, and
// no unfinished simulation uses one of them.
func UnneededLibraries(ctx context.Context, db Reader, ids []string, now time.Time) (unneeded []string, err error) {
	rows, err := db.Query(ctx, `SELECT wanted.id FROM unnest($1::text[]) AS wanted (id)
		WHERE EXISTS (SELECT FROM tracesets t WHERE t.library_id = wanted.id)
		AND NOT EXISTS (SELECT FROM tracesets t WHERE t.library_id = wanted.id AND (
			t.status <> 'deleted' OR coalesce(t.expires_at, t.modified_at + t.ttl_days * interval '1 day') > $2
			OR t.id IN (`+usedBySimulations+`)))`, ids, now)
	unneeded, err = collect(rows, err, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("find unneeded libraries: %w", err)
	}
	return unneeded, nil
}

// FindTracesetUpload reads the newest upload of a traceset. It returns NotFound
// when there is none.
func FindTracesetUpload(ctx context.Context, db Reader, traceset string) (Upload, error) {
	t := &NewUploads().table
	rows, err := db.Query(ctx, fmt.Sprintf(`SELECT %s FROM uploads WHERE result_id = $1 AND kind = 'traceset'
		ORDER BY created_at DESC, id DESC LIMIT 1`, t.columns.List("")), traceset)
	found, err := collect(rows, err, t.columns.Scan)
	switch {
	case err != nil:
		return Upload{}, fmt.Errorf("find the upload of traceset %s: %w", traceset, err)
	case len(found) == 0:
		return Upload{}, fault.Missing("traceset", traceset)
	}
	return found[0], nil
}

// UseIsDue reports whether a use must be recorded: the traceset expires, and the
// last recorded use is at least an hour ago (completions.md section 8 row 37).
func (t *Traceset) UseIsDue(now time.Time) bool {
	return t.ExpiresAt != nil && t.Status != Deleted &&
		now.Sub(t.ExpiresAt.AddDate(0, 0, -int(t.TTLDays))) >= time.Hour
}

// ProcessingTracesets returns the ids of at most limit tracesets whose files
// have not been read.
func ProcessingTracesets(ctx context.Context, db Reader, limit int) ([]string, error) {
	return idsOf(ctx, db, `SELECT id FROM tracesets WHERE status = 'processing' ORDER BY id LIMIT $1`, limit)
}

// UnfinishedSimulations returns the ids of at most limit simulations that wait to
// start or are running, oldest first.
func UnfinishedSimulations(ctx context.Context, db Reader, limit int) ([]string, error) {
	return idsOf(ctx, db, `SELECT id FROM simulations
		WHERE status IN ('provisioning', 'running') AND (status = 'provisioning' OR engine <> '') AND deleted = ''
		ORDER BY id LIMIT $1`, limit)
}

func idsOf(ctx context.Context, db Reader, query string, args ...any) ([]string, error) {
	rows, err := db.Query(ctx, query, args...)
	ids, err := collect(rows, err, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("list unfinished work: %w", err)
	}
	return ids, nil
}
