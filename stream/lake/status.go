package lake

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/events"
	"netsim/infra/facts"
)

// Status describes the lake, as seen from any process.
type Status struct {
	Writer      string    `json:"writer"` // the process that has the lease; "" for none
	Snapshot    int64     `json:"snapshot"`
	CommittedAt time.Time `json:"committedAt"`
	LagFacts    int64     `json:"lagFacts"` // records that are judged, and not in the lake
	Facts       int64     `json:"facts"`    // in the lake
	Files       int64     `json:"files"`
	Bytes       int64     `json:"bytes"`   // of the files
	Waiting     int64     `json:"waiting"` // files that wait to be deleted
	Path        string    `json:"path"`    // of the files
}

// ReadStatus returns the status of the lake. Judged has the first offset of each
// partition that is not judged.
func ReadStatus(ctx context.Context, pool *pgxpool.Pool, judged map[events.Family][]int64) (s Status, err error) {
	var exists bool
	if err := pool.QueryRow(ctx, `SELECT to_regclass('lake.netsim_upload') IS NOT NULL`).Scan(&exists); err != nil {
		return s, err
	}
	if !exists {
		return s, errMissing
	}
	if s.Writer, err = facts.Holders(ctx, pool, Subscriber); err != nil {
		return s, err
	}
	err = pool.QueryRow(ctx, `
		SELECT snapshot_id, snapshot_time,
			(SELECT coalesce(sum(record_count), 0)::bigint FROM lake.ducklake_data_file WHERE end_snapshot IS NULL),
			(SELECT count(*) FROM lake.ducklake_data_file WHERE end_snapshot IS NULL),
			(SELECT coalesce(sum(file_size_bytes), 0)::bigint FROM lake.ducklake_data_file WHERE end_snapshot IS NULL),
			(SELECT count(*) FROM lake.ducklake_files_scheduled_for_deletion) + (SELECT count(*) FROM lake.netsim_upload WHERE refused),
			(SELECT value FROM lake.ducklake_metadata WHERE key = 'data_path' AND scope IS NULL)
		FROM lake.ducklake_snapshot ORDER BY snapshot_id DESC LIMIT 1`).
		Scan(&s.Snapshot, &s.CommittedAt, &s.Facts, &s.Files, &s.Bytes, &s.Waiting, &s.Path)
	if err != nil {
		return s, fmt.Errorf("read the status of the lake: %w", err)
	}
	rows, err := pool.Query(ctx, `SELECT family, partition, next FROM lake.netsim_position`)
	if err != nil {
		return s, err
	}
	defer rows.Close()
	for rows.Next() {
		var at source
		var next int64
		if err := rows.Scan(&at.family, &at.partition, &next); err != nil {
			return s, err
		}
		if of := judged[at.family]; int(at.partition) < len(of) {
			s.LagFacts += max(0, of[at.partition]-next)
		}
	}
	return s, rows.Err()
}
