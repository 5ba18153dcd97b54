package projections

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Moment is one entry of a simulation's history.
type Moment struct {
	Sequence   int64 // of the fact in its stream, ascending, with gaps
	At         time.Time
	Progressed bool // whether it is a progress report; otherwise the status changed
	Status     string
	Reason     string       // why the simulation failed or is invalid
	Progress   *RunProgress // nil before the first report
}

// History returns at most limit moments of a simulation after a sequence number,
// oldest first.
func History(ctx context.Context, db Reader, simulation string, after int64, limit int) ([]Moment, error) {
	rows, err := db.Query(ctx, `
		SELECT `+momentColumns.List("")+` FROM simulation_history
		WHERE simulation_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3`, simulation, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read the history of simulation %s: %w", simulation, err)
	}
	moments, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Moment, error) {
		stored, err := momentColumns.Scan(row)
		m := Moment{Sequence: stored.Sequence, At: stored.MomentAt, Progressed: stored.Progressed, Status: stored.Status, Reason: stored.Reason}
		if err == nil && stored.Progress != "" {
			err = json.Unmarshal([]byte(stored.Progress), &m.Progress)
		}
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("read the history of simulation %s: %w", simulation, err)
	}
	return moments, nil
}

// Followed is what followers of a simulation or a study are woken by.
type Followed struct {
	ID   string
	Last int64 // sequence of the last moment of a simulation, number of the state of a study
	Gone bool  // whether it or its workspace is deleted
}

// gone is the condition that the simulation or study s or its workspace is deleted.
const gone = `(s.deleted <> '' OR NOT EXISTS (SELECT FROM workspaces WHERE id = s.workspace_id AND state = 'live'))`

// Follow returns the states of the histories of the simulations.
func Follow(ctx context.Context, db Reader, simulations []string) ([]Followed, error) {
	rows, err := db.Query(ctx, `
		SELECT s.id, coalesce((SELECT max(sequence) FROM simulation_history WHERE simulation_id = s.id), 0) AS last,
			`+gone+` AS gone
		FROM simulations AS s WHERE s.id = ANY($1)`, simulations)
	followed, err := collect(rows, err, pgx.RowToStructByName[Followed])
	if err != nil {
		return nil, fmt.Errorf("follow simulations: %w", err)
	}
	return followed, nil
}
