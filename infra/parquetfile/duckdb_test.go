//go:build tools

package parquetfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/infra/parquetfile"
	"netsim/internal/testduckdb"
)

// TestDuckDBReadsTheTable: stock DuckDB finds the columns, their types and all values.
func TestDuckDBReadsTheTable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "results.parquet")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	columns := []parquetfile.Column{
		{Name: "point", Type: parquetfile.Integer}, {Name: "workload.phases[0].algorithm", Type: parquetfile.Text},
		{Name: "share", Type: parquetfile.Number}, {Name: "done", Type: parquetfile.Boolean},
	}
	rows := [][]string{{"0", "ring", "0.25", "true"}, {"1", "", "", "false"}}
	for i := 2; i < 20_500; i++ { // more than one row group
		rows = append(rows, []string{strconv.Itoa(i), "ring", "1", ""})
	}
	if err := write(file, columns, rows); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	db := testduckdb.Open(t)
	from := fmt.Sprintf("FROM read_parquet('%s')", path)
	for query, want := range map[string][][]string{
		`SELECT count(*), sum(point), count("workload.phases[0].algorithm"), count(share), count(done) ` + from: {{"20500", "210114750", "20499", "20499", "2"}},
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
