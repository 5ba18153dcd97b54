package studies

import (
	"strings"
	"testing"

	"netsim/commands"
	"netsim/events"
	"netsim/projections"
	"netsim/runs/studies/plan"
)

// studyOf returns a study of submissions and its plan. The axes are a list of values.
func studyOf(t *testing.T, replicates int64, axes ...events.StudyAxis) (*projections.Study, *plan.Plan) {
	t.Helper()
	s := toStart(events.StudyStarted{
		AccountID: "a", WorkspaceID: "w", Name: "s", Kind: commands.StudyOfSimple, Method: plan.List, Replicates: replicates,
		Base: `{"workload":{"ranks":256,"phases":[{"operationType":"allToAll","dataSize":1024}]}}`, Axes: axes, Points: replicates * int64(len(axes[0].Values)),
	})
	p, err := PlanOf(&s)
	if err != nil {
		t.Fatal(err)
	}
	return &s, p
}

func ratios(values ...string) events.StudyAxis {
	a := events.StudyAxis{Field: "topologyConstraints.subscriptionRatio"}
	for _, v := range values {
		a.Values = append(a.Values, `"`+v+`"`)
	}
	return a
}

// TestDomination: a run is dominated by a completed point of the same workload that is not
// dearer, and only if the median of its replicates is larger whatever they still take.
func TestDomination(t *testing.T) {
	t.Parallel()
	const size = "workload.phases[0].dataSize"
	for name, c := range map[string]struct {
		replicates   int64
		ratios       []string
		sizes        []string
		times, soFar map[int64]int64 // in ns
		of           int64
		by           int64 // -1 for none
	}{
		"slower and dearer":          {1, []string{"4:1", "1:1"}, []string{"8", "8"}, map[int64]int64{0: 100}, map[int64]int64{1: 101}, 1, 0},
		"as slow so far":             {1, []string{"4:1", "1:1"}, []string{"8", "8"}, map[int64]int64{0: 100}, map[int64]int64{1: 100}, 1, -1},
		"slower and cheaper":         {1, []string{"1:1", "4:1"}, []string{"8", "8"}, map[int64]int64{0: 100}, map[int64]int64{1: 101}, 1, -1},
		"slower at the same price":   {1, []string{"1:1", "1:1"}, []string{"8", "8"}, map[int64]int64{0: 100}, map[int64]int64{1: 101}, 1, -1}, // the same design: a replicate
		"another workload":           {1, []string{"4:1", "1:1"}, []string{"8", "16"}, map[int64]int64{0: 100}, map[int64]int64{1: 1000}, 1, -1},
		"the fastest of two":         {1, []string{"4:1", "3:1", "1:1"}, []string{"8", "8", "8"}, map[int64]int64{0: 100, 1: 90}, map[int64]int64{2: 101}, 2, 1},
		"one slow replicate":         {3, []string{"4:1", "1:1"}, []string{"8", "8"}, map[int64]int64{0: 90, 1: 100, 2: 200}, map[int64]int64{3: 500}, 3, -1},
		"two slow replicates":        {3, []string{"4:1", "1:1"}, []string{"8", "8"}, map[int64]int64{0: 90, 1: 100, 2: 200, 3: 150}, map[int64]int64{4: 101}, 4, 1},
		"replicates are not all run": {3, []string{"4:1", "1:1"}, []string{"8", "8"}, map[int64]int64{0: 90, 1: 100, 3: 150}, map[int64]int64{4: 101}, 4, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, p := studyOf(t, c.replicates, ratios(c.ratios...), events.StudyAxis{Field: size, Values: c.sizes})
			prices, err := PricesOf(t.Context(), nil, s, p)
			if err != nil {
				t.Fatal(err)
			}
			all, times, soFar := rivalsOf(p, prices), map[int64]projections.PointTime{}, map[int64]int64{}
			for point, ns := range c.times {
				times[point] = projections.PointTime{Point: point, SimulationID: "sim", TimePs: ns * 1000}
			}
			for point, ns := range c.soFar {
				soFar[point] = ns * 1000
			}
			number := all.of[c.of]
			by, err := all.dominating(number, all.atLeast(number, times, soFar), all.completed(times))
			if err != nil {
				t.Fatal(err)
			}
			if c.by < 0 {
				if by != (events.Domination{}) {
					t.Errorf("point %d is dominated by %+v", c.of, by)
				}
				return
			}
			if by.Point != c.by || by.SimulationID != "sim" || !strings.Contains(by.Reason, "USD; ") {
				t.Errorf("point %d is dominated by %+v, want point %d", c.of, by, c.by)
			}
		})
	}
}

// TestPointsShareDocuments: points whose documents are equal have one made, which is the
// cost of a forecast; and their inputs have the hashes that each by itself would have.
func TestPointsShareDocuments(t *testing.T) {
	t.Parallel()
	sizes := events.StudyAxis{Field: "workload.phases[0].dataSize"}
	for i := range 100 {
		sizes.Values = append(sizes.Values, strings.Repeat("1", 1+i%9)+strings.Repeat("0", i/40))
	}
	s, p := studyOf(t, 1, sizes)
	of, err := new(Worker).pointsOf(t.Context(), s, p)
	if err != nil {
		t.Fatal(err)
	}
	hashes := map[string]bool{}
	for point := range s.Points {
		got, ranks, err := of.request(point)
		if err != nil || ranks != 256 {
			t.Fatalf("%d ranks (%v)", ranks, err)
		}
		alone, err := new(Worker).pointsOf(t.Context(), s, p)
		if err != nil {
			t.Fatal(err)
		}
		want, _, err := alone.request(point)
		if err != nil || got.Study.InputHash != want.Study.InputHash {
			t.Fatalf("point %d has the inputs %s, by itself %s (%v)", point, got.Study.InputHash, want.Study.InputHash, err)
		}
		hashes[got.Study.InputHash] = true
	}
	if made := len(of.(*submissions).documents); made != 1 || len(hashes) != 27 {
		t.Errorf("%d documents were made for %d different inputs, want one", made, len(hashes))
	}
}
