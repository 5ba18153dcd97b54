package validation_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/simulator/collective"
	"netsim/simulator/document"
	"netsim/simulator/presets"
	"netsim/simulator/topology"
	"netsim/simulator/validation"
)

// rack is a document of one rack with eight servers, as short as a client can write it.
const rack = `{
	"components": [
		{"type": "switch", "model": "clos-switch-v1", "name": "leaf", "version": "1.0.0", "typedParameters": {"NumDownLinks": {"value": 8, "type": "uint"}}},
		{"type": "nic", "model": "roce-nic-v1", "name": "nic", "version": "1.0.0"},
		{"type": "server", "model": "gpu-server-v1", "name": "server", "version": "1.0.0", "components": [{"name": "nic", "type": "nic"}]}],
	"containers": [{"type": "rack", "name": "rack", "model": "leaf-rack-v1", "version": "1.0.0",
		"components": [{"name": "leaf", "type": "switch"}, {"name": "server", "type": "server", "count": 8}]}],
	"applications": [{"type": "application", "trafficType": "coordinated", "name": "workload", "model": "chakra-workload-v1", "version": "1.0.0"}],
	"links": [],
	"topology": {"type": "clos", "topologyTiers": 1, "components": [{"name": "rack", "type": "rack"}]},
	"globalParameters": {"SimulationParameters": {"RandomSeed": {"value": 7, "type": "uint"}}}}`

func read(t *testing.T, text string, replace ...string) *document.Document {
	t.Helper()
	d := new(document.Document)
	if err := json.Unmarshal([]byte(strings.NewReplacer(replace...).Replace(text)), d); err != nil {
		t.Fatal(err)
	}
	return d
}

func codes(findings []validation.Finding) []string {
	out := []string{}
	for _, f := range findings {
		out = append(out, f.Code)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestComplete(t *testing.T) {
	t.Parallel()
	d := read(t, rack)
	if err := validation.Complete(d); err != nil {
		t.Fatal(err)
	}
	ref := d.Containers[0].Components[0]
	if want := (document.Ref{Name: "leaf", Type: "switch", Count: 1, Model: "clos-switch-v1", Version: "1.0.0"}); ref != want {
		t.Errorf("reference %+v, want %+v", ref, want)
	}
	if d.Applications[0].TrafficType != document.TrafficChakra {
		t.Errorf("traffic type %s, want %s", d.Applications[0].TrafficType, document.TrafficChakra)
	}
	p := d.Components[0].TypedParameters
	if got := p["NumDownLinks"].Value; got != 8.0 {
		t.Errorf("NumDownLinks = %v, want 8, the client's value", got)
	}
	if got := p["LoadBalancingFlowlet"].Branch["Gap"].Leaf; got == nil || got.Unit != "us" {
		t.Errorf("LoadBalancingFlowlet.Gap = %v, want its default in us", got)
	}
	if got := d.GlobalParameters["SimulationParameters"].Branch; got["RandomSeed"].Value != 7.0 || got["Mtu"].Leaf == nil {
		t.Errorf("global parameters %v, want the RandomSeed 7 and a default Mtu", got)
	}
	again := read(t, rack)
	if err := validation.Complete(again); err != nil {
		t.Fatal(err)
	}
	if err := validation.Complete(again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d, again); diff != "" {
		t.Errorf("completing again changes the document (-once +twice):\n%s", diff)
	}
}

func TestCompleteRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ from, to, want string }{
		"a name twice":                    {`"name": "nic", "version"`, `"name": "leaf", "version"`, "components[1].name 'leaf' is taken by components[0].name"},
		"a layer as component":            {`"type": "nic", "model"`, `"type": "layer", "model"`, "components[1].type must be one of [switch, nic, gpu, server], got 'layer'"},
		"children of a switch":            {`"typedParameters": {"NumDownLinks": {"value": 8, "type": "uint"}}`, `"components": [{"name": "nic", "type": "nic"}]`, "components[0].components must be empty: only a server has children"},
		"a section that the service sets": {`"SimulationParameters"`, `"ComputeConfiguration"`, "globalParameters.ComputeConfiguration is set by the service"},
		"an unknown section":              {`"SimulationParameters"`, `"Other"`, "globalParameters.Other is unknown"},
		"a parent of a nic":               {`{"name": "nic", "type": "nic"}`, `{"name": "nic", "type": "nic", "parentApplicationName": "x"}`, "components[2].components[0].parentApplicationName is only for applications, the type is 'nic'"},
		"a reference in two groups":       {`{"name": "leaf", "type": "switch"}`, `{"name": "leaf", "type": "switch", "group": "a"}, {"name": "leaf", "type": "switch", "group": "b"}`, "containers[0].components[1].name 'leaf' is referenced twice"},
		"two entries with one distribution id": {`"topologyTiers": 1,`, `"topologyTiers": 1, "appDistribution": {"randomApplicationDistribution": [
			{"name": "a", "parentApplication": "gen", "applicationType": "client", "distributionPercent": {"distributionId": "id", "value": 0.5}},
			{"name": "b", "parentApplication": "gen", "applicationType": "server", "distributionPercent": {"distributionId": "id", "value": 0.5}}]},`,
			"topology.appDistribution.randomApplicationDistribution[1].distributionPercent.distributionId 'id' is that of topology.appDistribution.randomApplicationDistribution[0], which is of the same application"},
		"a switch as container": {`"type": "rack", "name"`, `"type": "switch", "name"`, "containers[0].type must be one of [rack, pod], got 'switch'"},
		"an unknown type":       {`"type": "application", "trafficType"`, `"type": "other", "trafficType"`, "applications[0].type must be one of [application], got 'other'"},
		"a reference twice":     {`{"name": "leaf", "type": "switch"}`, `{"name": "leaf", "type": "switch"}, {"name": "leaf", "type": "switch"}`, "containers[0].components[1].name 'leaf' is referenced twice"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := validation.Complete(read(t, rack, c.from, c.to))
			if err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestCheckParams(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"A": {"B": {"value": 1, "type": "uint"}}}`: "",
		`{"A": {"value": "x", "type": "string"}}`:    "",
		`{}`:                                    "",
		`{"A": 1}`:                              "p.A must be an object",
		`{"A": null}`:                           "p.A must be an object",
		`{"A": {"value": 1.5, "type": "uint"}}`: "p.A.value must be that of a uint, got 1.5",
		`{"A": {"value": -1, "type": "uint"}}`:  "p.A.value must be that of a uint, got -1",
		`{"A": {"value": 1, "type": "colour"}}`: "p.A.value must be that of a colour, got 1",
		`{"A": {"value": 1, "type": 2}}`:        "p.A.type must be a string",
		`{"A": {"value": 1, "type": "uint", "unit": 3}}`:             "p.A.unit must be a string",
		`{"A": {"value": 1, "type": "uint", "min": 3}}`:              "p.A.min is unknown",
		`{"A": {"value": 1e999, "type": "double"}}`:                  "p.A.value 1e999 is too large",
		`{"value": 1, "type": "uint"}`:                               "p.type must be an object",
		strings.Repeat(`{"A":`, 16) + `{}` + strings.Repeat(`}`, 16): "p" + strings.Repeat(".A", 16) + " is more than 16 levels deep",
		strings.Repeat(`{"A":`, 15) + `{}` + strings.Repeat(`}`, 15): "",
		`{"` + strings.Repeat("A", 128) + `": {}}`:                   "",
		`{"` + strings.Repeat("A", 129) + `": {}}`:                   "p." + strings.Repeat("A", 64) + " is longer than 128 characters",
	} {
		got := ""
		if err := validation.CheckParams("p", []byte(text)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: error %q, want %q", text, got, want)
		}
	}
}

// TestDerivedDocumentsAreValid: the only finding about the document of a simple
// submission is the note that its topology was derived.
func TestDerivedDocumentsAreValid(t *testing.T) {
	t.Parallel()
	for _, ranks := range []int{1, 8, 64, 65, 1000, 9000, 16384} {
		for _, ratio := range topology.Ratios() {
			s, _, err := presets.NewSimple(&topology.Constraints{SubscriptionRatio: ratio},
				&collective.Workload{Ranks: ranks, Phases: []collective.Phase{{OperationType: collective.AllReduce, DataSize: 1}}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			d, err := s.Document()
			if err != nil {
				t.Fatal(err)
			}
			findings := validation.Check(d, validation.Attachments{Traceset: &validation.Traceset{Status: "ready", Ranks: int64(ranks)}})
			if diff := cmp.Diff([]string{"PREPROCESSOR_VALIDATION_NOTE"}, codes(findings)); diff != "" {
				t.Errorf("%d ranks at %s: %+v", ranks, ratio, findings)
			}
		}
	}
}
