package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Count is the number of jobs of a kind and state.
type Count struct {
	Kind   string
	State  string
	Jobs   int64
	Oldest time.Time // when the oldest of them was enqueued
}

// Counts returns the numbers of jobs that have not ended, by kind and state.
func (j *Jobs) Counts(ctx context.Context) ([]Count, error) {
	rows, err := j.pool.Query(ctx, `
		SELECT kind, state::text, count(*), min(created_at) FROM jobs.river_job
		WHERE state = ANY($1::text[]::jobs.river_job_state[]) GROUP BY kind, state`, openStates())
	if err != nil {
		return nil, fmt.Errorf("count the jobs: %w", err)
	}
	counts, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Count])
	if err != nil {
		return nil, fmt.Errorf("count the jobs: %w", err)
	}
	return counts, nil
}

// Stat returns the use of the queue's connections.
func (j *Jobs) Stat() *pgxpool.Stat { return j.pool.Stat() }
