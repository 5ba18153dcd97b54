package projections

import (
	"context"
	"fmt"
	"time"
)

// FindUpload reads an upload session in any state. It returns NotFound for a
// missing one.
func FindUpload(ctx context.Context, db Reader, id string) (Upload, error) {
	return find(ctx, db, &NewUploads().table, "upload", id)
}

// ExpiredUploads returns at most limit open upload sessions that have expired, in
// the order of their expiry.
func ExpiredUploads(ctx context.Context, db Reader, now time.Time, limit int) ([]Upload, error) {
	t := &NewUploads().table
	rows, err := db.Query(ctx, fmt.Sprintf(
		`SELECT %s FROM %s WHERE status = 'open' AND expires_at <= $1 ORDER BY expires_at LIMIT $2`, t.columns.List(""), t.name), now, limit)
	found, err := collect(rows, err, t.columns.Scan)
	if err != nil {
		return nil, fmt.Errorf("list the expired uploads: %w", err)
	}
	return found, nil
}
