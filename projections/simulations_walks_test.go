package projections_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
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
	values := make([]string, len(args))
	for i, arg := range args {
		values[i] = literal(arg)
	}
	execute := "EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE walk"
	if len(values) > 0 {
		execute += "(" + strings.Join(values, ", ") + ")"
	}
	if _, err := e.Exec(ctx, "PREPARE walk AS "+sql); err != nil {
		e.t.Fatal(err)
	}
	var plans []struct{ Plan planNode }
	if err := e.Conn.QueryRow(ctx, execute, pgx.QueryExecModeExec).Scan(&plans); err != nil {
		e.t.Fatal(err)
	}
	if _, err := e.Exec(ctx, "DEALLOCATE walk"); err != nil {
		e.t.Fatal(err)
	}
	read := plans[0].Plan.rows(e.tables)
	e.t.Logf("%.0f rows read by %s", read, sql)
	e.read += read
}

// literal returns an argument as SQL. EXPLAIN shows the plan of a prepared
// statement only for EXECUTE, and then takes no parameters.
func literal(arg any) string {
	switch v := arg.(type) {
	case string:
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	case time.Time:
		return "'" + v.UTC().Format(time.RFC3339Nano) + "'"
	default: // a slice of names or numbers
		return "'{" + strings.Trim(strings.ReplaceAll(fmt.Sprint(v), " ", ","), "[]") + "}'"
	}
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

// longList fills the tables with a hundred thousand simulations, ten seconds
// apart. One is named needle, and one in fifty is another account's.
func longList(t *testing.T, m *readModel) {
	t.Helper()
	for _, statement := range []string{
		`INSERT INTO workspaces SELECT 'workspace_' || i, 'acct_a', 'w', '', 'u', '', 1, 'live', now(), now() FROM generate_series(0, 9) i`,
		`INSERT INTO simulations (
				id, account_id, workspace_id, configuration_id, configuration_version, name, status, item, origin,
				duration_ns, duration, checkpoint_interval_ns, mapping_file_id, traceset_id, simple, created_by,
				sandbox_id, engine, run_id, base_url, capabilities, ranks, failure_reason, simulated_time_ns,
				events_processed, delivered_bytes, finished_ranks, unfinished_ranks, total_bytes,
				finished_collectives, total_collectives, last_collective, progressed_at, stalled_since, checkpoint,
				checkpoint_key, earlier_checkpoint, results_prefix, results_manifest, results_bytes, total_packets,
				avg_latency_ps, study_id, study_point, study_round, input_hash, engine_version, time_ps, goodput_bps, mean_link_ppm,
				busiest_tier, bottleneck, bottleneck_ppm, exposed_ppm, dominated_by, domination_reason, deleted, created_at, started_at, completed_at)
			SELECT 'sim_' || lpad(i::text, 26, '0'), CASE i % 50 WHEN 0 THEN 'acct_b' ELSE 'acct_a' END,
			'workspace_' || i % 10, 'config_x', 1, 'run-' || i % 97,
			CASE WHEN i % 1000 = 3 THEN 'running' WHEN i % 3 = 0 THEN 'failed' ELSE 'completed' END,
			'{}', 'start', 1, '1s', 0, '', '', '', 'u', '', '', '', '', '', 1, '', 0, 0, 0, 0, 0, 0, 0, 0, '', NULL, NULL, 0, '', '', '', '', 0, 0, 0, '', 0, 0, '', '', 0, 0, 0, '', '', 0, 0, 0, '', '',
			timestamptz '2026-01-01Z' + i * interval '10 seconds', CASE WHEN i % 4 > 0 THEN timestamptz '2026-01-02Z' + i * interval '7 seconds' END,
			CASE WHEN i % 4 > 1 THEN timestamptz '2026-01-03Z' + i * interval '8 seconds' END FROM generate_series(1, 100000) i`,
		`UPDATE simulations SET name = 'needle' WHERE id = 'sim_' || lpad('501', 26, '0')`,
		`CREATE TEMPORARY TABLE named (name text, account_id text, day date, grams int4[])`,
	} {
		if _, err := m.db.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	var named [][]any
	for day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC); day.Month() == 1; day = day.AddDate(0, 0, 1) {
		for n := range 98 {
			name := fmt.Sprintf("run-%d", n)
			if n == 97 {
				name = "needle"
			}
			for _, account := range []string{"acct_a", "acct_b"} {
				named = append(named, []any{name, account, day, projections.Grams(account, name, day)})
			}
		}
	}
	if _, err := m.db.CopyFrom(t.Context(), pgx.Identifier{"named"}, []string{"name", "account_id", "day", "grams"}, pgx.CopyFromRows(named)); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`SET timezone = UTC`,
		`INSERT INTO simulation_items (account_id, created_at, id, workspace_id, name, item, grams)
			SELECT account_id, created_at, id, workspace_id, name, item, grams
			FROM simulations JOIN named USING (name, account_id) WHERE day = created_at::date`,
		`INSERT INTO simulation_counts SELECT workspace_id, account_id, count(*), 0 FROM simulations GROUP BY 1, 2`,
		`ANALYZE`,
	} {
		if _, err := m.db.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPagesAreShortWalks: the rows that a page reads are proportional to its size,
// at every position of a long list, in every order and with every restriction,
// with a custom and with a generic plan.
func TestPagesAreShortWalks(t *testing.T) {
	t.Parallel()
	m, err := newReadModel(t.Context(), connect(t), "rm", projections.NewWorkspaces(), projections.NewSimulations())
	if err != nil {
		t.Fatal(err)
	}
	longList(t, m)
	by := func(keys ...string) (sort []projections.Order) {
		for _, key := range keys {
			name, direction, _ := strings.Cut(key, ":")
			sort = append(sort, projections.Order{Key: name, Desc: direction == "desc"})
		}
		return sort
	}
	newest, byName := by("created:desc"), by("name")
	after := func(position ...string) projections.Page { return projections.Page{After: position} }
	middle := after("2026-01-06T18:53:20Z", "sim_x")
	account := projections.Scope{AccountID: "acct_a", Live: true}
	third := account.In("workspace_3")
	for name, c := range map[string]struct {
		query projections.SimulationQuery
		most  float64 // rows read for a page of 100
	}{
		"first page":          {projections.SimulationQuery{Scope: account, Sort: newest}, 101},
		"middle page":         {projections.SimulationQuery{Scope: account, Sort: newest, Page: middle}, 101},
		"oldest first":        {projections.SimulationQuery{Scope: account, Sort: by("created")}, 101},
		"by name":             {projections.SimulationQuery{Scope: account, Sort: byName, Page: after("run-50", "sim_x")}, 101},
		"by status":           {projections.SimulationQuery{Scope: account, Sort: by("status")}, 101},
		"by status, middle":   {projections.SimulationQuery{Scope: account, Sort: by("status:desc"), Page: after("failed", "sim_00000000000000000000050000")}, 101},
		"by start":            {projections.SimulationQuery{Scope: account, Sort: by("started")}, 101},
		"by start, middle":    {projections.SimulationQuery{Scope: account, Sort: by("started:desc"), Page: after("2026-01-06T18:53:20Z", "sim_x")}, 101},
		"not started, middle": {projections.SimulationQuery{Scope: account, Sort: by("started:desc"), Page: after("infinity", "sim_00000000000000000000050000")}, 101},
		"by end":              {projections.SimulationQuery{Scope: account, Sort: by("completed:desc")}, 101},
		"by end, middle":      {projections.SimulationQuery{Scope: account, Sort: by("completed"), Page: after("2026-01-06T18:53:20Z", "sim_x")}, 101},
		"by status and creation": {projections.SimulationQuery{Scope: account, Sort: by("status", "created:desc"),
			Page: after("completed", "2026-01-06T18:53:20Z", "sim_x")}, 303},
		"by end, of a status":    {projections.SimulationQuery{Scope: account, Sort: by("completed"), Statuses: []string{"failed"}}, 310},
		"by start, of workspace": {projections.SimulationQuery{Scope: third, Sort: by("started")}, 1_100},
		"a rare status":          {projections.SimulationQuery{Scope: account, Sort: newest, Statuses: []string{"running"}, Page: middle}, 101},
		"three statuses":         {projections.SimulationQuery{Scope: account, Sort: newest, Statuses: []string{"running", "failed", "completed"}}, 210},
		"a workspace":            {projections.SimulationQuery{Scope: third, Sort: newest, Page: middle}, 108},
		"status of workspace":    {projections.SimulationQuery{Scope: third, Sort: newest, Statuses: []string{"running"}}, 101},
		"some workspaces":        {projections.SimulationQuery{Scope: projections.Scope{AccountID: "acct_a", Live: true, Workspaces: []string{"workspace_1", "workspace_2"}}, Sort: newest}, 115},
		"the platform":           {projections.SimulationQuery{Scope: projections.Scope{Live: true}, Sort: newest, Page: middle}, 303},
		"a span of time": {projections.SimulationQuery{Scope: account, Sort: newest, Where: []projections.Filter{projections.Within("created_at",
			time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC), time.Date(2026, 1, 6, 0, 0, 0, 0, time.UTC))}}, 101},
		"a workspace by name":  {projections.SimulationQuery{Scope: third, Sort: byName}, 101},
		"a common name":        {projections.SimulationQuery{Scope: account, Sort: newest, Search: "RUN"}, 301},
		"1 in 97":              {projections.SimulationQuery{Scope: account, Sort: newest, Search: "run-13"}, 500},
		"1 in 97, middle":      {projections.SimulationQuery{Scope: account, Sort: newest, Search: "run-13", Page: middle}, 500},
		"1 in 97, of a status": {projections.SimulationQuery{Scope: account, Sort: newest, Search: "run-13", Statuses: []string{"failed"}}, 1_500},
		"a rare name":          {projections.SimulationQuery{Scope: account, Sort: newest, Search: "Needle"}, 210},
		"a rare name by name":  {projections.SimulationQuery{Scope: account, Sort: byName, Search: "Needle"}, 210},
		"a rare name by start": {projections.SimulationQuery{Scope: account, Sort: by("started"), Search: "Needle"}, 210},
		"no match":             {projections.SimulationQuery{Scope: account, Sort: newest, Search: "haystack"}, 210},
		"no match by end":      {projections.SimulationQuery{Scope: account, Sort: by("completed"), Search: "haystack"}, 210},
	} {
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			t.Run(name+", "+mode, func(t *testing.T) {
				if _, err := m.db.Exec(t.Context(), "SET plan_cache_mode = "+mode); err != nil {
					t.Fatal(err)
				}
				q := c.query
				q.Page.Limit = 100
				db := &explained{Conn: m.db, t: t, tables: []string{"simulations", "simulation_items"}}
				rows, _, err := projections.ListSimulations(t.Context(), db, q, nil)
				if err != nil {
					t.Fatal(err)
				}
				if none := strings.HasPrefix(name, "no match"); (rows.Count == 0) != none || db.read > c.most {
					t.Errorf("%d rows on the page, %.0f rows read, want at most %.0f", rows.Count, db.read, c.most)
				}
			})
		}
	}
}

// TestEqualRunsAreLookedUp: the look-up of equal runs reads those, with a custom and with a
// generic plan, which takes the account for one of the many that have few runs.
func TestEqualRunsAreLookedUp(t *testing.T) {
	t.Parallel()
	m, err := newReadModel(t.Context(), connect(t), "rm", projections.NewWorkspaces(), projections.NewSimulations())
	if err != nil {
		t.Fatal(err)
	}
	longList(t, m)
	if _, err := m.db.Exec(t.Context(), `
		UPDATE simulations SET input_hash = 'hash_' || right(id, 5),
			account_id = CASE WHEN right(id, 5)::int % 2 = 0 THEN id ELSE account_id END;
		ANALYZE simulations`); err != nil {
		t.Fatal(err)
	}
	var hashes []string
	for i := range 100 {
		hashes = append(hashes, fmt.Sprintf("hash_%05d", 600*i+1))
	}
	for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
		if _, err := m.db.Exec(t.Context(), "SET plan_cache_mode = "+mode); err != nil {
			t.Fatal(err)
		}
		db := &explained{Conn: m.db, t: t, tables: []string{"simulations"}}
		found, err := projections.EqualRuns(t.Context(), db, "acct_a", "", hashes)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 || db.read > 200 {
			t.Errorf("%s: %d of %d found, %.0f rows read, want at most 200", mode, len(found), len(hashes), db.read)
		}
	}
}
