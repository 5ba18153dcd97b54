package main

import (
	"strings"
	"testing"
)

// TestExports: the smallest run of the part measures an export to each format, its size
// and memory, and the limits.
func TestExports(t *testing.T) {
	t.Parallel()
	b := smallBench(t)
	b.burst = 800
	if err := b.exports(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(b.report.Figures) != 9 {
		t.Errorf("the part has %d figures, want three for each of three formats", len(b.report.Figures))
	}
	for _, f := range b.report.Figures {
		rate := strings.HasPrefix(f.Name, "export to ")
		if f.Value <= 0 || rate && (len(f.Limits) != 2 || f.Limits[0].Value <= 0 || f.Limits[1].Value <= 0) {
			t.Errorf("%+v has no value, or not both limits", f)
		}
		if strings.HasPrefix(f.Name, "export to parquet") && f.Reach == "" {
			t.Error("the export to Parquet has nothing to reach")
		}
	}
}
