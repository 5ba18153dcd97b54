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
	"netsim/infra/auth"
	"netsim/projections"
	"netsim/readapi/access"
)

// tracesetWorld creates tracesets of two accounts, with every scope and several
// statuses, in three workspaces. One workspace is being deleted. Times repeat.
func tracesetWorld(t *testing.T, m *readModel) []projections.Traceset {
	t.Helper()
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	fact := func(stream string, sequence int64, when time.Time, data events.Data) events.Fact {
		return events.Fact{Event: events.Event{Data: data, Frame: events.Frame{
			ID: fmt.Sprint(stream, sequence), Stream: stream, Sequence: sequence, Time: when,
		}}}
	}
	facts := []events.Fact{ // tracesets of scope workspace disappear with their workspace
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
		if made.WorkspaceID == gone {
			made.AccountID = "acct_a" // the owner of the workspace
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
	for i := range 40 {
		made := projections.Traceset{
			ID: fmt.Sprintf("ts_%026d", 2000+(i*37)%1000), AccountID: []string{"acct_a", "acct_b"}[i%2],
			WorkspaceID: []string{events.DefaultWorkspace, "workspace_00000000000000000000000011", gone}[i%3],
			Scope:       commands.ScopeWorkspace, Status: projections.TracesetUploading, CreatedAt: at.Add(time.Duration(i/2) * time.Second),
		}
		if made.WorkspaceID == gone {
			made.AccountID = "acct_a"
		}
		id, kind := fmt.Sprintf("upload_%026d", i), events.UploadTraceset
		if i%11 == 10 {
			kind = events.UploadMappingFile
		}
		facts = append(facts, fact(id, 1, made.CreatedAt, events.UploadOpened{
			Kind: kind, AccountID: made.AccountID, WorkspaceID: made.WorkspaceID, ResultID: made.ID, Name: made.ID,
			Files: []events.UploadFile{{Name: "a.0.et", Size: 3}, {Name: "a.1.et", Size: 4}},
		}))
		switch i / 4 % 4 {
		case 1:
			facts = append(facts, fact(id, 2, at, events.UploadAborted{Reason: "expired"}))
			made.Status = projections.TracesetUploadFailed
		case 2:
			facts = append(facts, fact(id, 2, at, events.UploadCompleted{ResultID: made.ID}))
			continue
		case 3:
			facts = append(facts, fact(id, 2, at, events.UploadAborted{Reason: "deleted"}))
			continue
		}
		if kind == events.UploadTraceset {
			world = append(world, made)
		}
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

// callers draws a caller.
func callers() *rapid.Generator[auth.Caller] {
	return rapid.Custom(func(r *rapid.T) auth.Caller {
		c := auth.Caller{
			AccountID: rapid.SampledFrom([]string{"acct_a", "acct_b", auth.AllAccounts}).Draw(r, "account"),
			Workspaces: rapid.SampledFrom([][]string{
				{}, {events.DefaultWorkspace}, {"workspace_00000000000000000000000011", gone},
			}).Draw(r, "workspaces"),
			AllWorkspaces: rapid.Bool().Draw(r, "all workspaces"),
		}
		c.Service = c.AccountID == auth.AllAccounts
		return c
	})
}

// sees reports whether the caller sees the traceset by the table of completions.md
// section 6.1.
func sees(c auth.Caller, t projections.Traceset) bool {
	if t.Scope == commands.ScopePublic {
		return true
	}
	own := c.AccountID == auth.AllAccounts || c.AccountID == t.AccountID
	if t.Scope == commands.ScopeTenant {
		return own
	}
	member := c.AllWorkspaces || t.WorkspaceID == events.DefaultWorkspace || slices.Contains(c.Workspaces, t.WorkspaceID)
	return own && member && t.WorkspaceID != gone
}

// TestListTracesets: for every caller, the pages of a list add up to the list that
// Go computes from all tracesets.
func TestListTracesets(t *testing.T) {
	t.Parallel()
	m, err := newReadModel(t.Context(), connect(t), "rm", projections.NewWorkspaces(), projections.NewTracesets(), projections.NewUploads())
	if err != nil {
		t.Fatal(err)
	}
	world := tracesetWorld(t, m)
	rapid.Check(t, func(r *rapid.T) {
		caller := callers().Draw(r, "caller")
		workspace := rapid.SampledFrom([]string{"", events.DefaultWorkspace, gone}).Draw(r, "workspace")
		q := projections.TracesetQuery{
			Seen:     access.Tracesets(caller).In(workspace),
			Statuses: rapid.SampledFrom([][]string{nil, {}, {commands.TracesetReady}, {"other", commands.TracesetProcessing}, {"uploading"}, {"upload_failed", "ready"}}).Draw(r, "statuses"),
			Page:     projections.Page{Limit: rapid.IntRange(1, 40).Draw(r, "limit")},
		}
		want, got := []string{}, []string{}
		for _, s := range world {
			if sees(caller, s) && (workspace == "" || workspace == s.WorkspaceID) && (q.Statuses == nil || slices.Contains(q.Statuses, s.Status)) {
				want = append(want, s.ID)
			}
		}
		for {
			page, next, err := projections.ListTracesets(t.Context(), m.db, q)
			if err != nil {
				r.Fatal(err)
			}
			if len(page) > q.Page.Limit {
				r.Fatalf("got %d rows on a page, want at most %d", len(page), q.Page.Limit)
			}
			for _, s := range page {
				got = append(got, s.ID)
				if s.LibraryHash == "" && s.ID >= "ts_00000000000000000000002000" && (s.TotalSize != 7 || s.FilesCount != 2) {
					r.Errorf("got the upload %+v, want 2 files and 7 bytes", s)
				}
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

// TestPagesOfTracesetsAreShortWalks: for every caller, each index scan of a page
// reads about as many rows as the page has.
func TestPagesOfTracesetsAreShortWalks(t *testing.T) {
	t.Parallel()
	m, err := newReadModel(t.Context(), connect(t), "rm", projections.NewWorkspaces(), projections.NewTracesets(), projections.NewUploads())
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`INSERT INTO workspaces SELECT 'workspace_' || i, 'acct_a', 'w', '', 'u', '', 1, CASE i WHEN 6 THEN 'deleted' ELSE 'live' END, now(), now()
			FROM generate_series(0, 6) i`,
		`INSERT INTO tracesets SELECT 'ts_' || lpad(i::text, 26, '0'), CASE i % 3 WHEN 0 THEN 'acct_b' ELSE 'acct_a' END,
			'workspace_' || i % 7, '', 't', '', '', '[]', 'h' || i / 4, 'lib_' || i / 4, 1, 7, 8,
			CASE WHEN i % 1000 = 3 THEN 'metadata_failed' WHEN i % 500 = 5 THEN 'processing' ELSE 'ready' END,
			CASE WHEN i % 100 = 1 THEN 'public' WHEN i % 10 = 1 THEN 'tenant' ELSE 'workspace' END, '[]', '', 'cas', '[]', 0, '', '[]', '',
			timestamptz '2026-01-01Z' + i * interval '1 second', now(), NULL FROM generate_series(1, 40000) i`,
		`INSERT INTO uploads SELECT 'upload_' || i, CASE i % 3 WHEN 0 THEN 'acct_b' ELSE 'acct_a' END, 'workspace_' || i % 7, 'traceset',
			'ts_' || lpad((i + 50000)::text, 26, '0'), 't', '', '[]', 7, '', '[]', CASE WHEN i % 100 = 1 THEN 'open' ELSE 'aborted' END, '',
			timestamptz '2026-01-01Z' + i * interval '1 second', now() FROM generate_series(1, 20000) i`,
		`ANALYZE`,
	} {
		if _, err := m.db.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	some := []string{"workspace_2", "workspace_5"}
	all := func(account string) projections.Rule {
		return access.Tracesets(auth.Caller{AccountID: account, Service: account == auth.AllAccounts, AllWorkspaces: true})
	}
	for name, q := range map[string]projections.TracesetQuery{
		"the account":         {Seen: all("acct_a")},
		"its middle":          {Seen: all("acct_a"), Page: projections.Page{After: []string{"2026-01-01T04:00:00Z", "ts_x"}}},
		"of a rare status":    {Seen: all("acct_a"), Statuses: []string{"metadata_failed"}},
		"being uploaded":      {Seen: all("acct_a"), Statuses: []string{"uploading"}},
		"some workspaces":     {Seen: access.Tracesets(auth.Caller{AccountID: "acct_b", Workspaces: some})},
		"made in a workspace": {Seen: all("acct_b").In("workspace_3")},
		"the platform":        {Seen: all(auth.AllAccounts)},
		"of a workspace":      {Seen: all(auth.AllAccounts).In("workspace_2")},
	} {
		q.Page.Limit = 20
		e := &explained{Conn: m.db, t: t, tables: []string{"tracesets", "uploads"}}
		page, _, err := projections.ListTracesets(t.Context(), e, q)
		if err != nil || len(page) == 0 {
			t.Errorf("%s: %d rows, %v", name, len(page), err)
		}
		if most := float64(21 * 3 * 5 * 2); e.read > most { // rows, scopes, statuses, workspaces
			t.Errorf("%s: %v rows were read, want at most %v", name, e.read, most)
		}
	}
	// A list of libraries scans three of a library's four tracesets, and reads some
	// of the other tracesets for each.
	from := func(account, workspace string) projections.Rule {
		return access.TracesetsFrom(auth.Caller{AccountID: account, Service: account == auth.AllAccounts, AllWorkspaces: true}, workspace)
	}
	for name, q := range map[string]projections.LibraryQuery{
		"libraries":                {Seen: from("acct_a", "")},
		"libraries of a workspace": {Seen: from("acct_a", "workspace_2")},
		"their middle":             {Seen: from("acct_a", "workspace_2"), Page: projections.Page{After: []string{"2026-01-01T04:00:00Z", "ts_x"}}},
		"own libraries":            {Seen: from("acct_b", "workspace_2"), Scope: "workspace"},
		"the platform's":           {Seen: from(auth.AllAccounts, "workspace_2")},
	} {
		q.Page.Limit = 20
		e := &explained{Conn: m.db, t: t, tables: []string{"tracesets"}}
		page, _, err := projections.ListLibraries(t.Context(), e, q)
		if err != nil || len(page) == 0 {
			t.Errorf("%s: %d rows, %v", name, len(page), err)
		}
		if most := float64(21 * 3 * 3 * 2 * 4); e.read > most {
			t.Errorf("%s: %v rows were read, want at most %v", name, e.read, most)
		}
	}
}
