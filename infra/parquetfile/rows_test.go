package parquetfile_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/infra/parquetfile"
	"netsim/internal/testduckdb"
)

// write writes rows to a file in which every column is nullable.
func write(to io.Writer, columns []parquetfile.Column, rows [][]string) error {
	for i := range columns {
		columns[i].Nullable = true
	}
	w := parquetfile.NewRows(to, "rows", columns)
	for _, row := range rows {
		if err := w.Write(row); err != nil {
			return err
		}
	}
	return w.Close()
}

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

func TestTypeOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		values []string
		want   parquetfile.Type
	}{
		{[]string{"8", "16"}, parquetfile.Integer}, {[]string{"8", "0.5"}, parquetfile.Number}, {[]string{"true", "false"}, parquetfile.Boolean},
		{[]string{`"ring"`, "8"}, parquetfile.Text}, {[]string{"true", "8"}, parquetfile.Text}, {[]string{"9223372036854775808"}, parquetfile.Number},
		{[]string{"null"}, parquetfile.Text}, {[]string{`{"a":1}`}, parquetfile.Text},
	} {
		if got := parquetfile.TypeOf(tt.values); got != tt.want {
			t.Errorf("%v have the type %v, want %v", tt.values, got, tt.want)
		}
	}
}

func TestAWrongValueIsRefused(t *testing.T) {
	t.Parallel()
	err := write(io.Discard, []parquetfile.Column{{Name: "n", Type: parquetfile.Integer}}, [][]string{{"many"}})
	if err == nil {
		t.Error("a text was written as an integer")
	}
}
