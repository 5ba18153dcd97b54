//go:build tools

package analysis_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/internal/testduckdb"
	"netsim/runs/studies/analysis"
)

// TestDuckDBReadsTheTable: stock DuckDB finds the columns, their types and all values.
func TestDuckDBReadsTheTable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "results.parquet")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	columns := []analysis.Column{
		{Name: "point", Type: analysis.IntegerColumn}, {Name: "workload.phases[0].algorithm", Type: analysis.TextColumn},
		{Name: "share", Type: analysis.NumberColumn}, {Name: "done", Type: analysis.BooleanColumn},
	}
	rows := [][]string{{"0", "ring", "0.25", "true"}, {"1", "", "", "false"}}
	for i := 2; i < 2500; i++ { // more than one part
		rows = append(rows, []string{strconv.Itoa(i), "ring", "1", ""})
	}
	if err := analysis.WriteParquet(file, columns, rows); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	db := testduckdb.Open(t)
	from := fmt.Sprintf("FROM read_parquet('%s')", path)
	for query, want := range map[string][][]string{
		`SELECT count(*), sum(point), count("workload.phases[0].algorithm"), count(share), count(done) ` + from: {{"2500", "3123750", "2499", "2499", "2"}},
		`SELECT point, "workload.phases[0].algorithm", share, done ` + from + ` WHERE point = 0`:                {{"0", "ring", "0.25", "True"}},
		`SELECT column_name, column_type FROM (DESCRIBE SELECT * ` + from + `) ORDER BY 1`: {
			{"done", "BOOLEAN"}, {"point", "BIGINT"}, {"share", "DOUBLE"}, {"workload.phases[0].algorithm", "VARCHAR"},
		},
	} {
		if diff := cmp.Diff(want, db.Query(t, query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
}
