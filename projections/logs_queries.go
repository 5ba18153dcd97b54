package projections

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// LogLine is one entry of a simulation's log.
type LogLine struct {
	Line      int64     // 1, 2, 3 … within the simulation
	At        time.Time `db:"logged_at"`
	Level     int       // 0 debug, 1 info, 2 warn, 3 error
	Component string
	Message   string
}

// LogQuery asks for a simulation's log, oldest first.
type LogQuery struct {
	Simulation string
	Where      []Filter
	Page       Page
}

// ListLogs returns one page and the position of the next one.
func ListLogs(ctx context.Context, db Reader, q LogQuery) ([]LogLine, []string, error) {
	keys := []sortKey{{"line", "bigint", false}}
	if err := q.Page.fits(keys); err != nil {
		return nil, nil, err
	}
	var c conditions
	c.add("simulation_id = ?", q.Simulation)
	c.filter(q.Where)
	c.after(keys, q.Page.After)
	rows, err := db.Query(ctx, fmt.Sprintf(`
		SELECT line, logged_at, level, component, message FROM simulation_logs
		WHERE %s ORDER BY %s LIMIT %s`, c.where(), orderBy(keys), strconv.Itoa(q.Page.Limit+1)), c.args...)
	lines, err := collect(rows, err, pgx.RowToStructByName[LogLine])
	if err != nil {
		return nil, nil, fmt.Errorf("list the log of simulation %s: %w", q.Simulation, err)
	}
	lines, next := cut(lines, q.Page.Limit, func(l *LogLine) []any { return []any{l.Line} })
	return lines, next, nil
}
