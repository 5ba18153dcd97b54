package results_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netsim/simulator/collective"
	"netsim/simulator/engine"
	"netsim/simulator/results"
)

// report runs an input and reads its summary.json.
func report(t *testing.T, in engine.Input) *results.Report {
	t.Helper()
	in.Options.CriticalPath = true
	out, _ := recordInput(t, results.Config{Simulation: "s"}, in)
	r, err := results.ReadReport(strings.NewReader(out.content["summary.json"].String()))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// allReduced returns an all-reduce among 64 ranks on a fabric of the ratio.
func allReduced(t *testing.T, algorithm string, bytes int64) engine.Input {
	t.Helper()
	groups, err := collective.Resolve(&collective.Workload{Ranks: 64, Phases: []collective.Phase{{OperationType: "allReduce", Algorithm: algorithm, DataSize: bytes}}}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	return engine.Input{Fabric: fabric(t, "64x800G", 64), Groups: groups}
}

// compared is a comparison, decoded without the types of package results.
type compared struct {
	Figures      map[string]map[string]float64
	Collectives  []map[string]map[string]any
	Tiers        []map[string]any
	CriticalPath map[string]any
	Stragglers   []struct {
		Rank          int
		ComputeTimePs map[string]float64
	}
}

func compare(t rapid.TB, this, other *results.Report) (c compared, sentence string) {
	t.Helper()
	x := results.Compare(this, other)
	text, err := json.Marshal(x)
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c, x.Sentence("A", "B", nil)
}

// TestReportIsRead: a report that was read is written with the same bytes.
func TestReportIsRead(t *testing.T) {
	t.Parallel()
	for kind, in := range kinds(t) {
		out, _ := recordInput(t, results.Config{Simulation: kind}, in)
		text := out.content["summary.json"].String()
		r, err := results.ReadReport(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		again, err := json.MarshalIndent(r, "", "  ")
		if err != nil || cmp.Diff(text, string(again)+"\n") != "" {
			t.Errorf("%s (%v):\n%s", kind, err, cmp.Diff(text, string(again)+"\n"))
		}
	}
	for _, bad := range []string{"", "[]", "{}", `{"simulatedTimePs":1}`, `{"simulatedTimePs":1,"linkUtilization":[{"meanPercent":-1}]}`} {
		if _, err := results.ReadReport(strings.NewReader(bad)); err == nil {
			t.Errorf("the summary %q is read", bad)
		}
	}
}

// TestComparisonNamesTheCause: for each cause, the sentence names it whichever run comes first.
func TestComparisonNamesTheCause(t *testing.T) {
	t.Parallel()
	even := kinds(t)["replay"]
	small, large := allReduced(t, "ring", 1<<20), allReduced(t, "ring", 1<<30)
	for name, c := range map[string]struct {
		fast, slow engine.Input
		want       []string
	}{
		"straggler": {even, straggling(t), []string{"mainly by computation", "most of it by rank 3, which computes 3.0 times"}},
		"size":      {small, large, []string{"mainly by sending", "most of it in allReduce"}},
		"algorithm": {allReduced(t, "recursiveHalvingDoubling", 1<<20), small, []string{"mainly by latency", "with 126 computations and transfers on the path instead of 11"}},
	} {
		fast, slow := report(t, c.fast), report(t, c.slow)
		there, first := compare(t, fast, slow)
		back, second := compare(t, slow, fast)
		for _, want := range append(c.want, " times as long as ", "their inputs are equal.") {
			if !strings.Contains(first, want) || !strings.Contains(second, want) {
				t.Errorf("%s: got %q and %q, want %q in both", name, first, second, want)
			}
		}
		if !strings.HasPrefix(first, "B took ") || !strings.HasPrefix(second, "A took ") {
			t.Errorf("%s: got %q and %q, want the slower run first", name, first, second)
		}
		for figure, pair := range there.Figures {
			if pair["this"] != back.Figures[figure]["other"] || pair["other"] != back.Figures[figure]["this"] {
				t.Errorf("%s: %s is %v there and %v back", name, figure, pair, back.Figures[figure])
			}
		}
		if name == "straggler" && (len(there.Stragglers) != 1 || there.Stragglers[0].Rank != 3 || len(there.Stragglers[0].ComputeTimePs) != 1) {
			t.Errorf("got the stragglers %v, want rank 3 of the other run", there.Stragglers)
		}
		for i, pair := range there.Collectives {
			if pair["this"]["operationType"] != pair["other"]["operationType"] {
				t.Errorf("%s: the collectives of row %d are %v", name, i, pair)
			}
		}
	}
}

// older returns a report as engines before 1.10.0 wrote it: without the picoseconds of parts.
func older(t *testing.T, r *results.Report) *results.Report {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`,"(computation|sending|contention|latency)Ps":[0-9]+`).ReplaceAll(text, nil)
	old, err := results.ReadReport(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return old
}

// TestComparedPathsAddUp: the parts of a critical path add up to the time of its run, and a
// run equals itself.
func TestComparedPathsAddUp(t *testing.T) {
	t.Parallel()
	reports := map[string]*results.Report{}
	for kind, in := range kinds(t) {
		if in.Replay != nil || in.Groups != nil {
			reports[kind] = report(t, in)
			reports["old "+kind] = older(t, reports[kind])
		}
	}
	for a := range reports {
		for b := range reports {
			c, sentence := compare(t, reports[a], reports[b])
			for _, run := range []string{"this", "other"} {
				sum := 0.0
				for _, part := range []string{"computationPs", "sendingPs", "contentionPs", "latencyPs"} {
					sum += c.CriticalPath[part].(map[string]any)[run].(float64)
				}
				if whole := c.Figures["simulatedTimePs"][run]; sum != whole {
					t.Errorf("%s and %s: the parts of %s add up to %v of %v", a, b, run, sum, whole)
				}
			}
			if equal := strings.HasPrefix(sentence, "Both runs took"); equal != (c.Figures["simulatedTimePs"]["this"] == c.Figures["simulatedTimePs"]["other"]) {
				t.Errorf("%s and %s: %s", a, b, sentence)
			}
			if len(c.Tiers) == 0 {
				t.Errorf("%s and %s have no tiers", a, b)
			}
		}
	}
}

// TestComparisonNamesChanges: a sentence names three changes and counts the others.
func TestComparisonNamesChanges(t *testing.T) {
	t.Parallel()
	r := report(t, allReduced(t, "ring", 1024))
	for n, want := range []string{"; their inputs are equal.", "; their inputs differ in x0.", "; their inputs differ in x0, x1.", "; their inputs differ in x0, x1, x2.", "; their inputs differ in x0, x1, x2 and 1 more."} {
		var changes []string
		for i := range n {
			changes = append(changes, fmt.Sprint("x", i))
		}
		if got := results.Compare(r, r).Sentence("A", "B", changes); !strings.HasPrefix(got, "Both runs took ") || !strings.HasSuffix(got, want) {
			t.Errorf("got %q, want it to end with %q", got, want)
		}
	}
}
