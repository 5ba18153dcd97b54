package presets_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/simulator/document"
	"netsim/simulator/presets"
	"netsim/simulator/topology"
)

// TestLayoutsBecomeDocuments: the fabric of the document has the nodes and links of the layout,
// also if different racks alternate, and for each kind of wiring.
func TestLayoutsBecomeDocuments(t *testing.T) {
	t.Parallel()
	nic := func(rate int64) topology.NIC { return topology.NIC{Component: "nic", Rate: rate, Delay: 7_500} }
	server := topology.Server{Component: "server", NICs: []topology.NIC{nic(100e9), nic(100e9)}}
	leaf := topology.Switch{Component: "leaf", UpLinks: 3, UpRate: 400e9, DownRate: 100e9, UpLinkDelay: 1500}
	spine := topology.Switch{Component: "spine", UpRate: 800e9, DownRate: 800e9, UpLinkDelay: topology.SwitchDelay}
	full, small := topology.Rack{Switches: []topology.Switch{leaf}, Servers: []topology.Server{server, server}}, topology.Rack{Switches: []topology.Switch{leaf}, Servers: []topology.Server{server}}
	pod := topology.Pod{Switches: []topology.Switch{{Component: "fabric", PerUpper: 2, UpRate: 800e9, DownRate: 800e9}}, Racks: []topology.Rack{full}}
	for name, l := range map[string]topology.Layout{
		"racks that alternate": {Spine: []topology.Switch{spine, spine}, Racks: []topology.Rack{full, small, full, full, small}},
		"links per switch":     {Spine: []topology.Switch{spine, spine, spine}, Pods: []topology.Pod{pod, pod}},
		"a mesh":               {Spine: []topology.Switch{spine, spine}, Pods: []topology.Pod{pod, pod}, Mesh: true, LinksPerPair: 3},
	} {
		want, err := topology.Build(l)
		if err != nil {
			t.Fatal(err)
		}
		d, renamed, err := presets.FromLayout(l)
		if err != nil || len(renamed) > 0 {
			t.Fatalf("%s: %v, %v", name, renamed, err)
		}
		if got, err := d.Fabric(); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the document has another fabric, %v", name, err)
		}
	}
	// Different switches and NICs of one name get numbers; a switch forwards what its ports have.
	other := small
	other.Switches = []topology.Switch{{Component: "leaf", UpLinks: 1, UpRate: 400e9, DownRate: 100e9, UpLinkDelay: 1500}}
	other.Servers = []topology.Server{{Component: "server", NICs: []topology.NIC{nic(50e9)}}}
	d, renamed, err := presets.FromLayout(topology.Layout{Spine: []topology.Switch{spine}, Racks: []topology.Rack{small, full, other}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"leaf-2": "leaf", "server-2": "server", "nic-2": "nic"}, renamed); diff != "" {
		t.Errorf("renamed (-want +got):\n%s", diff)
	}
	capacities, down := map[string]any{}, map[string]any{}
	for _, c := range d.Components {
		if c.Type == document.TypeSwitch {
			capacities[c.Name], down[c.Name] = c.TypedParameters["SwitchingCapacity"].Value, c.TypedParameters["NumDownLinks"].Value
		}
	}
	if diff := cmp.Diff(map[string]any{"leaf": 1600.0, "leaf-2": 450.0, "spine": 2800.0}, capacities); diff != "" {
		t.Errorf("capacities in Gbit/s (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"leaf": 4.0, "leaf-2": 1.0, "spine": 7.0}, down); diff != "" {
		t.Errorf("links from below (-want +got):\n%s", diff)
	}
	if _, _, err := presets.FromLayout(topology.Layout{}); err == nil {
		t.Error("a layout without servers became a document")
	}
}
