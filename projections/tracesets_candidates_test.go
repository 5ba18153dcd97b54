package projections_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netsim/commands"
	"netsim/events"
	"netsim/projections"
)

// tracesetWorld has tracesets of two accounts and of every scope and status, in
// workspaces of which one is being deleted. Times repeat.
func tracesetWorld(t *testing.T, m *readModel) []projections.Traceset {
	t.Helper()
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	fact := func(stream string, sequence int64, when time.Time, data events.Data) events.Fact {
		return events.Fact{Event: events.Event{Data: data, Frame: events.Frame{
			ID: fmt.Sprint(stream, sequence), Stream: stream, Sequence: sequence, Time: when,
		}}}
	}
	facts := []events.Fact{
		fact(events.DefaultWorkspace, 1, at, events.WorkspaceCreated{}),
		fact(gone, 1, at, events.WorkspaceCreated{AccountID: "acct_a"}),
		fact(gone, 2, at, events.WorkspaceDeletionRequested{}),
	}
	var world []projections.Traceset
	for i := range 90 {
		made := projections.Traceset{
			ID: fmt.Sprintf("ts_%026d", (i*37)%1000), AccountID: []string{"acct_a", "acct_b"}[i%2],
			WorkspaceID: []string{events.DefaultWorkspace, "workspace_00000000000000000000000011", gone}[i%3],
			Scope:       []string{commands.ScopeWorkspace, commands.ScopeTenant, commands.ScopePublic}[i/6%3],
			Status:      []string{commands.TracesetReady, commands.TracesetProcessing}[i/18%2],
			CreatedAt:   at.Add(time.Duration(i/4) * time.Second),
		}
		facts = append(facts, fact(made.ID, 1, made.CreatedAt, events.TracesetCreated{
			AccountID: made.AccountID, WorkspaceID: made.WorkspaceID, Name: made.ID, Scope: made.Scope, Status: made.Status,
		}))
		if i%10 == 9 {
			facts = append(facts, fact(made.ID, 2, at, events.TracesetDeleted{Reason: "request"}))
			continue
		}
		world = append(world, made)
	}
	if err := m.apply(t.Context(), facts...); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(world, func(x, y projections.Traceset) int {
		if c := y.CreatedAt.Compare(x.CreatedAt); c != 0 {
			return c
		}
		return cmp.Compare(y.ID, x.ID)
	})
	return world
}

// sees is the table of completions.md section 6.1.
func sees(q projections.TracesetQuery, t projections.Traceset) bool {
	switch {
	case t.WorkspaceID == gone:
		return false
	case t.Scope == commands.ScopePublic || q.Scope.AccountID == "" && q.Scope.Workspaces == nil:
		return true
	case q.Scope.AccountID != "" && t.AccountID != q.Scope.AccountID:
		return false
	}
	return t.Scope == commands.ScopeTenant || q.Scope.Workspaces == nil || slices.Contains(q.Scope.Workspaces, t.WorkspaceID)
}

// TestListTracesets: page by page, every list is what a walk over everything
// finds, whoever asks for whatever.
func TestListTracesets(t *testing.T) {
	t.Parallel()
	m, err := newReadModel(t.Context(), connect(t), "rm", projections.NewWorkspaces(), projections.NewTracesets())
	if err != nil {
		t.Fatal(err)
	}
	world := tracesetWorld(t, m)
	rapid.Check(t, func(r *rapid.T) {
		q := projections.TracesetQuery{
			Scope: projections.Scope{
				AccountID:  rapid.SampledFrom([]string{"acct_a", "acct_b", ""}).Draw(r, "account"),
				Workspaces: rapid.SampledFrom([][]string{nil, {}, {events.DefaultWorkspace}, {gone, "workspace_00000000000000000000000011"}}).Draw(r, "workspaces"),
			},
			Workspace: rapid.SampledFrom([]string{"", events.DefaultWorkspace, gone}).Draw(r, "workspace"),
			Statuses:  rapid.SampledFrom([][]string{nil, {}, {commands.TracesetReady}, {"other", commands.TracesetProcessing}}).Draw(r, "statuses"),
			Page:      projections.Page{Limit: rapid.IntRange(1, 40).Draw(r, "limit")},
		}
		want, got := []string{}, []string{}
		for _, s := range world {
			if sees(q, s) && (q.Workspace == "" || q.Workspace == s.WorkspaceID) && (q.Statuses == nil || slices.Contains(q.Statuses, s.Status)) {
				want = append(want, s.ID)
			}
		}
		for {
			page, next, err := projections.ListTracesets(t.Context(), m.db, q)
			if err != nil {
				r.Fatal(err)
			}
			if len(page) > q.Page.Limit {
				r.Fatalf("%d rows on a page of %d", len(page), q.Page.Limit)
			}
			for _, s := range page {
				got = append(got, s.ID)
			}
			if next == nil {
				break
			}
			q.Page.After = next
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			r.Errorf("%+v (-want +got):\n%s", q, diff)
		}
	})
}
