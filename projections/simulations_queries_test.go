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
	created, started                     time.Time
}

const gone = "workspace_00000000000000000000000099"

// simulationWorld creates simulations of two accounts in several workspaces. One
// workspace is built in, and another is being deleted. Times, names and statuses
// repeat.
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

// TestListSimulations: the pages of every list add up to the list that Go computes
// from all simulations.
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
			items, next, err := projections.ListSimulations(t.Context(), m.db, q.SimulationQuery)
			if err != nil {
				r.Fatal(err)
			}
			if len(items) > q.Page.Limit {
				r.Fatalf("got %d rows on a page, want at most %d", len(items), q.Page.Limit)
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

// simulationQuery is a query with the values of its filters.
type simulationQuery struct {
	projections.SimulationQuery

	from, to time.Time // when the simulations were created
}

func drawSimulationQuery(r *rapid.T) simulationQuery {
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
	q := simulationQuery{from: moment("from"), to: moment("to")}
	q.SimulationQuery = projections.SimulationQuery{
		Scope: projections.Scope{
			AccountID: rapid.SampledFrom([]string{"acct_a", "acct_b", ""}).Draw(r, "account"),
			Workspaces: rapid.SampledFrom([][]string{
				nil, {}, {events.DefaultWorkspace}, {"workspace_00000000000000000000000011", gone, events.DefaultWorkspace},
			}).Draw(r, "workspaces"),
			Live: rapid.Bool().Draw(r, "live"),
		}.In(rapid.SampledFrom([]string{"", "", events.DefaultWorkspace, "workspace_00000000000000000000000012", gone}).Draw(r, "workspace")),
		Statuses: rapid.SampledFrom([][]string{nil, nil, {}, {commands.Running}, {commands.Running, commands.Validating}}).Draw(r, "statuses"),
		Search:   rapid.SampledFrom([]string{"", "", "RUN", "un1", "_%", "%", `\`}).Draw(r, "search"),
		Where:    []projections.Filter{projections.Within("created_at", q.from, q.to)},
		Sort:     order.Draw(r, "sort"),
		Page:     projections.Page{Limit: rapid.IntRange(1, 50).Draw(r, "limit")},
	}
	return q
}
