package projections_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"netsim/commands"
	"netsim/events"
	"netsim/projections"
)

// listed is a simulation as the test knows it.
type listed struct {
	id, account, workspace, name, status string
	created, started                     time.Time
}

const gone = "workspace_00000000000000000000000099"

// simulationWorld has simulations of two accounts in workspaces of which one
// is being deleted, and in a built-in one. Times, names and statuses repeat.
func simulationWorld(t *testing.T, m *readModel) []listed {
	t.Helper()
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	fact := func(stream string, sequence int64, when time.Time, data events.Data) events.Fact {
		return events.Fact{Event: events.Event{Data: data, Frame: events.Frame{
			ID: fmt.Sprint(stream, sequence), Stream: stream, Sequence: sequence, Time: when,
		}}}
	}
	workspaces := []string{"workspace_00000000000000000000000011", "workspace_00000000000000000000000012", events.DefaultWorkspace, gone}
	facts := []events.Fact{}
	for _, w := range workspaces {
		facts = append(facts, fact(w, 1, at, events.WorkspaceCreated{AccountID: map[bool]string{false: "acct_a"}[w == events.DefaultWorkspace], Name: w}))
	}
	facts = append(facts, fact(gone, 2, at, events.WorkspaceDeletionRequested{}))
	var world []listed
	for i := range 120 {
		s := listed{
			id: fmt.Sprintf("sim_%026d", (i*37)%1000), account: "acct_a", workspace: workspaces[i%4],
			name: fmt.Sprintf("Run%d_%%x", i%7), status: commands.Validating, created: at.Add(time.Duration(i/3) * time.Second),
		}
		if i%4 == 2 && i%3 == 0 {
			s.account = "acct_b"
		}
		facts = append(facts, fact(s.id, 1, s.created, events.SimulationRequested{
			AccountID: s.account, WorkspaceID: s.workspace, ConfigurationID: "config_x", ConfigurationVersion: 1, Name: s.name,
		}))
		if i%5 < 3 {
			s.status, s.started = commands.Running, s.created.Add(time.Duration(i%2)*time.Minute)
			facts = append(facts, fact(s.id, 2, s.started, events.SimulationStarted{Engine: "builtin"}))
		}
		if i%5 == 1 {
			s.status = commands.Completed
			facts = append(facts, fact(s.id, 3, s.started.Add(time.Second), events.SimulationCompleted{}))
		}
		if i%11 == 0 {
			facts = append(facts, fact(s.id, 4, at, events.SimulationDeleted{Reason: "request"}))
			continue
		}
		world = append(world, s)
	}
	if err := m.apply(t.Context(), facts...); err != nil {
		t.Fatal(err)
	}
	return world
}

// expected is the list that a query asks for, by walking over everything.
func expected(world []listed, q projections.SimulationQuery) []string {
	var found []listed
	for _, s := range world {
		visible := q.Scope.Workspaces == nil || slices.Contains(q.Scope.Workspaces, s.workspace)
		if s.workspace == gone || !visible ||
			q.Scope.AccountID != "" && q.Scope.AccountID != s.account ||
			q.Workspace != "" && q.Workspace != s.workspace ||
			q.Statuses != nil && !slices.Contains(q.Statuses, s.status) ||
			!strings.Contains(strings.ToLower(s.name), strings.ToLower(q.Search)) ||
			!q.Created.From.IsZero() && s.created.Before(q.Created.From) ||
			!q.Created.To.IsZero() && !s.created.Before(q.Created.To) {
			continue
		}
		found = append(found, s)
	}
	order := func(x, y listed, o projections.Order) int {
		var c int
		switch o.Key {
		case "name":
			c = cmp.Compare(x.name, y.name)
		case "status":
			c = cmp.Compare(x.status, y.status)
		case "started":
			never := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
			since := func(s listed) time.Time {
				if s.started.IsZero() {
					return never
				}
				return s.started
			}
			c = since(x).Compare(since(y))
		case "id":
			c = cmp.Compare(x.id, y.id)
		default:
			c = x.created.Compare(y.created)
		}
		if o.Desc {
			return -c
		}
		return c
	}
	slices.SortFunc(found, func(x, y listed) int {
		for _, o := range q.Sort {
			if c := order(x, y, o); c != 0 {
				return c
			}
		}
		return order(x, y, projections.Order{Key: "id", Desc: q.Sort[len(q.Sort)-1].Desc})
	})
	out := make([]string, len(found))
	for i, s := range found {
		out[i] = s.id
	}
	return out
}

// TestListSimulations: page by page, every list is what a walk over everything
// finds, whatever is asked for.
func TestListSimulations(t *testing.T) {
	t.Parallel()
	m, err := newReadModel(t.Context(), connect(t), "rm", projections.NewWorkspaces(), projections.NewSimulations())
	if err != nil {
		t.Fatal(err)
	}
	world := simulationWorld(t, m)
	rapid.Check(t, func(r *rapid.T) {
		q := drawSimulationQuery(r)
		var got []string
		for {
			items, next, err := projections.ListSimulations(t.Context(), m.db, q)
			if err != nil {
				r.Fatal(err)
			}
			if len(items) > q.Page.Limit {
				r.Fatalf("%d rows on a page of %d", len(items), q.Page.Limit)
			}
			for _, item := range items {
				var s struct{ ID string }
				if err := json.Unmarshal(item, &s); err != nil {
					r.Fatal(err)
				}
				got = append(got, s.ID)
			}
			if next == nil {
				break
			}
			q.Page.After = next
		}
		if diff := gocmp.Diff(slices.Concat(expected(world, q)), slices.Concat(got)); diff != "" {
			r.Errorf("%+v (-want +got):\n%s", q, diff)
		}
	})
}

func drawSimulationQuery(r *rapid.T) projections.SimulationQuery {
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	moment := func(label string) time.Time {
		if rapid.Bool().Draw(r, label) {
			return time.Time{}
		}
		return at.Add(time.Duration(rapid.IntRange(0, 45).Draw(r, label+"At")) * time.Second)
	}
	order := rapid.SliceOfNDistinct(rapid.Custom(func(r *rapid.T) projections.Order {
		return projections.Order{
			Key:  rapid.SampledFrom([]string{"created", "name", "status", "started"}).Draw(r, "key"),
			Desc: rapid.Bool().Draw(r, "desc"),
		}
	}), 1, 3, func(o projections.Order) string { return o.Key })
	return projections.SimulationQuery{
		Scope: projections.Scope{
			AccountID: rapid.SampledFrom([]string{"acct_a", "acct_b", ""}).Draw(r, "account"),
			Workspaces: rapid.SampledFrom([][]string{
				nil, {}, {events.DefaultWorkspace}, {"workspace_00000000000000000000000011", gone, events.DefaultWorkspace},
			}).Draw(r, "workspaces"),
		},
		Workspace: rapid.SampledFrom([]string{"", "", events.DefaultWorkspace, "workspace_00000000000000000000000012", gone}).Draw(r, "workspace"),
		Statuses:  rapid.SampledFrom([][]string{nil, nil, {}, {commands.Running}, {commands.Running, commands.Validating}}).Draw(r, "statuses"),
		Search:    rapid.SampledFrom([]string{"", "", "RUN", "un1", "_%", "%", `\`}).Draw(r, "search"),
		Created:   projections.Period{From: moment("from"), To: moment("to")},
		Sort:      order.Draw(r, "sort"),
		Page:      projections.Page{Limit: rapid.IntRange(1, 50).Draw(r, "limit")},
	}
}

// explained runs a query and what PostgreSQL has to say about how it did.
type explained struct {
	*pgx.Conn
	t    *testing.T
	read float64 // rows read from simulations
}

func (e *explained) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	var plans []struct{ Plan planNode }
	if err := e.QueryRow(ctx, "EXPLAIN (ANALYZE, FORMAT JSON) "+sql, args...).Scan(&plans); err != nil {
		e.t.Fatal(err)
	}
	e.read = plans[0].Plan.rows()
	return e.Conn.Query(ctx, sql, args...)
}

type planNode struct {
	Type    string     `json:"Node Type"`
	Table   string     `json:"Relation Name"`
	Rows    float64    `json:"Actual Rows"`
	Removed float64    `json:"Rows Removed by Filter"`
	Loops   float64    `json:"Actual Loops"`
	Plans   []planNode `json:"Plans"`
}

func (n planNode) rows() float64 {
	var sum float64
	if n.Table == "simulations" {
		sum = (n.Rows + n.Removed) * n.Loops
	}
	for _, p := range n.Plans {
		sum += p.rows()
	}
	return sum
}

// TestPagesAreShortWalks: a page reads some rows for each of its own, wherever
// it is in a list of many, and whatever the list is restricted to.
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
			'{}', 'start', 1, '1s', 0, '', '', '', 'u', '', '', '', 1, '', 0, 0, 0, 0, 0, '', '', 0, 0, 0, '',
			timestamptz '2026-01-01Z' + i * interval '1 second', NULL, NULL FROM generate_series(1, 100000) i`,
		`INSERT INTO simulation_counts SELECT workspace_id, account_id, count(*), 0 FROM simulations GROUP BY 1, 2`,
		`ANALYZE`,
	} {
		if _, err := m.db.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	newest, byName := []projections.Order{{Key: "created", Desc: true}}, []projections.Order{{Key: "name"}}
	middle := []string{"2026-01-01T14:00:00Z", "sim_x"}
	account := projections.Scope{AccountID: "acct_a"}
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
		"a workspace":         {projections.SimulationQuery{Scope: account, Sort: newest, Workspace: "workspace_3", Page: projections.Page{After: middle}}, 108},
		"status of workspace": {projections.SimulationQuery{Scope: account, Sort: newest, Workspace: "workspace_3", Statuses: []string{"running"}}, 101},
		"some workspaces":     {projections.SimulationQuery{Scope: projections.Scope{AccountID: "acct_a", Workspaces: []string{"workspace_1", "workspace_2"}}, Sort: newest}, 115},
		"the platform":        {projections.SimulationQuery{Sort: newest, Page: projections.Page{After: middle}}, 303},
		"a span of time": {projections.SimulationQuery{Scope: account, Sort: newest, Created: projections.Period{
			From: time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC), To: time.Date(2026, 1, 1, 6, 0, 0, 0, time.UTC)}}, 101},
		"a common name": {projections.SimulationQuery{Scope: account, Sort: newest, Search: "RUN"}, 101},
	} {
		t.Run(name, func(t *testing.T) {
			q := c.query
			q.Page.Limit = 100
			db := &explained{Conn: m.db, t: t}
			items, _, err := projections.ListSimulations(t.Context(), db, q)
			if err != nil {
				t.Fatal(err)
			}
			if len(items) == 0 || db.read > c.most {
				t.Errorf("%d rows on the page, %.0f rows read, want at most %.0f", len(items), db.read, c.most)
			}
		})
	}
}
