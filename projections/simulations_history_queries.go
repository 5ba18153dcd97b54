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
	Progressed bool // it came further; otherwise its status changed
	Status     string
	Reason     string       // of a failure
	Progress   *RunProgress // nil before there is any
}

// History returns up to limit moments of a simulation after a sequence, oldest
// first.
func History(ctx context.Context, db Reader, simulation string, after int64, limit int) ([]Moment, error) {
	rows, err := db.Query(ctx, `
		SELECT sequence, moment_at, progressed, status, reason, progress FROM simulation_history
		WHERE simulation_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3`, simulation, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read the history of simulation %s: %w", simulation, err)
	}
	moments, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m Moment, err error) {
		var progress string
		if err := row.Scan(&m.Sequence, &m.At, &m.Progressed, &m.Status, &m.Reason, &progress); err != nil || progress == "" {
			return m, err
		}
		return m, json.Unmarshal([]byte(progress), &m.Progress)
	})
	if err != nil {
		return nil, fmt.Errorf("read the history of simulation %s: %w", simulation, err)
	}
	return moments, nil
}

// Followed is how a simulation's history stands.
type Followed struct {
	Simulation string
	Last       int64 // sequence of its last moment
	Gone       bool  // it or its workspace is deleted
}

// Follow returns how the histories of the simulations stand.
func Follow(ctx context.Context, db Reader, simulations []string) ([]Followed, error) {
	rows, err := db.Query(ctx, `
		SELECT s.id, coalesce((SELECT max(sequence) FROM simulation_history WHERE simulation_id = s.id), 0),
			s.deleted <> '' OR NOT EXISTS (SELECT FROM workspaces WHERE id = s.workspace_id AND state = 'live')
		FROM simulations AS s WHERE s.id = ANY($1)`, simulations)
	followed, err := collect(rows, err, func(f *Followed) []any { return []any{&f.Simulation, &f.Last, &f.Gone} })
	if err != nil {
		return nil, fmt.Errorf("follow simulations: %w", err)
	}
	return followed, nil
}
