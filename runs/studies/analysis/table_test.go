package analysis_test

import (
	"io"
	"testing"

	"netsim/runs/studies/analysis"
)

func TestTypeOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		values []string
		want   analysis.ColumnType
	}{
		{[]string{"8", "16"}, analysis.IntegerColumn}, {[]string{"8", "0.5"}, analysis.NumberColumn}, {[]string{"true", "false"}, analysis.BooleanColumn},
		{[]string{`"ring"`, "8"}, analysis.TextColumn}, {[]string{"true", "8"}, analysis.TextColumn}, {[]string{"9223372036854775808"}, analysis.NumberColumn},
		{[]string{"null"}, analysis.TextColumn}, {[]string{`{"a":1}`}, analysis.TextColumn},
	} {
		if got := analysis.ColumnTypeOf(tt.values); got != tt.want {
			t.Errorf("%v have the type %v, want %v", tt.values, got, tt.want)
		}
	}
}

func TestAWrongValueIsRefused(t *testing.T) {
	t.Parallel()
	err := analysis.WriteParquet(io.Discard, []analysis.Column{{Name: "n", Type: analysis.IntegerColumn}}, [][]string{{"many"}})
	if err == nil {
		t.Error("a text was written as an integer")
	}
}
