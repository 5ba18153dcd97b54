package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// The head of a mutant's file says what the bug is, which faults show it, and for how
// long they happen.
func TestTheHeadOfAMutant(t *testing.T) {
	t.Parallel()
	m, err := readMutant("m", "It forgets.\n\nFaults: a,b\nFor: 5s\nSeed: 7\n\n--- a/x.go\n+++ b/x.go\n")
	if err != nil || m.bug != "It forgets." || !slices.Equal(m.faults, []string{"a", "b"}) || m.duration != 5*time.Second || m.seed != 7 {
		t.Errorf("got %+v, %v", m, err)
	}
	if m, err := readMutant("m", "It forgets.\n\nFaults: a\n\n--- a/x.go\n"); err != nil || m.duration != mutantTime {
		t.Errorf("without a time it lasts %v, %v; want %v", m.duration, err, mutantTime)
	}
	for _, text := range []string{"It forgets.\n\n--- a/x.go\n", "Faults: a\n\n--- a/x.go\n", "It forgets.\nFaults: a\nFor: ever\n--- a/x.go\n"} {
		if _, err := readMutant("m", text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

// A mutant without a violation has survived, and the table names the check that caught
// the others.
func TestTheTableOfMutants(t *testing.T) {
	t.Parallel()
	results := []result{
		{name: "one", caught: violation{"feeds", 3 * time.Second, "twice"}, campaigns: 2},
		{name: "two", campaigns: maxCampaigns},
	}
	if n := survivors(results); n != 1 {
		t.Errorf("%d have survived, want 1", n)
	}
	var out strings.Builder
	if err := printResults(&out, results); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"one     feeds      2          3s", "two     SURVIVED   3", "1 of 2 mutants were caught"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
}
