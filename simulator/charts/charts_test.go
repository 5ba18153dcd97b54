package charts_test

import (
	"regexp"
	"slices"
	"testing"

	"netsim/simulator/charts"
	"netsim/simulator/results"
)

// TestDefinitions: every chart uses columns that its record has, and only the values
// that completions 2.2 allows.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	var ids []string
	for _, d := range charts.Definitions() {
		ids = append(ids, d.ID)
		columns := results.Columns(d.Record)
		has := func(column string) {
			if !slices.Contains(columns, column) {
				t.Errorf("%s: record %s has no column %q, only %v", d.ID, d.Record, column, columns)
			}
		}
		for _, axis := range []charts.Axis{d.X, d.Y} {
			has(axis.Column)
			if !slices.Contains([]string{"none", "sum", "mean", "max", "p50", "p99"}, axis.Aggregate) || axis.Label == "" {
				t.Errorf("%s: axis %+v has no label or an unknown aggregate", d.ID, axis)
			}
		}
		for _, f := range d.Filters {
			has(f.Column)
			_, list := f.Value.([]string)
			if !slices.Contains([]string{"eq", "in", "ge", "le"}, f.Op) || list != (f.Op == "in") {
				t.Errorf("%s: filter %+v has an unknown op, or a value that does not match it", d.ID, f)
			}
		}
		for _, column := range d.GroupBy {
			has(column)
		}
		if !slices.Contains([]string{"line", "bar", "cdf", "heatmap", "table"}, d.Kind) || d.Title == "" || d.Description == "" {
			t.Errorf("definition %+v has an unknown kind, no title or no description", d)
		}
		if !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(d.ID) {
			t.Errorf("id %q is not a slug", d.ID)
		}
	}
	want := []string{"collective-times", "fct-cdf", "link-utilisation-by-tier", "progress-cdf", "rank-completion", "throughput-by-tier"}
	if !slices.Equal(ids, want) {
		t.Errorf("got ids %v, want %v", ids, want)
	}
}
