package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Summary describes all jobs of one kind in one of river's states.
type Summary struct {
	Kind          string
	State         string
	Jobs          int64
	OldestSeconds float64 // time since the oldest was enqueued
	Attempts      int64   // of the job with the most attempts
	LastError     string  // the latest error of any job; "" for none
	LastErrorAt   *time.Time
}

// maxErrorBytes bounds the error of a summary.
const maxErrorBytes = 2000

// Summarize returns a summary of each kind and state, unfinished jobs first. The
// queue keeps a job for a day or more after its end.
func Summarize(ctx context.Context, pool *pgxpool.Pool) ([]Summary, error) {
	rows, err := pool.Query(ctx, `
		WITH failed AS (
			SELECT DISTINCT ON (kind, state) kind, state, left(last->>'error', $1) AS error, (last->>'at')::timestamptz AS at
			FROM (SELECT kind, state, errors[array_upper(errors, 1)] AS last FROM jobs.river_job WHERE cardinality(errors) > 0) f
			ORDER BY kind, state, (last->>'at')::timestamptz DESC)
		SELECT kind, state::text, count(*), greatest(extract(epoch FROM now() - min(created_at)), 0)::float8,
			max(attempt), coalesce(max(failed.error), ''), max(failed.at)
		FROM jobs.river_job LEFT JOIN failed USING (kind, state)
		GROUP BY kind, state ORDER BY state IN ('completed', 'cancelled', 'discarded'), kind, state`, maxErrorBytes)
	if err != nil {
		return nil, fmt.Errorf("summarize the jobs: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Summary])
	if err != nil {
		return nil, fmt.Errorf("summarize the jobs: %w", err)
	}
	return all, nil
}

// Job is the state of a job.
type Job struct {
	State    string
	Worker   string // the worker that took the job last; "" for none
	Attempts int64
}

// Latest returns, for each id, the latest job of the kinds whose arguments have the
// id as this member. An id without a job is left out.
func Latest(ctx context.Context, pool *pgxpool.Pool, member string, ids []string, kinds ...string) (map[string]Job, error) {
	rows, err := pool.Query(ctx, `
		SELECT wanted.id, j.state, j.worker, j.attempt FROM unnest($1::text[]) AS wanted (id)
		CROSS JOIN LATERAL (
			SELECT state::text, coalesce(attempted_by[array_upper(attempted_by, 1)], '') AS worker, attempt FROM jobs.river_job
			WHERE kind = ANY($2) AND args @> jsonb_build_object($3::text, wanted.id) ORDER BY id DESC LIMIT 1) j`,
		ids, kinds, member)
	if err != nil {
		return nil, fmt.Errorf("read the latest jobs: %w", err)
	}
	found := map[string]Job{}
	var id string
	var job Job
	_, err = pgx.ForEachRow(rows, []any{&id, &job.State, &job.Worker, &job.Attempts}, func() error {
		found[id] = job
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the latest jobs: %w", err)
	}
	return found, nil
}
