package projections

import (
	"context"
	"fmt"
	"time"

	"netsim/fault"
)

// usedBySimulations are the tracesets that simulations use which have not ended.
const usedBySimulations = `SELECT traceset_id FROM simulations WHERE status IN ('validating', 'provisioning', 'running') AND deleted = ''`

// ExpiringTraceset is a traceset whose time to live is over.
type ExpiringTraceset struct{ ID, WorkspaceID string }

// ListExpiredTracesets returns at most limit tracesets whose time to live is
// over and that no simulation uses which has not ended (completions.md section
// 6.4).
func ListExpiredTracesets(ctx context.Context, db Reader, now time.Time, limit int) ([]ExpiringTraceset, error) {
	rows, err := db.Query(ctx, `SELECT id, workspace_id FROM tracesets
		WHERE status <> 'deleted' AND expires_at <= $1 AND id NOT IN (`+usedBySimulations+`) ORDER BY expires_at, id LIMIT $2`, now, limit)
	found, err := collect(rows, err, func(t *ExpiringTraceset) []any { return []any{&t.ID, &t.WorkspaceID} })
	if err != nil {
		return nil, fmt.Errorf("list expired tracesets: %w", err)
	}
	return found, nil
}

// UnneededLibraries returns those of the libraries whose objects nobody needs:
// every traceset that refers to one is deleted and would have expired by now,
// and no simulation uses it that has not ended. So are those that no traceset
// has ever referred to.
func UnneededLibraries(ctx context.Context, db Reader, ids []string, now time.Time) (unneeded []string, err error) {
	rows, err := db.Query(ctx, `SELECT wanted.id FROM unnest($1::text[]) AS wanted (id)
		WHERE NOT EXISTS (SELECT FROM tracesets t WHERE t.library_id = wanted.id AND (
			t.status <> 'deleted' OR coalesce(t.expires_at, t.modified_at + t.ttl_days * interval '1 day') > $2
			OR t.id IN (`+usedBySimulations+`)))`, ids, now)
	unneeded, err = collect(rows, err, func(id *string) []any { return []any{id} })
	if err != nil {
		return nil, fmt.Errorf("look for libraries that nobody needs: %w", err)
	}
	return unneeded, nil
}

// TracesetsToCome reports whether an upload is completed whose traceset is not
// there yet. Sessions that ended long ago are not looked at.
func TracesetsToCome(ctx context.Context, db Reader, now time.Time) (bool, error) {
	var some bool
	err := db.QueryRow(ctx, `SELECT EXISTS (SELECT FROM uploads u WHERE u.status = 'completed' AND u.kind = 'traceset'
		AND u.expires_at > $1 AND NOT EXISTS (SELECT FROM tracesets t WHERE t.id = u.result_id))`, now.Add(-24*time.Hour)).Scan(&some)
	if err != nil {
		return false, fmt.Errorf("look for tracesets to come: %w", err)
	}
	return some, nil
}

// FindTracesetUpload reads the upload that a traceset came by, or is to come
// by. It returns NotFound when there is none.
func FindTracesetUpload(ctx context.Context, db Reader, traceset string) (Upload, error) {
	t := &NewUploads().rows
	rows, err := db.Query(ctx, fmt.Sprintf(`SELECT %s FROM uploads WHERE result_id = $1 AND kind = 'traceset'
		ORDER BY created_at DESC, id DESC LIMIT 1`, t.list("")), traceset)
	found, err := collect(rows, err, t.pointers)
	switch {
	case err != nil:
		return Upload{}, fmt.Errorf("look for the upload of traceset %s: %w", traceset, err)
	case len(found) == 0:
		return Upload{}, fault.New(fault.NotFound, "traceset %s does not exist", traceset)
	}
	return found[0], nil
}

// UseIsDue reports whether a use is to be recorded: the traceset expires, and
// the last use that was recorded is more than an hour ago (completions.md
// section 8 row 37).
func (t *Traceset) UseIsDue(now time.Time) bool {
	return t.ExpiresAt != nil && t.Status != Deleted &&
		now.Sub(t.ExpiresAt.AddDate(0, 0, -int(t.TTLDays))) >= time.Hour
}
