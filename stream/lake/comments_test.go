//go:build tools

package lake_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"netsim/stream/lake"
	"netsim/stream/tables"
)

// Every table, column and view has a comment, which DuckDB shows. The described columns of
// each view are those that it has. A lake of a release without comments, or with others,
// gets them in one snapshot, and a second start makes none.
func TestTheCatalogueHasComments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := run(t, lake.New(w.config()))
	w.fill(t, 1)
	w.await(t)
	stop()
	snapshots := func() (n int) {
		t.Helper()
		if err := w.DB.QueryRow(t.Context(), `SELECT max(snapshot_id) FROM lake.ducklake_snapshot`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	open := func() {
		t.Helper()
		w.must(t, w.tidy(t, w.config()))
	}
	check := func() {
		t.Helper()
		duck := w.attach(t)
		for _, kind := range []string{"table", "column", "view"} {
			rows := duck.Query(t, fmt.Sprintf(`SELECT count(*), count(comment), min(length(comment)) FROM duckdb_%ss() WHERE database_name = 'lake' AND %s`, kind, map[string]string{
				"table": "true", "view": "NOT internal", "column": "table_name IN (SELECT table_name FROM duckdb_tables() WHERE database_name = 'lake')",
			}[kind]))
			if rows[0][0] == "0" || rows[0][0] != rows[0][1] || rows[0][2] == "0" {
				t.Errorf("%s of %s %ss have a comment, the shortest of %s characters", rows[0][1], rows[0][0], kind, rows[0][2])
			}
		}
		if got := duck.Query(t, `SELECT comment FROM duckdb_columns() WHERE database_name = 'lake' AND table_name = 'billing' AND column_name = 'previous_count'`)[0][0]; got != "the item's units before the event (of billing.usage_recorded.v1)" {
			t.Errorf("a column has the comment %q", got)
		}
		for name, described := range lake.ViewColumns() {
			var got []string
			for _, row := range duck.Query(t, `DESCRIBE lake.`+name) {
				got = append(got, row[0])
			}
			if diff := cmp.Diff(described, got); diff != "" {
				t.Errorf("the columns of %s (-described +view):\n%s", name, diff)
			}
		}
		w.requireFacts(t, duck)
		w.requirePrefixes(t, duck)
	}
	before := snapshots()
	open()
	if after := snapshots(); after != before {
		t.Errorf("a start made %d snapshots", after-before)
	}
	check()
	attached := w.attach(t)
	attached.Query(t, `SELECT count(*) FROM lake.billing`)
	for _, sql := range []string{
		`DELETE FROM lake.ducklake_tag`, `UPDATE lake.ducklake_column_tag SET value = 'of an earlier release' WHERE column_id = 17`,
		`DELETE FROM lake.ducklake_column_tag WHERE column_id = 18`,
	} {
		if _, err := w.DB.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	open()
	if after := snapshots(); after != before+1 {
		t.Errorf("the comments took %d snapshots, want one", after-before)
	}
	check()
	w.requireFacts(t, attached)
}

// The sources of dbt have every table and view, and each column a description.
func TestSourcesOfDbt(t *testing.T) {
	t.Parallel()
	var parsed struct {
		Version int
		Sources []struct {
			Name, Database, Schema string
			Tables                 []struct {
				Name, Description string
				Columns           []struct{ Name, Description string }
			}
		}
	}
	if err := yaml.Unmarshal([]byte(lake.Sources()), &parsed); err != nil || len(parsed.Sources) != 1 {
		t.Fatalf("%v: %d sources", err, len(parsed.Sources))
	}
	want := lake.ViewColumns()
	for _, table := range tables.All() {
		for _, c := range table.Columns {
			want[table.Name] = append(want[table.Name], c.Name)
		}
	}
	got := map[string][]string{}
	for _, table := range parsed.Sources[0].Tables {
		for _, c := range table.Columns {
			got[table.Name] = append(got[table.Name], c.Name)
			if c.Description == "" {
				t.Errorf("%s.%s has no description", table.Name, c.Name)
			}
		}
		if table.Description == "" {
			t.Errorf("%s has no description", table.Name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the sources (-lake +dbt):\n%s", diff)
	}
}
