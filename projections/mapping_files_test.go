package projections_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/projections"
)

// TestListMappingFiles: the pages have all live mapping files of an account,
// newest first, and an index has this order.
func TestListMappingFiles(t *testing.T) {
	t.Parallel()
	db := connect(t)
	m, err := newReadModel(t.Context(), db, "rm", projections.NewWorkspaces(), projections.NewMappingFiles())
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	fact := func(stream string, sequence int64, when time.Time, data events.Data) events.Fact {
		return events.Fact{Event: events.Event{Data: data, Frame: events.Frame{
			ID: fmt.Sprint(stream, sequence), Stream: stream, Sequence: sequence, Time: when,
		}}}
	}
	facts := []events.Fact{fact(events.DefaultWorkspace, 1, at, events.WorkspaceCreated{})}
	want := map[string][]string{}
	for i := range 60 {
		id := fmt.Sprintf("mapfile_%026d", (i*37)%1000)
		account := []string{"acct_a", "acct_b"}[i%2]
		facts = append(facts, fact(id, 1, at.Add(time.Duration(i)*time.Second), events.MappingFileCreated{
			AccountID: account, WorkspaceID: events.DefaultWorkspace, Name: id, RankCount: int64(i),
		}))
		if i%7 == 3 {
			facts = append(facts, fact(id, 2, at, events.MappingFileDeleted{Reason: "request"}))
			continue
		}
		for _, a := range []string{account, ""} {
			want[a] = append([]string{id}, want[a]...)
		}
	}
	if err := m.apply(t.Context(), facts...); err != nil {
		t.Fatal(err)
	}
	for _, account := range []string{"acct_a", "acct_b", "acct_c", ""} {
		q := projections.MappingFileQuery{Scope: projections.Scope{AccountID: account, Live: true}.In(events.DefaultWorkspace), Page: projections.Page{Limit: 7}}
		var got []string
		for more := true; more; more = q.Page.After != nil {
			rows, next, err := projections.ListMappingFiles(t.Context(), db, q)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range rows {
				got = append(got, row.ID)
			}
			q.Page.After = next
		}
		if diff := cmp.Diff(want[account], got); diff != "" {
			t.Errorf("mapping files of account %q (-want +got):\n%s", account, diff)
		}
	}
	none, _, err := projections.ListMappingFiles(t.Context(), db, projections.MappingFileQuery{
		Scope: projections.Scope{Live: true}.In("workspace_00000000000000000000000011"), Page: projections.Page{Limit: 7},
	})
	if err != nil || len(none) != 0 {
		t.Errorf("a missing workspace: got %v, %v, want no mapping files", none, err)
	}
	deleted, err := projections.FindMappingFile(t.Context(), db, fmt.Sprintf("mapfile_%026d", 3*37))
	if err != nil || !deleted.Deleted || deleted.RankCount != 3 {
		t.Errorf("got %+v, %v, want a deleted mapping file with 3 ranks", deleted, err)
	}

	if _, err := db.Exec(t.Context(), `SET enable_seqscan = off`); err != nil {
		t.Fatal(err)
	}
	var plan strings.Builder
	rows, err := db.Query(t.Context(), `EXPLAIN SELECT * FROM mapping_files WHERE NOT deleted AND workspace_id = 'w' AND account_id = 'a'
		AND (created_at, id) < (now(), 'm') ORDER BY created_at DESC, id DESC LIMIT 8`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		plan.WriteString(line + "\n")
	}
	if rows.Err() != nil || !strings.Contains(plan.String(), "mapping_files_workspace") || strings.Contains(plan.String(), "Sort") {
		t.Errorf("%v; want a scan of mapping_files_workspace without a sort, got the plan:\n%s", rows.Err(), plan.String())
	}
}
