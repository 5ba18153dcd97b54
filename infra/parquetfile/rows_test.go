package parquetfile_test

import (
	"io"
	"testing"

	"netsim/infra/parquetfile"
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
