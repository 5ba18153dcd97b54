package infragraph_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/simulator/infragraph"
	"netsim/simulator/topology"
)

// tally is what a fabric comes to.
type tally struct {
	Servers, NICs, Switches, Links int
	Rates, Delays                  map[int64]int // links by rate in Gbit/s, and by delay in ns
	First, Last                    string        // links
}

func tallied(f *topology.Fabric) tally {
	t := tally{Servers: len(f.Hosts), Switches: f.Switches(), NICs: len(f.Nodes) - len(f.Hosts) - f.Switches(), Links: len(f.Links), Rates: map[int64]int{}, Delays: map[int64]int{}}
	name := func(l topology.Link) string { return f.Nodes[l.Lower].Name() + " " + f.Nodes[l.Upper].Name() }
	for _, l := range f.Links {
		t.Rates[l.Rate/1e9]++
		t.Delays[l.Delay/1000]++
	}
	t.First, t.Last = name(f.Links[0]), name(f.Links[len(f.Links)-1])
	return t
}

// TestPublicDocuments: documents that the reference implementation made are read, and the
// notes have all that is left out or assumed.
func TestPublicDocuments(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		tally
		notes []string
	}{
		"closfabric.yaml": {
			tally{4, 8, 7, 20, map[int64]int{100: 8, 400: 12}, map[int64]int{100: 8, 500: 12}, "nic-0 leafsw-0", "leafsw-3 spinesw-2"},
			[]string{
				"15 descriptions are left out",
				"link leaf-link has no latency: 100 ns is assumed",
				"link spine-link has no latency: 500 ns is assumed",
				"device server: the inside is left out: 6 edges, 3 links, components 1 cpu, 2 xpu, 1 nvlsw, 1 pciesw, 1 mgmt",
				"device switch: the inside is left out: 1 edges, 1 links, components 1 asic",
			},
		},
		"fat_tree_3.yaml": {
			tally{8, 16, 20, 48, map[int64]int{100: 16, 200: 32}, map[int64]int{100: 16, 500: 32}, "nic-0 tier_0-0", "tier_1-7 tier_2-3"},
			[]string{
				"16 descriptions are left out",
				"link tier_0_link has no latency: 100 ns is assumed",
				"link tier_1_link has no latency: 500 ns is assumed",
				"device server: the inside is left out: 6 edges, 3 links, components 1 cpu, 2 xpu, 1 nvlsw, 1 pciesw, 1 mgmt",
				"device switch: the inside is left out: 1 edges, 1 links, components 1 asic",
				"link tier_2_link is of no edge and is left out",
			},
		},
		"dgx_cx5.yaml": {
			tally{2, 16, 1, 16, map[int64]int{100: 16}, map[int64]int{300: 16}, "cx5_100gbe-port-0 sw-0", "cx5_100gbe-port-15 sw-0"},
			[]string{
				"21 descriptions are left out",
				"component 'cx5_100gbe.port' is named cx5_100gbe-port",
				"device cx5_100gbe: the inside is left out: 2 edges, 3 links, components 1 pcie_endpoint, 1 asic",
				"device dgx_a100: the inside is left out: 17 edges, 3 links, components 2 cpu, 8 xpu, 6 nvsw, 5 pciesw, 8 pciesl",
				"device switch: the inside is left out: 1 edges, 1 links, components 1 asic",
			},
		},
	} {
		content, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		d, notes, err := infragraph.Read(content)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		f, err := d.Fabric()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.tally, tallied(f)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(want.notes, notes); diff != "" {
			t.Errorf("%s, notes (-want +got):\n%s", name, diff)
		}
		comesBack(t, name, d)
	}
}

// small is two servers with one NIC each below two leaves, and a spine.
const small = `
name: small
devices:
- name: server
  components:
  - {name: nic, count: 2, choice: nic}
  links: []
  edges: []
- name: switch
  components:
  - {name: port, count: 8, choice: port}
  links: []
  edges: []
links:
- {name: eth, physical: {bandwidth: {choice: gigabits_per_second, gigabits_per_second: 100}, latency: {choice: us, us: 0.2}}}
instances:
- {name: host, device: server, count: 2}
- {name: leaf, device: switch, count: 2}
- {name: spine, device: switch, count: 2}
edges:
- {ep1: {instance: host, component: "nic[0]"}, ep2: {instance: leaf, component: "port[0]"}, scheme: one2one, link: eth}
- {ep1: {instance: "leaf[0]", component: "port[1:3]"}, ep2: {instance: spine, component: "port[0]"}, scheme: one2one, link: eth}
- {ep1: {instance: spine, component: "port[1:2:2]"}, ep2: {instance: "leaf[1]", component: "port[1:]"}, scheme: one2one, link: eth}
`

// others are further links for the small document: a slow one, and one without a latency.
const others = `links:
- {name: slow, physical: {bandwidth: {choice: gigabits_per_second, gigabits_per_second: 50}, latency: {choice: us, us: 0.2}}}
- {name: x, physical: {bandwidth: {choice: gigabits_per_second, gigabits_per_second: 100}}}
`

// TestDocumentsAreRefused: an error names what is wrong or what netsim does not have. Each case
// replaces a part of the small document, which is read as it is.
func TestDocumentsAreRefused(t *testing.T) {
	t.Parallel()
	if d, notes, err := infragraph.Read([]byte(small)); err != nil || len(notes) > 0 || d.Topology.Name != "small" {
		t.Fatalf("the small document: %v, notes %q", err, notes)
	}
	more := func(edge string) [2]string {
		return [2]string{"edges:\n- {ep1: {instance: host", "edges:\n- {" + edge + "}\n- {ep1: {instance: host"}
	}
	for name, c := range map[string]struct {
		replace [2]string
		want    string
	}{
		"no YAML":               {[2]string{"name: small", "name: {"}, "line"},
		"an alias":              {[2]string{"links: []", "links: &a []\n  x: *a"}, "line 8: aliases are not read"},
		"a member twice":        {[2]string{"name: small", "name: small\nname: other"}, "'name' is there twice"},
		"two documents":         {[2]string{"name: small", "name: small\n---\na: 1"}, "there is a second document"},
		"a number as a name":    {[2]string{"name: small", "name: 7"}, "$.name: is a number, not a string"},
		"no list":               {[2]string{"instances:", "instances: {}\nx:"}, "$.instances: is an object, not a list"},
		"the form before 2.0":   {[2]string{"name: small", "connections: [host.0.nic.0.eth.leaf.0.port.0]"}, "$.connections: belongs to InfraGraph before 2.0"},
		"a count below zero":    {[2]string{"device: server, count: 2", "device: server, count: -2"}, "$.instances[0].count: must be an integer from 0 to 262144"},
		"too many instances":    {[2]string{"device: server, count: 2", "device: server, count: 262144"}, "there are more than 262144 instances"},
		"an unknown device":     {[2]string{"device: server", "device: mainframe"}, "instances[0].device: there is no device 'mainframe'"},
		"an unknown choice":     {[2]string{"choice: port", "choice: plug"}, "$.devices[1].components[0].choice: 'plug' must be custom or one of [cpu xpu nic"},
		"a device in itself":    {[2]string{"- {name: nic, count: 2, choice: nic}", "- {name: nic, count: 2, choice: nic}\n  - {name: server, count: 1, choice: device}"}, "device 'server' holds itself"},
		"two of a name":         {[2]string{"name: leaf", "name: host"}, "instances: the name 'host' is there twice"},
		"an unknown instance":   {[2]string{"instance: host", "instance: hosts"}, "edges[0].ep1.instance: there is no instance 'hosts'"},
		"an unknown component":  {[2]string{`"nic[0]"`, `"nics[0]"`}, "edges[0].ep1.component: device 'server' has no component 'nics'"},
		"inside a component":    {[2]string{`"nic[0]"`, `"nic[0].port"`}, "edges[0].ep1.component: 'nic' is not a device, so it has no 'port'"},
		"an index too high":     {[2]string{`"nic[0]"`, `"nic[2]"`}, "edges[0].ep1.component: 'nic[2]' is out of range: there are 2"},
		"a negative slice":      {[2]string{`"nic[0]"`, `"nic[-1:]"`}, "edges[0].ep1.component: 'nic[-1:]' must be a name, or a name with an index or a slice"},
		"an unknown link":       {[2]string{"link: eth", "link: fibre"}, "edges[0].link: there is no link 'fibre'"},
		"a ring":                {[2]string{"scheme: one2one", "scheme: ring"}, "edges[0].scheme: 'ring' is not read; only one2one and many2many are"},
		"no scheme":             {[2]string{"scheme: one2one, ", ""}, "$.edges[0].scheme: is missing"},
		"transfers":             {[2]string{"{choice: gigabits_per_second, gigabits_per_second: 100}", "{choice: gigatransfers_per_second, gigatransfers_per_second: 8}"}, "link 'eth' has a bandwidth in gigatransfers_per_second, which is no rate"},
		"no number":             {[2]string{"gigabits_per_second: 100", "gigabytes_per_second: 100"}, "$.links[2].physical.bandwidth: has the choice 'gigabits_per_second' and no such number"},
		"two numbers":           {[2]string{"gigabits_per_second: 100", "gigabits_per_second: 100, gigabytes_per_second: 1"}, "$.links[2].physical.bandwidth: has 2 numbers"},
		"too fast":              {[2]string{"gigabits_per_second: 100", "gigabits_per_second: 10001"}, "netsim has rates from 1 Mbit/s to 10 Tbit/s"},
		"infinitely fast":       {[2]string{"gigabits_per_second: 100", "gigabits_per_second: .inf"}, "must be a number from 0 to 1e12"},
		"too long":              {[2]string{"us: 0.2", "us: 1000001"}, "netsim has delays up to 1 s"},
		"servers back to back":  {more(`ep1: {instance: "host[0]", component: "nic[1]"}, ep2: {instance: "host[1]", component: "nic[1]"}, scheme: one2one, link: eth`), "host[0].nic[1] and host[1].nic[1] are joined without a switch"},
		"leaves side by side":   {more(`ep1: {instance: "leaf[0]", component: "port[7]"}, ep2: {instance: "leaf[1]", component: "port[7]"}, scheme: one2one, link: eth`), "leaf[0].port[7] and leaf[1].port[7] are switches of one tier, 1"},
		"a port twice":          {more(`ep1: {instance: "leaf[0]", component: "port[1]"}, ep2: {instance: "spine[0]", component: "port[7]"}, scheme: one2one, link: eth`), "leaf[0].port[1] has two links"},
		"a switch for each NIC": {more(`ep1: {instance: "host[0]", component: "nic[1]"}, ep2: {instance: "leaf[1]", component: "port[7]"}, scheme: one2one, link: eth`), "has no link to leaf[1], with which leaf[0] shares servers"},
		"one NIC twice":         {more(`ep1: {instance: "host[0]", component: "nic[0]"}, ep2: {instance: "leaf[0]", component: "port[7]"}, scheme: one2one, link: eth`), "host[0].nic[0] has two links to leaf[0]"},
		"uneven up-links":       {[2]string{"scheme: one2one, link: eth}\n- {ep1: {instance: spine", "scheme: one2one, link: eth}\n- {ep1: {instance: \"leaf[0]\", component: \"port[6:8]\"}, ep2: {instance: \"spine[1]\", component: \"port[6:8]\"}, scheme: one2one, link: eth}\n- {ep1: {instance: spine"}, "leaf[0] has 1 links to spine[0]; netsim deals the links of a switch to the next tier in turn, and would make 2"},
		"uneven latencies": {[2]string{`instance: spine, component: "port[0]"}, scheme: one2one, link: eth}`, `instance: "spine[0]", component: "port[0]"}, scheme: one2one, link: eth}
- {ep1: {instance: "leaf[0]", component: "port[2]"}, ep2: {instance: "spine[1]", component: "port[0]"}, scheme: one2one, link: x}`},
			"leaf[0].port[1] and leaf[0].port[2] have links with different latencies, 200000 and 500000 ps"},
		"uneven rates": {[2]string{small[strings.Index(small, "- {ep1: {instance: \"leaf[0]"):], `
- {ep1: {instance: "leaf[0]", component: "port[1]"}, ep2: {instance: "spine[0]", component: "port[0]"}, scheme: one2one, link: eth}
- {ep1: {instance: "leaf[0]", component: "port[2]"}, ep2: {instance: "spine[1]", component: "port[0]"}, scheme: one2one, link: slow}
- {ep1: {instance: "leaf[1]", component: "port[1]"}, ep2: {instance: "spine[0]", component: "port[1]"}, scheme: one2one, link: slow}
- {ep1: {instance: "leaf[1]", component: "port[2]"}, ep2: {instance: "spine[1]", component: "port[1]"}, scheme: one2one, link: eth}
`}, "the links of leaf[0] to spine[1] have 50 Gbit/s; in netsim the ports of a switch in one direction have one rate, and these links would have 100"},
		"no edges": {[2]string{small[strings.Index(small, "edges:\n- {ep1"):], "edges: []\n"}, "no edge joins a server with a switch"},
		"four tiers": {[2]string{"- {name: spine, device: switch, count: 2}\nedges:", `- {name: spine, device: switch, count: 2}
- {name: a, device: switch, count: 1}
- {name: b, device: switch, count: 1}
edges:
- {ep1: {instance: spine, component: "port[7]"}, ep2: {instance: a, component: port}, scheme: one2one, link: eth}
- {ep1: {instance: a, component: "port[7]"}, ep2: {instance: b, component: port}, scheme: one2one, link: eth}`}, "a[0].port[7] and b[0].port[0] is more than three links away"},
		"one name in netsim": {[2]string{"- {name: spine,", "- {name: host(a), device: switch, count: 0}\n- {name: host-a-, device: switch, count: 0}\n- {name: spine,"}, "the instances 'host(a)' and 'host-a-' would both be named host-a- in netsim"},
		"too deep":           {[2]string{"name: small", "name: small\nx: " + strings.Repeat("[", 40) + strings.Repeat("]", 40)}, "nested deeper than 32"},
		"too long a text":    {[2]string{"name: small", "name: small\nx: " + strings.Repeat("x", infragraph.MaxYAML)}, "at most 4194304 of YAML are read"},
	} {
		changed := strings.Replace(small, c.replace[0], c.replace[1], 1)
		changed = strings.Replace(changed, "\nlinks:\n", "\n"+others, 1)
		_, notes, err := infragraph.Read([]byte(changed))
		switch {
		case !strings.Contains(small, c.replace[0]):
			t.Errorf("%s: the small document has no %q", name, c.replace[0])
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got %v and the notes %q, want an error with %q", name, err, notes, c.want)
		}
	}
}

// TestNothingIsDroppedSilently: each part that is not read has a note.
func TestNothingIsDroppedSilently(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, replaced, want string }{
		{"name: small", "name: my small one", "the infrastructure 'my small one' is named my-small-one"},
		{"name: small", "name: small\nowner: me", "$.owner is not read"},
		{"name: small", "name: small\ndescription: of two", "1 descriptions are left out"},
		{"{name: eth, physical", "{colour: red, name: eth, physical", "$.links[0].colour is not read"},
		{"choice: nic}", "choice: nic}\n  - {name: gpu, count: 4, choice: xpu}", "device server: the inside is left out: 0 edges, 0 links, components 4 gpu"},
		{"- {name: spine,", "- {name: idle, device: server, count: 3}\n- {name: spine,", "instance idle: 3 of 3 without an edge are left out"},
		{"- name: switch", "- name: cable\n  components: []\n  links: []\n  edges: []\n- name: switch", "device cable is in no instance and is left out"},
		{"links: []", "links: [{name: pcie}]", "device server: the inside is left out: 0 edges, 1 links"},
		{"latency: {choice: us, us: 0.2}", "latency: null", "link eth has no latency: 100 ns is assumed"},
		{"{name: eth, physical: {bandwidth: {choice: gigabits_per_second, gigabits_per_second: 100}, latency: {choice: us, us: 0.2}}}", "{name: eth}", "link eth has no bandwidth: 400 Gbit/s is assumed and no latency: 500 ns is assumed"},
		{"name: spine, device", "name: spine, color: blue, device", "$.instances[2].color is not read"},
	} {
		changed := strings.Replace(small, c.old, c.replaced, 1)
		_, notes, err := infragraph.Read([]byte(changed))
		if err != nil || !slices.Contains(notes, c.want) {
			t.Errorf("with %q: got %v and the notes %q, want %q", c.replaced, err, notes, c.want)
		}
	}
}
