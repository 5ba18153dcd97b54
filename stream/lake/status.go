package lake

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/events"
	"netsim/infra/facts"
)

// Status describes the lake, as seen from any process.
type Status struct {
	Writer      string // the process that has the lease; "" for none
	Snapshot    int64
	CommittedAt time.Time
	LagFacts    int64 // records that are judged, and not in the lake
	Facts       int64 // in the lake
	Files       int64
	Bytes       int64  // of the files
	Waiting     int64  // files that wait to be deleted
	Path        string // of the files
	OtherLog    string // why it is not of this log, and is not written
}

// ReadStatus returns the status of the lake, compared with the log. Judged has the first
// offset of each partition that is not judged.
func ReadStatus(ctx context.Context, pool *pgxpool.Pool, log Log, judged map[events.Family][]int64) (s Status, err error) {
	var exists bool
	if err := pool.QueryRow(ctx, `SELECT to_regclass('lake.netsim_upload') IS NOT NULL`).Scan(&exists); err != nil {
		return s, err
	}
	if !exists {
		return s, ErrMissing
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
	// The catalogue of a release before has no anchors.
	rows, err := pool.Query(ctx, `SELECT family, partition, next, coalesce(to_jsonb(p)->>'anchor', '') FROM lake.netsim_position p ORDER BY 1, 2`)
	if err != nil {
		return s, err
	}
	var at source
	var next int64
	var anchor string
	a := anchors{of: map[source]events.Anchor{}}
	_, err = pgx.ForEachRow(rows, []any{&at.family, &at.partition, &next, &anchor}, func() (err error) {
		if of := judged[at.family]; int(at.partition) < len(of) {
			s.LagFacts += max(0, of[at.partition]-next)
		}
		a.of[at], err = events.ParseAnchor(anchor)
		return err
	})
	if err != nil {
		return s, fmt.Errorf("read the positions of the lake: %w", err)
	}
	if err = a.open(ctx, log); errors.Is(err, ErrOtherLog) {
		s.OtherLog, err = err.Error(), nil
	}
	return s, err
}
