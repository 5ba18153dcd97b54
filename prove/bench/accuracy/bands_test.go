package main

import (
	"testing"

	"netsim/simulator/accuracy"
	"netsim/simulator/engine"
)

// TestRowsAreInTheirBand: a run of a compared row is in the class of the compared runs, with
// a band that holds the errors of the row. So what the rules read from a configuration is
// what the row's setting says.
func TestRowsAreInTheirBand(t *testing.T) {
	t.Parallel()
	sections, err := compared()
	if err != nil {
		t.Fatal(err)
	}
	table, err := accuracy.Generated()
	if err != nil {
		t.Fatal(err)
	}
	classes := map[accuracy.Class]int{}
	for i := range sections {
		for j := range sections[i].Rows {
			r := &sections[i].Rows[j]
			if r.Of == nil {
				continue
			}
			document, err := r.Of.Document()
			if err != nil {
				t.Fatal(err)
			}
			run := accuracy.Run{Document: document, Ranks: r.Of.Racks * r.Of.Hosts, Count: 1, Engine: engine.Version, Ended: true}
			want := map[bool]accuracy.Class{true: accuracy.ClosedForm, false: accuracy.Compared}[r.Of.Spines == 0]
			if r.Of.operation != "" {
				run.Collectives = []accuracy.Collective{{Operation: r.Of.operation, Algorithm: r.Of.algorithm, Bytes: r.Of.bytes, Ranks: run.Ranks}}
			} else {
				run.Traces, want = true, accuracy.Extrapolated // messages of traces are not examined
			}
			got, err := table.Of(&run)
			if err != nil {
				t.Fatal(err)
			}
			classes[got.Class]++
			if got.Class != want || want != accuracy.Extrapolated && len(got.Outside) > 0 {
				t.Errorf("%s, %s: the class %s with %q outside, want %s", sections[i].Name, r.Case, got.Class, got.Outside, want)
			}
			if low, high := 100*(r.Least/r.Theirs-1), 100*(r.Most/r.Theirs-1); low < got.Lowest-1e-6 || high > got.Highest+1e-6 {
				t.Errorf("%s, %s: errors from %f to %f %%, outside the band of %f to %f", sections[i].Name, r.Case, low, high, got.Lowest, got.Highest)
			}
		}
	}
	if classes[accuracy.ClosedForm] != 270 || classes[accuracy.Compared] < 700 || classes[accuracy.Extrapolated] < 400 {
		t.Errorf("%v rows in the classes, want 270 of formulas, 700 compared and 400 of messages at least", classes)
	}
}
