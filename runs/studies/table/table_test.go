package table_test

import (
	"io"
	"testing"

	"netsim/runs/studies/table"
)

func TestTypeOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		values []string
		want   table.Type
	}{
		{[]string{"8", "16"}, table.Integer}, {[]string{"8", "0.5"}, table.Number}, {[]string{"true", "false"}, table.Boolean},
		{[]string{`"ring"`, "8"}, table.Text}, {[]string{"true", "8"}, table.Text}, {[]string{"9223372036854775808"}, table.Number},
		{[]string{"null"}, table.Text}, {[]string{`{"a":1}`}, table.Text},
	} {
		if got := table.TypeOf(tt.values); got != tt.want {
			t.Errorf("%v have the type %v, want %v", tt.values, got, tt.want)
		}
	}
}

func TestAWrongValueIsRefused(t *testing.T) {
	t.Parallel()
	err := table.WriteParquet(io.Discard, []table.Column{{Name: "n", Type: table.Integer}}, [][]string{{"many"}})
	if err == nil {
		t.Error("a text was written as an integer")
	}
}
