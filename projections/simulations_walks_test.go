package projections_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/projections"
)

// explained runs each query, and adds up the rows that its plan reads.
type explained struct {
	*pgx.Conn
	t      *testing.T
	tables []string
	read   float64 // rows read from the tables
}

func (e *explained) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	e.explain(ctx, sql, args...)
	return e.Conn.Query(ctx, sql, args...)
}

func (e *explained) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	e.explain(ctx, sql, args...)
	return e.Conn.QueryRow(ctx, sql, args...)
}

func (e *explained) explain(ctx context.Context, sql string, args ...any) {
	var plans []struct{ Plan planNode }
	if err := e.Conn.QueryRow(ctx, "EXPLAIN (ANALYZE, FORMAT JSON) "+sql, args...).Scan(&plans); err != nil {
		e.t.Fatal(err)
	}
	e.read += plans[0].Plan.rows(e.tables)
}

type planNode struct {
	Type    string     `json:"Node Type"`
	Table   string     `json:"Relation Name"`
	Rows    float64    `json:"Actual Rows"`
	Removed float64    `json:"Rows Removed by Filter"`
	Loops   float64    `json:"Actual Loops"`
	Plans   []planNode `json:"Plans"`
}

func (n planNode) rows(tables []string) float64 {
	var sum float64
	if slices.Contains(tables, n.Table) {
		sum = (n.Rows + n.Removed) * n.Loops
	}
	for _, p := range n.Plans {
		sum += p.rows(tables)
	}
	return sum
}

// TestPagesAreShortWalks: the number of rows that a page reads is proportional to
// its size, at every position of a long list and with every filter.
func TestPagesAreShortWalks(t *testing.T) {
	t.Parallel()
	m, err := newReadModel(t.Context(), connect(t), "rm", projections.NewWorkspaces(), projections.NewSimulations())
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`INSERT INTO workspaces SELECT 'workspace_' || i, 'acct_a', 'w', '', 'u', '', 1, 'live', now(), now() FROM generate_series(0, 9) i`,
		`INSERT INTO simulations SELECT 'sim_' || lpad(i::text, 26, '0'), CASE i % 50 WHEN 0 THEN 'acct_b' ELSE 'acct_a' END,
			'workspace_' || i % 10, 'config_x', 1, 'run-' || i % 97,
			CASE WHEN i % 1000 = 3 THEN 'running' WHEN i % 3 = 0 THEN 'failed' ELSE 'completed' END,
			'{}', 'start', 1, '1s', 0, '', '', '', 'u', '', '', '', '', '', 1, '', 0, 0, 0, 0, 0, 0, 0, 0, '', NULL, NULL, 0, '', '', '', '', 0, 0, 0, '',
			timestamptz '2026-01-01Z' + i * interval '1 second', NULL, NULL FROM generate_series(1, 100000) i`,
		`UPDATE simulations SET name = 'needle' WHERE id = 'sim_' || lpad('501', 26, '0')`,
		`INSERT INTO simulation_items (account_id, created_at, id, workspace_id, name, item)
			SELECT account_id, created_at, id, workspace_id, name, item FROM simulations`,
		`INSERT INTO simulation_counts SELECT workspace_id, account_id, count(*), 0 FROM simulations GROUP BY 1, 2`,
		`ANALYZE`,
	} {
		if _, err := m.db.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	newest, byName := []projections.Order{{Key: "created", Desc: true}}, []projections.Order{{Key: "name"}}
	middle := []string{"2026-01-01T14:00:00Z", "sim_x"}
	account := projections.Scope{AccountID: "acct_a", Live: true}
	for name, c := range map[string]struct {
		query projections.SimulationQuery
		most  float64 // rows read for a page of 100
	}{
		"first page":          {projections.SimulationQuery{Scope: account, Sort: newest}, 101},
		"middle page":         {projections.SimulationQuery{Scope: account, Sort: newest, Page: projections.Page{After: middle}}, 101},
		"by name":             {projections.SimulationQuery{Scope: account, Sort: byName, Page: projections.Page{After: []string{"run-50", "sim_x"}}}, 101},
		"oldest first":        {projections.SimulationQuery{Scope: account, Sort: []projections.Order{{Key: "created"}}}, 101},
		"a rare status":       {projections.SimulationQuery{Scope: account, Sort: newest, Statuses: []string{"running"}, Page: projections.Page{After: middle}}, 101},
		"three statuses":      {projections.SimulationQuery{Scope: account, Sort: newest, Statuses: []string{"running", "failed", "completed"}}, 210},
		"a workspace":         {projections.SimulationQuery{Scope: account.In("workspace_3"), Sort: newest, Page: projections.Page{After: middle}}, 108},
		"status of workspace": {projections.SimulationQuery{Scope: account.In("workspace_3"), Sort: newest, Statuses: []string{"running"}}, 101},
		"some workspaces":     {projections.SimulationQuery{Scope: projections.Scope{AccountID: "acct_a", Live: true, Workspaces: []string{"workspace_1", "workspace_2"}}, Sort: newest}, 115},
		"the platform":        {projections.SimulationQuery{Scope: projections.Scope{Live: true}, Sort: newest, Page: projections.Page{After: middle}}, 303},
		"a span of time": {projections.SimulationQuery{Scope: account, Sort: newest, Where: []projections.Filter{projections.Within("created_at",
			time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC), time.Date(2026, 1, 1, 6, 0, 0, 0, time.UTC))}}, 101},
		"a common name":       {projections.SimulationQuery{Scope: account, Sort: newest, Search: "RUN"}, 601},
		"a rare name":         {projections.SimulationQuery{Scope: account, Sort: newest, Search: "Needle"}, 502},
		"a rare name by name": {projections.SimulationQuery{Scope: account, Sort: byName, Search: "Needle"}, 502},
		"a workspace by name": {projections.SimulationQuery{Scope: account.In("workspace_3"), Sort: byName}, 101},
	} {
		t.Run(name, func(t *testing.T) {
			q := c.query
			q.Page.Limit = 100
			db := &explained{Conn: m.db, t: t, tables: []string{"simulations", "simulation_items"}}
			items, _, err := projections.ListSimulations(t.Context(), db, q)
			if err != nil {
				t.Fatal(err)
			}
			if len(items) == 0 || db.read > c.most {
				t.Errorf("got %d rows on the page and %.0f rows read, want some on the page and at most %.0f read", len(items), db.read, c.most)
			}
		})
	}
}
