package presets_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/simulator/collective"
	"netsim/simulator/document"
	"netsim/simulator/presets"
	"netsim/simulator/topology"
)

func submission(t *testing.T, radix, ratio string, ranks int) (presets.Simple, topology.Derivation) {
	t.Helper()
	s, derived, err := presets.NewSimple(
		&topology.Constraints{SwitchRadix: radix, SubscriptionRatio: ratio},
		&collective.Workload{Ranks: ranks, Phases: []collective.Phase{{OperationType: collective.AllReduce, DataSize: 1 << 20}}},
		nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, derived
}

// reparsed returns the submission's document after it was encoded and parsed.
func reparsed(t *testing.T, s presets.Simple) *document.Document {
	t.Helper()
	d, err := s.Document()
	if err != nil {
		t.Fatal(err)
	}
	text, err := document.Canonical(d)
	if err != nil {
		t.Fatal(err)
	}
	back, err := document.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d, back); diff != "" {
		t.Fatalf("encoding and parsing changes the document (-made +parsed):\n%s", diff)
	}
	return back
}

// TestFabricOfASimpleSubmission: the document of a simple submission gives the
// same fabric as its derivation, which the preview shows.
func TestFabricOfASimpleSubmission(t *testing.T) {
	t.Parallel()
	ranks := []int{1, 2, 7, 8, 33, 63, 64, 65, 100, 129, 200, 1000, 1024, 2049, 3000, 4096, 9000}
	for _, radix := range topology.Radixes() {
		for _, ratio := range topology.Ratios() {
			for _, n := range ranks {
				t.Run(fmt.Sprintf("%s/%s/%d", radix, ratio, n), func(t *testing.T) {
					t.Parallel()
					s, derived := submission(t, radix, ratio, n)
					want, err := topology.Build(derived.Layout())
					if err != nil {
						t.Fatal(err)
					}
					got, err := reparsed(t, s).Fabric()
					if err != nil {
						t.Fatal(err)
					}
					if !reflect.DeepEqual(want, got) {
						t.Error("the fabric of the document is not the derived one")
					}
				})
			}
		}
	}
}

// TestOutlines: submissions that differ in sizes only have equal outlines, and any other
// difference of their documents is in the outline.
func TestOutlines(t *testing.T) {
	t.Parallel()
	made := map[presets.Outline]string{}
	for _, seed := range []int64{0, 2} {
		for _, ranks := range []int{8, 64, 300} {
			for _, ratio := range topology.Ratios() {
				for _, algorithm := range []string{collective.Ring, ""} {
					for _, size := range []int64{1, 1 << 20} {
						s, _, err := presets.NewSimple(&topology.Constraints{SubscriptionRatio: ratio}, &collective.Workload{Ranks: ranks, Phases: []collective.Phase{
							{OperationType: collective.AllReduce, Algorithm: algorithm, DataSize: size}, {OperationType: collective.AllToAll, DataSize: size},
						}}, nil)
						if err != nil {
							t.Fatal(err)
						}
						s.Seed = seed
						doc := reparsed(t, s)
						if options, err := doc.Options(1); err != nil || options.Seed != uint64(max(seed, presets.DefaultSeed)) {
							t.Errorf("seed %d gives %d (%v)", seed, options.Seed, err)
						}
						text, err := document.Canonical(doc)
						if err != nil {
							t.Fatal(err)
						}
						if before, known := made[s.Outline()]; known && before != text {
							t.Errorf("two documents of the outline %+v differ (-first +second):\n%s", s.Outline(), cmp.Diff(before, text))
						}
						made[s.Outline()] = text
					}
				}
			}
		}
	}
	if want := 2 * 3 * 4; len(made) != want {
		t.Errorf("there are %d outlines, want %d", len(made), want)
	}
}

func TestAlgorithmsThatPhasesAgreeOn(t *testing.T) {
	t.Parallel()
	phase := func(algorithm string) collective.Phase {
		return collective.Phase{OperationType: collective.AllReduce, Algorithm: algorithm, DataSize: 1}
	}
	for _, c := range []struct {
		name   string
		phases []collective.Phase
		want   string
	}{
		{"one", []collective.Phase{phase(collective.RecursiveHalvingDoubling)}, "halving-doubling"},
		{"two that agree", []collective.Phase{phase(collective.RecursiveHalvingDoubling), phase(collective.RecursiveHalvingDoubling)}, "halving-doubling"},
		{"two that do not", []collective.Phase{phase(collective.RecursiveHalvingDoubling), phase(collective.Ring)}, "ring"},
		{"none", []collective.Phase{{OperationType: collective.Broadcast, DataSize: 1}}, "ring"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, _, err := presets.NewSimple(nil, &collective.Workload{Ranks: 8, Phases: c.phases}, nil)
			if err != nil {
				t.Fatal(err)
			}
			p := reparsed(t, s).Applications[0].TypedParameters
			if got := p["ChakraConfiguration"].Branch["AllReduceAlgorithm"].Value; got != c.want {
				t.Errorf("AllReduceAlgorithm = %v, want %s", got, c.want)
			}
		})
	}
}
