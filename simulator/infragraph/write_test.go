package infragraph_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"netsim/simulator/document"
	"netsim/simulator/infragraph"
	"netsim/simulator/presets"
	"netsim/simulator/topology"
	"netsim/simulator/validation"
)

// rack is a configuration of one rack, with a GPU and things that InfraGraph does not have.
const rack = `{
	"components": [
		{"type": "switch", "model": "clos-switch-v1", "name": "leaf", "version": "1.0.0", "typedParameters": {
			"SwitchingCapacity": {"value": 300, "type": "datarate", "unit": "Gbps"}, "LoadBalancingMethod": {"value": "flowlet", "type": "string"},
			"LoadBalancingFlowlet": {"Gap": {"value": 100000, "type": "timeval", "unit": "ns"}}}},
		{"type": "nic", "model": "roce-nic-v1", "name": "nic", "version": "1.0.0", "typedParameters": {
			"NetworkInterface": {"UplinkNetworkInterface": {"DataRate": {"value": 100, "type": "datarate", "unit": "Gbps"}}},
			"Transport": {"MSS": {"value": 1, "type": "bytes", "unit": "KiB"}}}},
		{"type": "gpu", "model": "gpu-v1", "name": "gpu", "version": "1.0.0"},
		{"type": "nic", "model": "roce-nic-v1", "name": "spare", "version": "1.0.0"},
		{"type": "server", "model": "gpu-server-v1", "name": "host", "version": "1.0.0", "components": [
			{"name": "nic", "type": "nic", "count": 2}, {"name": "gpu", "type": "gpu", "count": 8}]}],
	"containers": [{"type": "rack", "name": "rack", "model": "leaf-rack-v1", "version": "1.0.0",
		"components": [{"name": "leaf", "type": "switch"}, {"name": "host", "type": "server", "count": 2}]}],
	"applications": [{"type": "application", "trafficType": "chakra", "name": "training", "model": "chakra-workload-v1", "version": "1.0.0"}],
	"links": [],
	"topology": {"name": "lab", "type": "clos", "topologyTiers": 1, "components": [{"name": "rack", "type": "rack"}]},
	"globalParameters": {"SimulationParameters": {"RandomSeed": {"value": 7, "type": "uint"}}}}`

func completed(t *testing.T, text string) *document.Document {
	t.Helper()
	d, err := document.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := validation.Complete(d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestWriteSaysWhatIsLeftOut: a note for each thing that InfraGraph does not have, and none for
// a default in another unit.
func TestWriteSaysWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	text, notes, err := infragraph.Write(completed(t, rack))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"switch leaf: SwitchingCapacity 300 Gbps, less than its ports, is left out",
		"switch leaf: LoadBalancingMethod flowlet is left out",
		"nic nic: Transport.MSS 1KiB is left out",
		"gpu gpu is an xpu; read back, servers have no GPUs",
		"nic spare is in no part of the topology and is left out",
		"the names of 1 racks and pods are left out; Read finds the racks and pods from the links",
		"application training is left out",
		"global parameters: SimulationParameters.RandomSeed 7 is left out",
	}
	if !slices.Equal(notes, want) {
		t.Errorf("got the notes %q, want %q", notes, want)
	}
	var got struct {
		Name      string
		Devices   []json.RawMessage
		Instances []json.RawMessage
		Links     []json.RawMessage
		Edges     []json.RawMessage
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for what, is := range map[string]struct{ got, want string }{
		"the name": {got.Name, "lab"},
		"the instances": {join(got.Instances), `{"name":"leaf","device":"leaf","count":1}
{"name":"host","device":"host","count":2}`},
		"the links": {join(got.Links), `{"name":"link-1","physical":{"bandwidth":{"choice":"gigabits_per_second","gigabits_per_second":100},"latency":{"choice":"ns","ns":100}}}`},
		"the edges": {join(got.Edges), `{"ep1":{"instance":"host[0]","component":"nic[0:2]"},"ep2":{"instance":"leaf[0]","component":"port[0:2]"},"scheme":"one2one","link":"link-1"}
{"ep1":{"instance":"host[1]","component":"nic[0:2]"},"ep2":{"instance":"leaf[0]","component":"port[2:4]"},"scheme":"one2one","link":"link-1"}`},
		"the devices": {join(got.Devices), `{"name":"leaf","components":[{"name":"asic","count":1,"choice":"switch"},{"name":"port","count":4,"choice":"port"}],"links":[{"name":"internal"}],"edges":[{"ep1":{"component":"asic"},"ep2":{"component":"port"},"scheme":"many2many","link":"internal"}]}
{"name":"host","components":[{"name":"host","count":1,"choice":"custom","custom":{"type":"host"}},{"name":"nic","count":2,"choice":"nic"},{"name":"gpu","count":8,"choice":"xpu"}],"links":[{"name":"internal"}],"edges":[{"ep1":{"component":"host"},"ep2":{"component":"nic"},"scheme":"many2many","link":"internal"},{"ep1":{"component":"host"},"ep2":{"component":"gpu"},"scheme":"many2many","link":"internal"}]}`},
	} {
		if is.got != is.want {
			t.Errorf("%s: got\n%s\nwant\n%s", what, is.got, is.want)
		}
	}
}

// join returns the values without white space, one a line.
func join(values []json.RawMessage) string {
	var lines []string
	for _, v := range values {
		lines = append(lines, strings.NewReplacer("\n", "", " ", "").Replace(string(v)))
	}
	return strings.Join(lines, "\n")
}

// TestWriteSaysWhatComesBackOtherwise: of fabrics that Read does not make again, Write says so.
func TestWriteSaysWhatComesBackOtherwise(t *testing.T) {
	t.Parallel()
	sw := func(name string, up int) []topology.Switch {
		return []topology.Switch{{Component: name, UpLinks: up, UpRate: 100e9, DownRate: 100e9, UpLinkDelay: 1000}}
	}
	one := func(leaf, server string) topology.Rack {
		return topology.Rack{Switches: sw(leaf, 1), Servers: []topology.Server{{Component: server, NICs: []topology.NIC{{Component: "nic", Rate: 100e9, Delay: 1000}}}}}
	}
	two := one("leaf", "server")
	two.Switches = append(two.Switches, sw("leaf", 1)...)
	for want, l := range map[string]topology.Layout{
		"": {Pods: []topology.Pod{{Switches: sw("spine", 0), Racks: []topology.Rack{two, two}}}},
		"read back, spine-0 is in tier 1 instead of 0: racks directly below the spine are read as racks of a pod": {Spine: sw("spine", 0), Racks: []topology.Rack{one("leaf", "server"), one("leaf", "server")}},
		"netsim does not read this document back: ":                                                               {Spine: sw("spine", 0), Pods: []topology.Pod{{Switches: sw("fabric", 1), Racks: []topology.Rack{one("leaf", "server")}}}, Racks: []topology.Rack{one("leaf", "server")}},
		"read back, server-0 is in rack 0 instead of 1":                                                           {Pods: []topology.Pod{{Switches: sw("spine", 0), Racks: []topology.Rack{{}, one("leaf", "server")}}}},
		"read back, the links of leaf-1 are those of another pod or rack": {Pods: []topology.Pod{
			{Switches: sw("spine", 0), Racks: []topology.Rack{one("leaf", "server"), {Switches: append(sw("leaf", 1), sw("leaf", 1)...)}}},
		}},
		"read back, the nodes have another order or other names: ": {Pods: []topology.Pod{
			{Switches: sw("spine", 0), Racks: []topology.Rack{one("leaf", "server"), one("edge", "server"), one("leaf", "server")}},
		}},
	} {
		d, _, err := presets.FromLayout(l)
		if err != nil {
			t.Fatal(err)
		}
		_, notes, err := infragraph.Write(d)
		found := slices.ContainsFunc(notes, func(n string) bool {
			return want != "" && strings.Contains(n, want) || want == "" && strings.Contains(n, "read")
		})
		if err != nil || found != (want != "") {
			t.Errorf("got %v and the notes %q, want %q", err, notes, want)
		}
	}
}

// TestWriteRefuses: a configuration without a network, and a name that no endpoint can hold.
func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	for replaced, want := range map[[2]string]string{
		{`"name": "leaf"`, `"name": "leaf.1"`}:                                                "the name 'leaf.1' cannot be in an InfraGraph document",
		{`{"name": "host", "type": "server", "count": 2}`, `{"name": "x", "type": "server"}`}: "the server 'x' is not declared",
		{`"count": 2}]`, `"count": 70000}]`}:                                                  "70000 servers, and 65536 can be simulated",
	} {
		if _, _, err := infragraph.Write(completed(t, strings.ReplaceAll(rack, replaced[0], replaced[1]))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("with %s: got %v, want an error with %q", replaced[1], err, want)
		}
	}
}
