package projections_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netsim/commands"
	"netsim/events"
	"netsim/projections"
)

// listed is a simulation that the test created.
type listed struct {
	id, account, workspace, name, status string
	created, started, completed          time.Time // started and completed are zero before
}

const gone = "workspace_00000000000000000000000099"

// between is the time between creations. Three simulations are created at a time.
const between = 20 * time.Minute

// simulationWorld creates simulations of two accounts in several workspaces, of
// which one is built in and one is being deleted. Times, names and statuses repeat.
// The creations are on two days.
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
	for i := range 260 {
		s := listed{
			id: fmt.Sprintf("sim_%026d", (i*37)%1000), account: "acct_a", workspace: workspaces[i%4],
			name: fmt.Sprintf("Run%d_%%x", i%7), status: commands.Validating, created: at.Add(time.Duration(i/3) * between),
		}
		switch {
		case i < 60 && i%7 == 5:
			s.name = fmt.Sprintf("Old-%d", i%3) // not among the newest
		case i%40 == 3:
			s.name = "Needle-1"
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
			s.completed = s.started.Add(time.Duration(i%3) * time.Second)
			facts = append(facts, fact(s.id, 3, s.completed, events.SimulationCompleted{}))
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

// expected computes the result of a query from all simulations in Go.
func expected(world []listed, q simulationQuery) []string {
	var found []listed
	for _, s := range world {
		visible := q.Scope.Workspaces == nil || slices.Contains(q.Scope.Workspaces, s.workspace)
		if q.Scope.Live && s.workspace == gone || !visible ||
			q.Scope.AccountID != "" && q.Scope.AccountID != s.account ||
			q.Statuses != nil && !slices.Contains(q.Statuses, s.status) ||
			!strings.Contains(strings.ToLower(s.name), strings.ToLower(q.Search)) ||
			!q.from.IsZero() && s.created.Before(q.from) || !q.to.IsZero() && !s.created.Before(q.to) {
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
			c = orNever(x.started).Compare(orNever(y.started))
		case "completed":
			c = orNever(x.completed).Compare(orNever(y.completed))
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

// orNever replaces the zero time by one after all others.
func orNever(t time.Time) time.Time {
	if t.IsZero() {
		return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return t
}

// TestListSimulations: page by page, every list equals the one that is computed
// from all simulations in Go.
func TestListSimulations(t *testing.T) {
	t.Parallel()
	m, err := newReadModel(t.Context(), connect(t), "rm", projections.NewWorkspaces(), projections.NewSimulations())
	if err != nil {
		t.Fatal(err)
	}
	world := simulationWorld(t, m)
	for _, first := range sortKeys {
		t.Run(first, rapid.MakeCheck(func(r *rapid.T) { pageThrough(r, m, world, drawSimulationQuery(r, first)) }))
	}
}

// pageThrough compares all pages of a list with the expected one.
func pageThrough(r *rapid.T, m *readModel, world []listed, q simulationQuery) {
	var got []string
	for {
		rows, next, err := projections.ListSimulations(r.Context(), m.db, q.SimulationQuery, []byte("["))
		if err != nil {
			r.Fatal(err)
		}
		var items []struct{ ID string }
		if err := json.Unmarshal(append(rows.JSON, ']'), &items); err != nil {
			r.Fatal(err)
		}
		if len(items) != rows.Count || len(items) > q.Page.Limit || next != nil && len(items) < q.Page.Limit {
			r.Fatalf("%d rows on a page of %d, counted as %d", len(items), q.Page.Limit, rows.Count)
		}
		for _, item := range items {
			got = append(got, item.ID)
		}
		if next == nil {
			break
		}
		q.Page.After = next
	}
	if diff := gocmp.Diff(slices.Concat(expected(world, q)), slices.Concat(got)); diff != "" {
		r.Errorf("%+v (-want +got):\n%s", q, diff)
	}
}

// sortKeys are the keys by which a list can be ordered.
var sortKeys = []string{"created", "name", "status", "started", "completed"}

// simulationQuery is a query with the values of its filters.
type simulationQuery struct {
	projections.SimulationQuery

	from, to time.Time // when the simulations were created
}

// drawSimulationQuery draws a query whose first sort key is given.
func drawSimulationQuery(r *rapid.T, first string) simulationQuery {
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	moment := func(label string) time.Time {
		if rapid.IntRange(0, 2).Draw(r, label) > 0 {
			return time.Time{}
		}
		return at.Add(time.Duration(rapid.IntRange(0, 90).Draw(r, label+"At")) * between)
	}
	sort := []projections.Order{{Key: first, Desc: rapid.Bool().Draw(r, "desc")}}
	for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(r, "further") {
		next := projections.Order{Key: rapid.SampledFrom(sortKeys).Draw(r, "key"), Desc: rapid.Bool().Draw(r, "desc")}
		if !slices.ContainsFunc(sort, func(o projections.Order) bool { return o.Key == next.Key }) {
			sort = append(sort, next)
		}
	}
	q := simulationQuery{from: moment("from"), to: moment("to")}
	q.SimulationQuery = projections.SimulationQuery{
		Scope: projections.Scope{
			AccountID: rapid.SampledFrom([]string{"acct_a", "acct_a", "acct_b", ""}).Draw(r, "account"),
			Workspaces: rapid.SampledFrom([][]string{
				nil, nil, nil, {}, {events.DefaultWorkspace}, {"workspace_00000000000000000000000011", gone, events.DefaultWorkspace},
			}).Draw(r, "workspaces"),
			Live: rapid.Bool().Draw(r, "live"),
		}.In(rapid.SampledFrom([]string{"", "", "", events.DefaultWorkspace, "workspace_00000000000000000000000012", gone}).Draw(r, "workspace")),
		Statuses: rapid.SampledFrom([][]string{nil, nil, nil, nil, {}, {commands.Running}, {commands.Running, commands.Validating}, {commands.Completed, commands.Failed}}).Draw(r, "statuses"),
		Search:   rapid.SampledFrom([]string{"", "", "", "RUN", "un1", "_%", "%", `\`, "needle", "LE-1", "old-", "nope"}).Draw(r, "search"),
		Where:    []projections.Filter{projections.Within("created_at", q.from, q.to)},
		Sort:     sort,
		Page:     projections.Page{Limit: rapid.SampledFrom([]int{6, 20, 100}).Draw(r, "limit")},
	}
	return q
}
