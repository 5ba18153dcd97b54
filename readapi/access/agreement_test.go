package access_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/auth"
	"netsim/infra/columns"
	"netsim/internal/teststack"
	"netsim/projections"
	"netsim/readapi/access"
)

const (
	teamA1, teamA2 = "workspace_000000000000000000000000a1", "workspace_000000000000000000000000a2"
	teamB          = "workspace_000000000000000000000000b1"
	deleted        = "workspace_000000000000000000000000d1" // of acct_a, while its cascade runs
)

// model is a read model with rows of every kind, owner and sharing. ids has their
// ids by kind, account and workspace their owners by id.
type model struct {
	db                 *pgx.Conn
	ids                map[string][]string
	account, workspace map[string]string
}

func newModel(t *testing.T) *model {
	t.Helper()
	db, err := pgx.Connect(t.Context(), teststack.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close(context.WithoutCancel(t.Context())) })
	m := &model{db, map[string][]string{}, map[string]string{}, map[string]string{}}
	var facts []events.Fact
	sequence := int64(0)
	add := func(kind, stream string, data ...events.Data) {
		for i, d := range data {
			sequence++
			facts = append(facts, events.Fact{Event: events.Event{Data: d, Frame: events.Frame{
				ID: fmt.Sprint(sequence), Stream: stream, PartitionKey: stream, Sequence: int64(i + 1), Time: time.Unix(sequence, 0),
			}}})
		}
		m.ids[kind] = append(m.ids[kind], stream)
	}
	builtIn := []string{events.DefaultWorkspace, events.TemplateWorkspace, events.TracesetWorkspace}
	for _, id := range builtIn {
		add("workspaces", id, events.WorkspaceCreated{})
	}
	add("workspaces", teamA1, events.WorkspaceCreated{AccountID: "acct_a"})
	add("workspaces", teamA2, events.WorkspaceCreated{AccountID: "acct_a"})
	add("workspaces", teamB, events.WorkspaceCreated{AccountID: "acct_b"})
	add("", deleted, events.WorkspaceCreated{AccountID: "acct_a"}, events.WorkspaceDeletionRequested{})
	add("templates", events.NewID(events.ConfigurationPrefix), events.ConfigurationCreated{WorkspaceID: events.TemplateWorkspace, Document: "{}"})
	for account, workspaces := range map[string][]string{
		"acct_a": append([]string{teamA1, teamA2, deleted}, builtIn...), "acct_b": append([]string{teamB}, builtIn...),
	} {
		for _, w := range workspaces {
			kind, visibility := "configurations", []string{""}
			if w == events.TemplateWorkspace {
				kind, visibility = "templates", []string{commands.VisibleToAccount, commands.VisibleToAll}
			}
			for _, v := range visibility {
				add(kind, m.owned(events.ConfigurationPrefix, account, w), events.ConfigurationCreated{
					AccountID: account, WorkspaceID: w, Visibility: v, Document: "{}",
				})
			}
			add("simulations", events.NewID(events.SimulationPrefix), events.SimulationRequested{AccountID: account, WorkspaceID: w})
			add("mapping files", events.NewID(events.MappingFilePrefix), events.MappingFileCreated{AccountID: account, WorkspaceID: w})
			for _, scope := range []string{commands.ScopeWorkspace, commands.ScopeTenant, commands.ScopePublic} {
				add("tracesets", m.owned(events.TracesetPrefix, account, w), events.TracesetCreated{
					AccountID: account, WorkspaceID: w, Scope: scope, Status: commands.TracesetReady, LibraryHash: fmt.Sprintf("%064x", sequence),
				})
			}
			uploading := m.owned(events.TracesetPrefix, account, w)
			add("", events.NewID(events.UploadPrefix), events.UploadOpened{
				Kind: events.UploadTraceset, AccountID: account, WorkspaceID: w, ResultID: uploading,
			})
			m.ids["tracesets"] = append(m.ids["tracesets"], uploading)
		}
	}
	m.apply(t, facts)
	return m
}

// owned returns a new id with the prefix, and notes who owns it.
func (m *model) owned(prefix, account, workspace string) string {
	id := events.NewID(prefix)
	m.account[id], m.workspace[id] = account, workspace
	return id
}

// apply creates the tables and applies the facts.
func (m *model) apply(t *testing.T, facts []events.Fact) {
	t.Helper()
	writes := &columns.Writes{}
	for _, p := range projections.All() {
		if _, err := m.db.Exec(t.Context(), p.Schema()); err != nil {
			t.Fatal(err)
		}
		p.Load(&pgx.Batch{}, facts) // there is nothing to read yet
		if err := p.Apply(writes, facts); err != nil {
			t.Fatal(err)
		}
	}
	if err := writes.Send(t.Context(), m.db); err != nil {
		t.Fatal(err)
	}
}

// list returns the ids of all rows that the caller sees in lists, by kind.
func (m *model) list(ctx context.Context, c auth.Caller) (map[string][]string, error) {
	page := projections.Page{Limit: 1000}
	seen := map[string][]string{}
	var failed error
	note := func(kind string, err error, ids []string) {
		if err != nil {
			failed = err
		}
		seen[kind] = ids
	}
	w, _, err := projections.ListWorkspaces(ctx, m.db, projections.WorkspaceQuery{Seen: access.Workspaces(c), Page: page})
	note("workspaces", err, idsOf(w, func(w projections.Workspace) string { return w.ID }))
	configurations, _, err := projections.ListConfigurations(ctx, m.db, projections.ConfigurationQuery{Scope: access.Owned(c), Page: page})
	note("configurations", err, slices.DeleteFunc(idsOf(configurations, func(c projections.Configuration) string { return c.ID }), func(id string) bool {
		return slices.Contains(m.ids["templates"], id) // lists of configurations have the account's own templates
	}))
	templates, _, err := projections.ListTemplates(ctx, m.db, projections.TemplateQuery{Seen: access.Templates(c), Page: page})
	note("templates", err, idsOf(templates, func(c projections.Configuration) string { return c.ID }))
	files, _, err := projections.ListMappingFiles(ctx, m.db, projections.MappingFileQuery{Scope: access.Owned(c), Page: page})
	note("mapping files", err, idsOf(files, func(f projections.MappingFile) string { return f.ID }))
	tracesets, _, err := projections.ListTracesets(ctx, m.db, projections.TracesetQuery{Seen: access.Tracesets(c), Page: page})
	note("tracesets", err, idsOf(tracesets, func(t projections.TracesetItem) string { return t.ID }))
	simulations, _, err := projections.ListSimulations(ctx, m.db, projections.SimulationQuery{
		Scope: access.Owned(c), Sort: []projections.Order{{Key: "created"}}, Page: page,
	}, []byte("["))
	var items []struct{ ID string }
	err = errors.Join(err, json.Unmarshal(append(simulations.JSON, ']'), &items))
	note("simulations", err, idsOf(items, func(item struct{ ID string }) string { return item.ID }))
	return seen, failed
}

func idsOf[R any](rows []R, id func(R) string) []string {
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = id(r)
	}
	slices.Sort(ids)
	return ids
}

// read reads one row of a kind for the caller of the context.
func read(ctx context.Context, a *access.Access, kind, id string) (err error) {
	switch kind {
	case "workspaces":
		_, err = a.WorkspaceRow(ctx, id, projections.Live)
	case "configurations":
		_, err = a.ConfigurationRow(ctx, id)
	case "templates":
		_, err = a.TemplateRow(ctx, id)
	case "mapping files":
		_, err = a.MappingFileRow(ctx, id)
	case "simulations":
		_, err = a.SimulationRow(ctx, id)
	case "tracesets":
		if _, err = a.TracesetRow(ctx, id); fault.Is(err, fault.NotFound) {
			_, err = a.TracesetUploadRow(ctx, id)
		}
	}
	return err
}

func callers() *rapid.Generator[auth.Caller] {
	return rapid.Custom(func(r *rapid.T) auth.Caller {
		c := auth.Caller{
			AccountID:     rapid.SampledFrom([]string{"acct_a", "acct_b", "acct_c", auth.AllAccounts}).Draw(r, "account"),
			AllWorkspaces: rapid.Bool().Draw(r, "all workspaces"),
		}
		c.Service = c.AccountID == auth.AllAccounts || rapid.Bool().Draw(r, "service")
		if !c.AllWorkspaces {
			some := rapid.SliceOfDistinct(rapid.SampledFrom([]string{events.DefaultWorkspace, teamA1, teamA2, teamB, deleted}), rapid.ID[string])
			c.Workspaces = slices.Sorted(slices.Values(some.Draw(r, "workspaces")))
		}
		return c
	})
}

// TestListsAndReadsAgree: for any caller, a list has the rows that the caller can
// read one by one, and no other. Reading another row is Forbidden if a member of
// every workspace would have it in the list, and otherwise NotFound.
func TestListsAndReadsAgree(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	a := &access.Access{DB: m.db, Rows: projections.NewLookups(m.db)}
	rapid.Check(t, func(r *rapid.T) {
		c := callers().Draw(r, "caller")
		listed, err := m.list(t.Context(), c)
		if err != nil {
			r.Fatal(err)
		}
		everywhere := c
		everywhere.AllWorkspaces = true
		reachable, err := m.list(t.Context(), everywhere)
		if err != nil {
			r.Fatal(err)
		}
		ctx := auth.WithCaller(t.Context(), c)
		for _, kind := range slices.Sorted(maps.Keys(listed)) {
			readable := []string{}
			for _, id := range m.ids[kind] {
				switch err := read(ctx, a, kind, id); {
				case err == nil:
					readable = append(readable, id)
				case fault.Is(err, fault.Forbidden) != slices.Contains(reachable[kind], id):
					r.Errorf("read %s of %s: %v, want Forbidden: %v", id, kind, err, slices.Contains(reachable[kind], id))
				case !fault.Is(err, fault.Forbidden) && !fault.Is(err, fault.NotFound):
					r.Fatal(err)
				}
			}
			slices.Sort(readable)
			if diff := cmp.Diff(readable, listed[kind]); diff != "" {
				r.Errorf("%s (-read +listed):\n%s", kind, diff)
			}
		}
	})
}
