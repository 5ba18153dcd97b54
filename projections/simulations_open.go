package projections

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// openStatuses is the condition that a simulation has not ended. The index
// simulations_open has the same condition.
const openStatuses = `status IN ('validating', 'provisioning', 'running')`

// openRuns is the condition that a simulation has not ended and is not deleted: one that was
// deleted before it started never ends.
const openRuns = openStatuses + ` AND deleted = ''`

// OpenCount is the number of simulations that have not ended, of one status and
// engine.
type OpenCount struct {
	Status      string
	Engine      string // "" before the start
	Simulations int64
}

// CountOpenSimulations counts the simulations that have not ended, by status and
// engine.
func CountOpenSimulations(ctx context.Context, db Reader) ([]OpenCount, error) {
	rows, err := db.Query(ctx, `SELECT status, engine, count(*) FROM simulations
		WHERE `+openRuns+` GROUP BY status, engine ORDER BY status, engine`)
	counts, err := collect(rows, err, pgx.RowToStructByPos[OpenCount])
	if err != nil {
		return nil, fmt.Errorf("count the open simulations: %w", err)
	}
	return counts, nil
}

// CountStalledSimulations counts the simulations that run while simulated time stands
// still.
func CountStalledSimulations(ctx context.Context, db Reader) (stalled int64, err error) {
	err = db.QueryRow(ctx, `SELECT count(*) FROM simulations WHERE `+openRuns+` AND stalled_since IS NOT NULL`).Scan(&stalled)
	if err != nil {
		return 0, fmt.Errorf("count the stalled simulations: %w", err)
	}
	return stalled, nil
}

// OpenSimulations returns at most limit simulations that have not ended, by
// status, engine and age, oldest first. It also returns the number of simulations
// of each status and engine.
func OpenSimulations(ctx context.Context, db Reader, limit int) ([]Simulation, []OpenCount, error) {
	counts, err := CountOpenSimulations(ctx, db)
	if err != nil {
		return nil, nil, err
	}
	t := NewSimulations()
	rows, err := db.Query(ctx, fmt.Sprintf(`SELECT %s FROM %s WHERE %s ORDER BY status, engine, created_at, id LIMIT $1`,
		t.columns.List(""), t.name, openRuns), limit)
	open, err := collect(rows, err, t.columns.Scan)
	if err != nil {
		return nil, nil, fmt.Errorf("list the open simulations: %w", err)
	}
	return open, counts, nil
}
