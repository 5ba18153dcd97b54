package summary_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/simulator/collective"
	"netsim/simulator/document"
	"netsim/simulator/presets"
	"netsim/simulator/summary"
	"netsim/simulator/topology"
)

// threeTiers returns the document of a simple submission of 4,096 ranks, without
// its global parameters, as encoding/json decodes it into an any.
func threeTiers(t testing.TB) map[string]any {
	t.Helper()
	simple, _, err := presets.NewSimple(
		&topology.Constraints{SwitchRadix: "64x800G", SubscriptionRatio: "1:1"},
		&collective.Workload{Ranks: 4096, Phases: []collective.Phase{{OperationType: "allReduce", DataSize: 1 << 20}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := simple.Document()
	if err != nil {
		t.Fatal(err)
	}
	tree := decoded(t, d)
	delete(tree, "globalParameters")
	return tree
}

func decoded(t testing.TB, v any) map[string]any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

// TestValidate: the summary of a derived fabric's document has the counts of
// the derivation, and validating it again gives the same result.
func TestValidate(t *testing.T) {
	t.Parallel()
	derived, err := topology.Derive(topology.Constraints{SwitchRadix: "64x800G", SubscriptionRatio: "1:1"}, 4096)
	if err != nil {
		t.Fatal(err)
	}
	got, err := summary.Validate(threeTiers(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range got.Findings {
		if f.Severity != "info" {
			t.Errorf("finding %+v, want only those of severity info", f)
		}
	}
	want := summary.Summary{
		Hosts: 4096, NICs: 4096, Ranks: 4096,
		Switches: derived.Tiers[0].SwitchCount + derived.Tiers[1].SwitchCount + derived.Tiers[2].SwitchCount,
		Links:    derived.Links.HostToRsw + derived.Links.RswToFsw + derived.Links.FswToSsw,
		Racks:    derived.Tiers[0].SwitchCount, Pods: derived.Pods, Tiers: 3,
		Bandwidth: []summary.Bandwidth{
			{Name: "ssw", Model: "clos-switch-v1", Tier: 0, Capacity: 51200, Unit: "Gbps"},
			{Name: "fsw", Model: "clos-switch-v1", Tier: 1, Capacity: 51200, Unit: "Gbps"},
			{Name: "rsw", Model: "clos-switch-v1", Tier: 2, Capacity: 51200, Unit: "Gbps"},
		},
		Nodes: []summary.Nodes{
			{Name: "ssw", Tier: 0, Count: derived.Tiers[2].SwitchCount}, {Name: "fsw", Tier: 1, Count: derived.Tiers[1].SwitchCount},
			{Name: "rsw", Tier: 2, Count: derived.Tiers[0].SwitchCount}, {Name: "nic", Tier: 3, Count: 4096},
		},
		Wires: []summary.Wires{
			{From: "nic", To: "rsw", Count: 4096, Gbps: 800},
			{From: "rsw", To: "fsw", Count: derived.Links.RswToFsw, Gbps: 800},
			{From: "fsw", To: "ssw", Count: derived.Links.FswToSsw, Gbps: 800},
		},
	}
	if diff := cmp.Diff(&want, got.Summary); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	var graph map[string]any
	if err := json.Unmarshal([]byte(got.Map), &graph); err != nil || len(graph["nodes"].([]any)) != 4 || len(graph["links"].([]any)) != 3 {
		t.Errorf("map %s, error %v; want 4 nodes and 3 links", got.Map, err)
	}
	again, err := summary.Validate(threeTiers(t))
	if diff := cmp.Diff(got, again); diff != "" || err != nil {
		t.Errorf("validated again: error %v (-first +second):\n%s", err, diff)
	}
}

// TestNothingIsAttached: a topology is validated without the traceset and the
// mapping file that a configuration would need.
func TestNothingIsAttached(t *testing.T) {
	t.Parallel()
	d := threeTiers(t)
	first(d, "applications")["typedParameters"].(map[string]any)["ChakraConfiguration"].(map[string]any)["UseMapping"] =
		map[string]any{"value": true, "type": "bool"}
	got, err := summary.Validate(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range got.Findings {
		if f.Severity != "info" {
			t.Errorf("finding %+v, want only those of severity info", f)
		}
	}
}

// TestDefaultTopology: a document without a topology gets one with the switches
// and containers that no container holds.
func TestDefaultTopology(t *testing.T) {
	t.Parallel()
	ref := func(kind, name string) document.Ref { return document.Ref{Type: kind, Name: name, Count: 1} }
	rack := func(name string) document.Container {
		return document.Container{Type: document.TypeRack, Name: name, Model: "leaf-rack-v1", Version: "1.0.0",
			Components: []document.Ref{ref(document.TypeSwitch, "rsw"), ref(document.TypeServer, "server")}}
	}
	pod := func(name string) document.Container {
		return document.Container{Type: document.TypePod, Name: name, Model: "pod-v1", Version: "1.0.0",
			Components: []document.Ref{ref(document.TypeSwitch, "fsw"), ref(document.TypeRack, "r0")}}
	}
	for name, c := range map[string]struct {
		containers []document.Container
		switches   []string
		want       [4]int // racks, pods, tiers, switches
	}{
		"a rack":               {[]document.Container{rack("r0")}, []string{"rsw"}, [4]int{1, 0, 1, 1}},
		"racks under a switch": {[]document.Container{rack("r0"), rack("r1")}, []string{"rsw", "top"}, [4]int{2, 0, 2, 3}},
		"a pod":                {[]document.Container{rack("r0"), pod("p0")}, []string{"rsw", "fsw"}, [4]int{1, 1, 2, 2}},
		"pods under switches":  {[]document.Container{rack("r0"), pod("p0"), pod("p1")}, []string{"rsw", "fsw", "top", "other"}, [4]int{2, 2, 3, 6}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := document.Document{
				Applications: []document.Application{{Type: document.TypeApplication, TrafficType: document.TrafficChakra, Name: "a", Model: "chakra-workload-v1", Version: "1.0.0"}},
				Components: []document.Component{
					{Type: document.TypeServer, Name: "server", Model: "gpu-server-v1", Version: "1.0.0", Components: []document.Ref{ref(document.TypeNIC, "nic")}},
					{Type: document.TypeNIC, Name: "nic", Model: "roce-nic-v1", Version: "1.0.0"},
				},
				Containers: c.containers,
			}
			for _, name := range c.switches {
				d.Components = append(d.Components, document.Component{Type: document.TypeSwitch, Name: name, Model: "clos-switch-v1", Version: "1.0.0"})
			}
			tree := decoded(t, d)
			delete(tree, "topology")
			delete(tree, "globalParameters")
			for _, collection := range []string{document.Components, document.Applications} {
				for _, declared := range tree[collection].([]any) {
					delete(declared.(map[string]any), "typedParameters") // the defaults
				}
			}
			got, err := summary.Validate(tree)
			if err != nil || got.Summary == nil || got.Map == "" {
				t.Fatalf("error %v, %+v; want a summary and a map", err, got)
			}
			o := got.Summary
			nodes, wires := 0, 0
			for _, n := range o.Nodes {
				nodes += n.Count
			}
			for _, w := range o.Wires {
				wires += w.Count
			}
			if nodes != o.Switches+o.NICs || wires != o.Links {
				t.Errorf("%d nodes and %d wires, want the switches, NICs and links of %+v", nodes, wires, o)
			}
			if diff := cmp.Diff(c.want, [4]int{o.Racks, o.Pods, o.Tiers, o.Switches}); diff != "" {
				t.Errorf("racks, pods, tiers, switches (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidateRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(d map[string]any)
		want   string // in the message
	}{
		"a parameter that is no object": {func(d map[string]any) {
			first(d, "components")["typedParameters"] = map[string]any{"NumUpLinks": 1.0}
		}, "components[0].typedParameters.NumUpLinks must be an object"},
		"parameters that are text": {func(d map[string]any) {
			first(d, "applications")["typedParameters"] = "x"
		}, "applications[0].typedParameters must be an object"},
		"a name twice": {func(d map[string]any) {
			first(d, "containers")["name"] = first(d, "components")["name"]
		}, "is taken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := threeTiers(t)
			c.change(d)
			if _, err := summary.Validate(d); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one that contains %q", err, c.want)
			}
		})
	}
}

func first(d map[string]any, collection string) map[string]any {
	return d[collection].([]any)[0].(map[string]any)
}

// TestInvalid: a document with errors has no map. It has a summary if its
// network can be unfolded.
func TestInvalid(t *testing.T) {
	t.Parallel()
	wrong := threeTiers(t)
	wrong["applications"] = []any{}
	if got, err := summary.Validate(wrong); err != nil || got.Summary == nil || got.Map != "" || got.Checksum == "" {
		t.Errorf("no application: error %v, %+v; want a summary and a checksum, but no map", err, got)
	}
	huge := threeTiers(t)
	first(huge, "containers")["components"].([]any)[1].(map[string]any)["count"] = 1e6
	if got, err := summary.Validate(huge); err != nil || got.Summary != nil || got.Map != "" {
		t.Errorf("more servers than can be simulated: error %v, %+v; want neither summary nor map", err, got)
	}
	empty := map[string]any{"containers": []any{}, "components": []any{}, "applications": []any{}}
	got, err := summary.Validate(empty)
	if err != nil || got.Summary != nil || got.Map != "" || len(got.Findings) == 0 {
		t.Errorf("empty document: error %v, %+v; want findings, but neither summary nor map", err, got)
	}
	// The hash of {"applications":[],"components":[],"containers":[]}.
	if want := "sha256:92eade42ccaf9e56e6239576aba979e603b8d109ea8ff0e7a1222901110a60eb"; got.Checksum != want {
		t.Errorf("checksum %s, want %s", got.Checksum, want)
	}
}

func BenchmarkValidate(b *testing.B) {
	tree := threeTiers(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := summary.Validate(tree); err != nil {
			b.Fatal(err)
		}
	}
}
