package document_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/simulator/collective"
	"netsim/simulator/document"
	"netsim/simulator/engine"
	"netsim/simulator/presets"
)

// parsed returns the document of a simple submission, parsed from its text.
func parsed(t *testing.T) *document.Document {
	t.Helper()
	d, err := document.Parse(textOf(t))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func textOf(t testing.TB) string {
	t.Helper()
	s, _, err := presets.NewSimple(nil, &collective.Workload{
		Ranks: 8, Phases: []collective.Phase{{OperationType: collective.AllReduce, DataSize: 1 << 20}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.Document()
	if err != nil {
		t.Fatal(err)
	}
	text, err := document.Canonical(d)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestOptionsOfASimpleSubmission(t *testing.T) {
	t.Parallel()
	got, err := parsed(t).Options(10 * time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	want := engine.Options{
		Seed: 1, Limit: 600_000_000_000_000, Transport: engine.Lossless,
		Interval: 1_000_000_000, Beacon: 1_000_000_000,
		NICs:     []engine.NIC{{Component: "nic", Packet: engine.DefaultPacket()}},
		Switches: []engine.Switch{{Component: "rsw", Gap: 100_000_000, Capacity: 51_200_000_000_000}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

func TestFabricRefuses(t *testing.T) {
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
			d, err := document.Parse(strings.ReplaceAll(textOf(t), c.replace, c.with))
			if err != nil {
				t.Fatal(err)
			}
			if _, err = d.Fabric(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one that contains %q", err, c.want)
			}
		})
	}
}

// TestCanonical checks the examples of RFC 8785, and texts that encoding/json encodes
// differently.
func TestCanonical(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ give, want string }{
		{`[56, {"d": true, "10": null, "1": [ ]}]`, `[56,{"1":[],"10":null,"d":true}]`},
		{`[333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001, -0]`, `[333333333.3333333,1e+30,4.5,0.002,1e-27,0]`},
		{`{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}`,
			"{\"\\r\":2,\"1\":4,\"\u0080\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\ufb33\":3}"},
		{`"<&>\u2028\\u2028\u000f\n\/"`, "\"<&>\u2028\\\\u2028\\u000f\\n/\""},
	} {
		got, err := document.Canonical(rawJSON(c.give))
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
