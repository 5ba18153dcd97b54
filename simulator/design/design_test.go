package design_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/simulator/collective"
	"netsim/simulator/design"
	"netsim/simulator/engine"
	"netsim/simulator/topology"
)

func submission(t *testing.T, radix, ratio string, ranks int) (design.Simple, topology.Derivation) {
	t.Helper()
	s, derived, err := design.NewSimple(
		&topology.Constraints{SwitchRadix: radix, SubscriptionRatio: ratio},
		&collective.Workload{Ranks: ranks, Phases: []collective.Phase{{OperationType: collective.AllReduce, DataSize: 1 << 20}}},
		nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, derived
}

// written returns the submission's document as it comes back from the log.
func written(t *testing.T, s design.Simple) *design.Document {
	t.Helper()
	d, err := s.Document()
	if err != nil {
		t.Fatal(err)
	}
	text, err := design.Canonical(d)
	if err != nil {
		t.Fatal(err)
	}
	back, err := design.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d, back); diff != "" {
		t.Fatalf("the document changes on its way (-made +read):\n%s", diff)
	}
	return back
}

// TestFabricOfASimpleSubmission: the stored document wires the very fabric
// that the preview showed.
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
					got, err := written(t, s).Fabric()
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

func TestOptionsOfASimpleSubmission(t *testing.T) {
	t.Parallel()
	s, _ := submission(t, "", "", 8)
	got, err := written(t, s).Options(10 * time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	want := engine.Options{
		Seed: 1, Packet: engine.DefaultPacket(), Limit: 600_000_000_000_000,
		Interval: 1_000_000_000, Beacon: 1_000_000_000,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
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
			s, _, err := design.NewSimple(nil, &collective.Workload{Ranks: 8, Phases: c.phases}, nil)
			if err != nil {
				t.Fatal(err)
			}
			p := written(t, s).Applications[0].TypedParameters
			if got := p["ChakraConfiguration"].Branch["AllReduceAlgorithm"].Value; got != c.want {
				t.Errorf("AllReduceAlgorithm = %v, want %s", got, c.want)
			}
		})
	}
}

func TestDocumentsThatCannotBeRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, replace, with, want string
	}{
		{"a reference to nothing", `"name":"nic","type":"nic","version"`, `"name":"ghost","type":"nic","version"`, "nic ghost is not declared"},
		{"a unit of another type", `"DataRate":{"type":"datarate","unit":"Gbps"`, `"DataRate":{"type":"datarate","unit":"KiB"`, "400 KiB, not a datarate"},
		{"no server", `,{"count":8,"model":"gpu-server-v1","name":"server","type":"server","version":"1.0.0"}`, "", "no server"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, _ := submission(t, "", "", 8)
			d, err := s.Document()
			if err != nil {
				t.Fatal(err)
			}
			text, err := design.Canonical(d)
			if err != nil {
				t.Fatal(err)
			}
			d, err = design.Parse(strings.ReplaceAll(text, c.replace, c.with))
			if err != nil {
				t.Fatal(err)
			}
			if _, err = d.Fabric(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one that says %q", err, c.want)
			}
		})
	}
}

// TestCanonical holds the examples of RFC 8785, and what Go's own encoder does
// otherwise.
func TestCanonical(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ give, want string }{
		{`[56, {"d": true, "10": null, "1": [ ]}]`, `[56,{"1":[],"10":null,"d":true}]`},
		{`[333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001, -0]`, `[333333333.3333333,1e+30,4.5,0.002,1e-27,0]`},
		{`{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}`,
			"{\"\\r\":2,\"1\":4,\"\u0080\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\ufb33\":3}"},
		{`"<&>\u2028\\u2028\u000f\n\/"`, "\"<&>\u2028\\\\u2028\\u000f\\n/\""},
	} {
		got, err := design.Canonical(rawJSON(c.give))
		if err != nil {
			t.Fatal(err)
		}
		if got != c.want {
			t.Errorf("canonical form of %s\n got %s\nwant %s", c.give, got, c.want)
		}
	}
}

type rawJSON string

func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }
