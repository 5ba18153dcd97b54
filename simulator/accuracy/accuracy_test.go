package accuracy_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"netsim/simulator/accuracy"
	"netsim/simulator/catalogue"
	"netsim/simulator/collective"
	"netsim/simulator/document"
)

// fabric describes a configuration of the catalogue's models: leaf switches with hosts,
// and spines in a pod. The parameters are those of the compared cases.
type fabric struct {
	leaves, hosts, spines int
	balancing             string
	change                func(*document.Document)
}

func (f fabric) document(t *testing.T) *document.Document {
	t.Helper()
	d := &document.Document{GlobalParameters: document.Params{}, Topology: document.Topology{Type: "clos", TopologyTiers: 2}}
	catalogue.Fill(d.GlobalParameters, catalogue.Globals())
	set(t, d.GlobalParameters, `{"SimulationParameters":{"Mtu":{"value":9216,"type":"bytes","unit":"B"}}}`)
	entry := func(model string) catalogue.Entry {
		e, known := catalogue.Find(model)
		if !known {
			t.Fatalf("no model %s", model)
		}
		return e
	}
	component := func(model, name, values string, refs ...document.Ref) {
		e := entry(model)
		c := e.Component(name, e.Latest())
		c.Components = refs
		set(t, c.TypedParameters, values)
		d.Components = append(d.Components, c)
	}
	container := func(model, name string, refs ...document.Ref) {
		e := entry(model)
		c := e.Container(name, e.Latest())
		c.Components = refs
		d.Containers = append(d.Containers, c)
	}
	switches := fmt.Sprintf(`{"NumUpLinks":{"value":%d,"type":"uint"},"LoadBalancingMethod":{"value":"%s","type":"string"}}`, f.spines, f.balancing)
	const nic = `{"NetworkInterface":{"TransmissionMedium":{"Delay":{"value":500,"type":"timeval","unit":"ns"}}},"Transport":{"HeaderSize":{"value":64,"type":"bytes","unit":"B"}}}`
	component("clos-switch-v1", "leaf", switches)
	component("clos-switch-v1", "spine", switches)
	component("trimming-nic-v1", "nic", nic)
	component("gpu-server-v1", "server", `{}`, document.Ref{Type: document.TypeNIC, Name: "nic", Count: 1})
	container("leaf-rack-v1", "rack", document.Ref{Type: document.TypeSwitch, Name: "leaf", Count: 1}, document.Ref{Type: document.TypeServer, Name: "server", Count: f.hosts})
	container("pod-v1", "pod", document.Ref{Type: document.TypeSwitch, Name: "spine", Count: f.spines}, document.Ref{Type: document.TypeRack, Name: "rack", Count: f.leaves})
	d.Topology.Components = []document.Ref{{Type: document.TypePod, Name: "pod", Count: 1}}
	app := entry("chakra-workload-v1")
	d.Applications = []document.Application{app.Application("workload", app.Latest())}
	if f.change != nil {
		f.change(d)
	}
	return d
}

func set(t *testing.T, p document.Params, values string) {
	t.Helper()
	patch, err := document.ParseParams(values)
	if err != nil {
		t.Fatal(err)
	}
	p.Overlay(patch)
}

// component returns a component of a document by its name.
func component(d *document.Document, name string) *document.Component {
	return &d.Components[slices.IndexFunc(d.Components, func(c document.Component) bool { return c.Name == name })]
}

var (
	sequential = accuracy.Collective{Operation: collective.AllToAll, Algorithm: collective.Sequential, Bytes: 1 << 20, Ranks: 16}
	ring       = accuracy.Collective{Operation: collective.AllReduce, Algorithm: collective.Ring, Bytes: 1 << 20, Ranks: 16}
	broadcast  = accuracy.Collective{Operation: collective.Broadcast, Algorithm: collective.Sequential, Bytes: 1 << 20, Ranks: 16}
)

func generated(t *testing.T) *accuracy.Table {
	t.Helper()
	table, err := accuracy.Generated()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestClasses: from the runs of one collective of 16 ranks that were compared, each change
// leads to the class and to what the client reads of it.
func TestClasses(t *testing.T) {
	t.Parallel()
	table := generated(t)
	sprayed, hashed, alone := fabric{2, 8, 4, "spray", nil}, fabric{2, 8, 8, "none", nil}, fabric{1, 16, 0, "none", nil}
	type change = func(*accuracy.Run)
	with := func(f fabric, c func(*document.Document)) fabric {
		f.change = c
		return f
	}
	parameter := func(name, values string) func(*document.Document) {
		return func(d *document.Document) { set(t, component(d, name).TypedParameters, values) }
	}
	application := func(values string) func(*document.Document) {
		return func(d *document.Document) { set(t, d.Applications[0].TypedParameters, values) }
	}
	groups := func(r *accuracy.Run) { r.Collectives[0].Ranks = 8 }
	model := func(name string) func(*document.Document) {
		return func(d *document.Document) { component(d, "nic").Model = name }
	}
	for _, c := range []struct {
		when   string
		fabric fabric
		change change
		class  accuracy.Class
		says   string // what outside has, or the basis of a run that is not compared
	}{
		{"one switch", alone, nil, accuracy.ClosedForm, ""},
		{"one switch, two groups", alone, groups, accuracy.ClosedForm, ""},
		{"one switch, one of two racks with hosts", with(alone, func(d *document.Document) {
			e, _ := catalogue.Find("leaf-rack-v1")
			empty := e.Container("empty", e.Latest())
			empty.Components = []document.Ref{{Type: document.TypeSwitch, Name: "leaf", Count: 1}}
			d.Containers = append(d.Containers, empty)
			d.Topology.Components = append(d.Topology.Components, document.Ref{Type: document.TypeRack, Name: "empty", Count: 1})
		}), nil, accuracy.ClosedForm, ""},
		{"one switch, idle servers", alone, func(r *accuracy.Run) { r.Ranks, r.Collectives[0].Ranks = 12, 12 }, accuracy.ClosedForm, ""},
		{"one switch, broadcast", alone, func(r *accuracy.Run) { r.Collectives[0] = broadcast }, accuracy.ClosedForm, ""},
		{"one switch, 2 KiB", alone, func(r *accuracy.Run) { r.Collectives[0].Bytes = 2048 }, accuracy.Extrapolated, "data size: 2048 B, compared 65536 to 1073741824 B"},
		{"one switch, 512 ranks", alone, func(r *accuracy.Run) { r.Collectives[0].Ranks = 512 }, accuracy.Extrapolated, "ranks of a collective: 512, compared 8 to 256"},
		{"one switch, 1.6 Tb/s", with(alone, func(d *document.Document) {
			const rate = `{"value":1600,"type":"datarate","unit":"Gbps"}`
			parameter("nic", `{"NetworkInterface":{"UplinkNetworkInterface":{"DataRate":`+rate+`}}}`)(d)
			parameter("leaf", `{"NetworkInterface":{"DownlinkNetworkInterface":{"DataRate":`+rate+`}}}`)(d)
		}), nil, accuracy.Extrapolated, "rate of a link: 1600 Gb/s, compared 100 to 800 Gb/s"},
		{"one switch, capacity", alone, func(r *accuracy.Run) { r.Switching = true }, accuracy.Extrapolated, "the switching capacity limited messages"},
		{"one switch, messages", alone, func(r *accuracy.Run) { r.Traces, r.Collectives = true, nil }, accuracy.NotCompared, "messages outside of collectives on one switch"},

		{"sprayed", sprayed, nil, accuracy.Compared, ""},
		{"a path a flow", hashed, nil, accuracy.Compared, ""},
		{"several in turn", sprayed, func(r *accuracy.Run) { r.Count = 3 }, accuracy.Compared, ""},
		{"several not in turn", with(sprayed, application(`{"ChakraConfiguration":{"CommCollectiveSynchronization":{"value":false,"type":"bool"}}}`)),
			func(r *accuracy.Run) { r.Count = 3 }, accuracy.Extrapolated, "CommCollectiveSynchronization is off"},
		{"16:1", fabric{2, 8, 4, "spray", func(d *document.Document) {
			parameter("leaf", `{"NetworkInterface":{"UplinkNetworkInterface":{"DataRate":{"value":50,"type":"datarate","unit":"Gbps"}}}}`)(d)
		}}, nil, accuracy.Extrapolated, "oversubscription: 16:1, compared 1 to 8:1"},
		{"12 hosts", fabric{2, 12, 4, "spray", nil}, nil, accuracy.Extrapolated, "hosts at a leaf switch: 12, compared 8"},
		{"nearer hosts", with(sprayed, parameter("nic", `{"NetworkInterface":{"TransmissionMedium":{"Delay":{"value":100,"type":"timeval","unit":"ns"}}}}`)),
			nil, accuracy.Extrapolated, "delay of a link: 100 to 500 ns, compared 250 to 900 ns\nlinks of several delays: 100 to 500 ns"},
		{"slower hosts", with(sprayed, parameter("nic", `{"NetworkInterface":{"UplinkNetworkInterface":{"DataRate":{"value":200,"type":"datarate","unit":"Gbps"}}}}`)),
			nil, accuracy.Extrapolated, "links of several rates: 200 to 400 Gb/s"},
		{"payload", with(hashed, parameter("nic", `{"Transport":{"MSS":{"value":128,"type":"bytes","unit":"B"}}}`)),
			nil, accuracy.Extrapolated, "payload of a packet: 128 B, compared 256 to 4096 B"},
		{"header", with(sprayed, parameter("nic", `{"Transport":{"HeaderSize":{"value":58,"type":"bytes","unit":"B"}}}`)),
			nil, accuracy.Extrapolated, "header of a packet: 58 B, compared 64 B"},
		{"links", with(sprayed, parameter("leaf", `{"NumUpLinks":{"value":8,"type":"uint"}}`)),
			nil, accuracy.Extrapolated, "leaf switches with 8 links to 4 switches, compared one to each"},
		{"no salt", with(hashed, parameter("leaf", `{"EcmpHashMethod":{"value":"crc32","type":"string"}}`)), nil, accuracy.Extrapolated, "without salt"},
		{"several NICs", with(sprayed, func(d *document.Document) { component(d, "server").Components[0].Count = 2 }), nil, accuracy.Extrapolated, "several NICs"},
		{"three tiers", with(sprayed, func(d *document.Document) {
			d.Topology.Components = []document.Ref{{Type: document.TypeSwitch, Name: "spine", Count: 4}, {Type: document.TypePod, Name: "pod", Count: 2}}
		}), nil, accuracy.Extrapolated, "three tiers of switches, compared two"},
		{"groups", sprayed, groups, accuracy.Extrapolated, "several groups of ranks at once"},
		{"idle servers", sprayed, func(r *accuracy.Run) { r.Ranks, r.Collectives[0].Ranks = 15, 15 }, accuracy.Extrapolated, "servers without a rank"},
		{"traces", sprayed, func(r *accuracy.Run) { r.Traces = true }, accuracy.Extrapolated, "traces, whose computations"},
		{"messages of traces", sprayed, func(r *accuracy.Run) { r.Traces, r.Collectives = true, nil }, accuracy.Extrapolated, "traces, whose computations"},
		{"mapping file", sprayed, func(r *accuracy.Run) { r.Mapped = true }, accuracy.Extrapolated, "ranks placed by a mapping file"},
		{"unlisted", sprayed, func(r *accuracy.Run) { r.Unlisted = true }, accuracy.Extrapolated, "more kinds of collectives"},
		{"another engine", sprayed, func(r *accuracy.Run) { r.Engine = "1.0.0" }, accuracy.Extrapolated, "engine 1.0.0, compared " + table.Engine},

		{"broadcast", sprayed, func(r *accuracy.Run) { r.Collectives[0] = broadcast }, accuracy.NotCompared, "broadcast sequential on leaf-spine, trimming, sprayed"},
		{"broadcast too", sprayed, func(r *accuracy.Run) { r.Collectives = append(r.Collectives, broadcast) }, accuracy.NotCompared, "broadcast sequential on leaf-spine, trimming, sprayed"},
		{"flowlets", fabric{2, 8, 4, "flowlet", nil}, nil, accuracy.NotCompared, "flowlets"},
		{"mixed", with(sprayed, func(d *document.Document) {
			parameter("spine", `{"LoadBalancingMethod":{"value":"none","type":"string"}}`)(d)
			parameter("leaf", `{"NumUpLinks":{"value":8,"type":"uint"}}`)(d)
		}), nil, accuracy.NotCompared, "some switches spray"},
		{"spines without a choice", with(sprayed, parameter("spine", `{"LoadBalancingMethod":{"value":"none","type":"string"}}`)), nil, accuracy.Compared, ""},
		{"lossless", with(hashed, model("roce-nic-v1")), nil, accuracy.Compared, ""},
		{"lossless, one switch", with(alone, model("roce-nic-v1")), nil, accuracy.ClosedForm, ""},
		{"lossless, sprayed", with(sprayed, model("roce-nic-v1")), nil, accuracy.NotCompared, "switches spray the packets of lossless NICs"},
		{"ideal", with(hashed, model("ideal-nic-v1")), nil, accuracy.NotCompared, "without queues"},
		{"two leaves a rack", with(sprayed, func(d *document.Document) { d.Containers[0].Components[0].Count = 2 }), nil, accuracy.NotCompared, "racks with several switches"},
		{"cut off", sprayed, func(r *accuracy.Run) { r.Ended = false }, accuracy.NotCompared, "cut off"},
		{"scale-up", alone, func(r *accuracy.Run) { r.ScaleUp = true }, accuracy.NotCompared, "scale-up groups"},
		{"traffic", with(alone, func(d *document.Document) {
			e, _ := catalogue.Find("traffic-generator-v1")
			d.Applications = []document.Application{e.Application("web", e.Latest())}
		}), nil, accuracy.NotCompared, "messages at random instants"},
	} {
		t.Run(c.when, func(t *testing.T) {
			t.Parallel()
			run := accuracy.Run{Document: c.fabric.document(t), Collectives: []accuracy.Collective{sequential}, Count: 1, Ranks: 16, Engine: table.Engine, Ended: true}
			if c.change != nil {
				c.change(&run)
			}
			got, err := table.Of(&run)
			if err != nil {
				t.Fatal(err)
			}
			if got.Class != c.class || (got.Rows == 0) != (c.class == accuracy.NotCompared) {
				t.Errorf("got %+v, want %s", got, c.class)
			}
			said := strings.Join(got.Outside, "\n")
			if c.class == accuracy.NotCompared {
				said = got.Basis
			}
			if !strings.Contains(said, c.says) || (c.class == accuracy.Extrapolated) != (len(got.Outside) > 0) {
				t.Errorf("got %q of %+v, want %q", said, got, c.says)
			}
			if !strings.HasSuffix(got.Basis, "No case is a measurement on hardware.") {
				t.Errorf("the basis %q does not say what the references are", got.Basis)
			}
		})
	}
}

// TestOneOutside: of these changes, nothing else is beyond the compared cases.
func TestOneOutside(t *testing.T) {
	t.Parallel()
	table := generated(t)
	run := accuracy.Run{
		Document: fabric{2, 8, 4, "spray", nil}.document(t), Collectives: []accuracy.Collective{sequential, sequential, ring},
		Count: 3, Ranks: 16, Engine: table.Engine, Ended: true, Mapped: true,
	}
	run.Collectives[0].Bytes, run.Collectives[1].Bytes = 1, 1
	got, err := table.Of(&run)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"data size: 1 B, compared 1024 to 16777216 B", "ranks placed by a mapping file"}
	if !slices.Equal(got.Outside, want) {
		t.Errorf("got %q, want %q", got.Outside, want)
	}
}

// TestBandOfSeveral: the band of several kinds of collectives holds the band of each, and
// the cases of a kind count once.
func TestBandOfSeveral(t *testing.T) {
	t.Parallel()
	table := generated(t)
	of := func(kinds ...accuracy.Collective) accuracy.Accuracy {
		got, err := table.Of(&accuracy.Run{
			Document: fabric{2, 8, 4, "spray", nil}.document(t), Collectives: kinds, Count: 1, Ranks: 16, Engine: table.Engine, Ended: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	larger := ring
	larger.Bytes *= 2
	one, other := of(ring), of(sequential)
	if one.Lowest == other.Lowest || one.Highest == other.Highest {
		t.Fatalf("the bands of %+v and %+v do not differ", one, other)
	}
	for _, both := range []accuracy.Accuracy{of(ring, larger, sequential), of(sequential, larger, ring)} {
		if both.Lowest != min(one.Lowest, other.Lowest) || both.Highest != max(one.Highest, other.Highest) || both.Rows != one.Rows+other.Rows {
			t.Errorf("got %+v, want the bands and cases of %+v and %+v", both, one, other)
		}
	}
}

// TestBandsAreSound: every band has cases, references and a range that is not reversed.
func TestBandsAreSound(t *testing.T) {
	t.Parallel()
	table := generated(t)
	seen := map[string]bool{}
	for i := range table.Bands {
		b := &table.Bands[i]
		key := b.Network + b.Operation + b.Algorithm
		text, err := json.Marshal(b.Ranges)
		if err != nil {
			t.Fatal(err)
		}
		if b.Rows == 0 || len(b.References) == 0 || b.Lowest > b.Highest || b.Ranks.Least > b.Ranks.Most || b.Ranks.Least < 2 || b.MSS.Least < 1 || seen[key] {
			t.Errorf("the band %+v with %s is not sound", b, text)
		}
		seen[key] = true
	}
	if len(seen) < 20 {
		t.Errorf("%d bands, want 20 at least", len(seen))
	}
}
