package document_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"netsim/simulator/catalogue"
	"netsim/simulator/collective"
	"netsim/simulator/document"
	"netsim/simulator/engine"
	"netsim/simulator/topology"
)

// network is a Clos network of the catalogue's models with their defaults. Its
// components are rsw, fsw, ssw, server and nic; its layer is layer, and its
// application is app.
type network struct {
	pods, racks, hosts int // racks per pod, hosts per rack
	fsw, ssw           int // fsw per pod; if ssw is 0, there is one pod
	application        string
	nic                string // the model; roce-nic-v1 if empty
}

const (
	chakraModel  = "chakra-workload-v1"
	trafficModel = "traffic-generator-v1"
	switchModel  = "clos-switch-v1"
)

// change sets a parameter of a component, an application or a layer. If holder is
// empty, it sets a global parameter.
type change struct {
	holder, path string
	value        any
	unit         string
}

func (n network) document(t *testing.T, changes ...change) *document.Document {
	t.Helper()
	d := &document.Document{GlobalParameters: document.Params{}, Topology: document.Topology{Type: "clos", TopologyTiers: 2}}
	catalogue.Fill(d.GlobalParameters, catalogue.Globals())
	add := func(model, name string, refs ...document.Ref) {
		e, known := catalogue.Find(model)
		if !known {
			t.Fatalf("model %s is not in the catalogue", model)
		}
		switch e.Type {
		case document.TypeApplication:
			d.Applications = append(d.Applications, e.Application(name, e.Latest()))
		case document.TypeRack, document.TypePod:
			c := e.Container(name, e.Latest())
			c.Components = refs
			d.Containers = append(d.Containers, c)
		case document.TypeLayer:
			d.Links = append(d.Links, e.Component(name, e.Latest()))
		default:
			c := e.Component(name, e.Latest())
			c.Components = refs
			d.Components = append(d.Components, c)
		}
	}
	ref := func(kind, name string, count int) document.Ref {
		return document.Ref{Type: kind, Name: name, Count: count}
	}
	for _, name := range []string{"rsw", "fsw", "ssw"} {
		add(switchModel, name)
	}
	if n.nic == "" {
		n.nic = "roce-nic-v1"
	}
	add(n.nic, "nic")
	add("gpu-server-v1", "server", ref(document.TypeNIC, "nic", 1))
	add("leaf-rack-v1", "rack", ref(document.TypeSwitch, "rsw", 1), ref(document.TypeServer, "server", n.hosts))
	add("pod-v1", "pod", ref(document.TypeSwitch, "fsw", n.fsw), ref(document.TypeRack, "rack", n.racks))
	add("ethernet-layer-v1", "layer")
	if n.application == "" {
		n.application = chakraModel
	}
	add(n.application, "app")
	d.Topology.Components = []document.Ref{ref(document.TypePod, "pod", n.pods)}
	if n.ssw > 0 {
		d.Topology.TopologyTiers = 3
		d.Topology.Components = append(d.Topology.Components, ref(document.TypeSwitch, "ssw", n.ssw), ref(document.TypeLayer, "layer", 1))
	}
	for _, c := range changes {
		c.apply(t, d)
	}
	return d
}

// apply overwrites the value that the catalogue filled in.
func (c change) apply(t *testing.T, d *document.Document) {
	t.Helper()
	tree := d.GlobalParameters
	for i := range d.Components {
		if d.Components[i].Name == c.holder {
			tree = d.Components[i].TypedParameters
		}
	}
	for i := range d.Links {
		if d.Links[i].Name == c.holder {
			tree = d.Links[i].TypedParameters
		}
	}
	for i := range d.Applications {
		if d.Applications[i].Name == c.holder {
			tree = d.Applications[i].TypedParameters
		}
	}
	steps := strings.Split(c.path, ".")
	for _, step := range steps[:len(steps)-1] {
		tree = tree[step].Branch
	}
	old := tree[steps[len(steps)-1]].Leaf
	if old == nil && optional(c.path) {
		old = &document.Leaf{Type: "bool"}
	}
	if old == nil {
		t.Fatalf("%s has no parameter %s", c.holder, c.path)
	}
	value := c.value
	if n, ok := value.(int); ok {
		value = float64(n)
	}
	tree[steps[len(steps)-1]] = document.Param{Leaf: &document.Leaf{Value: value, Type: old.Type, Unit: c.unit}}
}

// optional reports whether documents may omit a parameter. All optional
// parameters are booleans.
func optional(path string) bool {
	model, _ := catalogue.Find("chakra-workload-v1")
	return slices.ContainsFunc(model.Parameters, func(p catalogue.Parameter) bool {
		return p.Path == path && p.Optional && p.Default.Type == "bool"
	})
}

// outcome is the result of a run and what its observer counted.
type outcome struct {
	*engine.Result
	fabric    *topology.Fabric
	bits      []int64 // by directed link
	reports   int     // calls of Observer.Links
	beacons   int
	receivers map[int32]bool // ranks
}

// simulate runs the document as the service does. A phase that names no
// algorithm uses the application's.
func simulate(t *testing.T, d *document.Document, duration time.Duration, groups ...collective.GroupSpec) outcome {
	t.Helper()
	o := outcome{receivers: map[int32]bool{}}
	var err error
	if o.fabric, err = d.Fabric(); err != nil {
		t.Fatal(err)
	}
	in := engine.Input{Fabric: o.fabric}
	if in.Options, err = d.Options(duration); err != nil {
		t.Fatal(err)
	}
	if a := d.Chakra(); a != nil {
		if in.Groups, err = a.Apply(groups); err == nil {
			in.Hosts, err = d.Place(a, o.fabric, collective.Ranks(in.Groups))
		}
	} else {
		in.Traffic, err = d.Traffic(o.fabric, in.Options.Seed)
	}
	if err != nil {
		t.Fatal(err)
	}
	o.bits = make([]int64, 2*len(o.fabric.Links))
	o.Result, err = engine.Run(t.Context(), in, engine.Observer{
		Transfer: func(tr *engine.Transfer) error {
			o.receivers[tr.To] = true
			return nil
		},
		Links: func(l *engine.Links) error {
			o.reports++
			for i, bits := range l.Bits {
				o.bits[i] += bits
			}
			return nil
		},
		Beacon: func(*engine.Progress) error {
			o.beacons++
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// used returns the number of uplinks of a tier that have carried data.
func (o *outcome) used(tier uint8) int {
	n := 0
	for i := range o.fabric.Links {
		if o.fabric.Nodes[o.fabric.Links[i].Lower].Tier == tier && o.bits[2*i] > 0 {
			n++
		}
	}
	return n
}

// message returns a group that runs a number of phases. In each of them rank 0
// sends bytes to rank 1.
func message(bytes int64, phases int) collective.GroupSpec {
	g := collective.GroupSpec{Count: 1, GroupSize: 2}
	for range phases {
		g.Phases = append(g.Phases, collective.Phase{OperationType: collective.Broadcast, Algorithm: collective.Sequential, DataSize: bytes})
	}
	return g
}

// operation returns one collective of the ranks, with the application's algorithm.
func operation(kind string, ranks int) collective.GroupSpec {
	return collective.GroupSpec{Count: 1, GroupSize: ranks, Phases: []collective.Phase{{OperationType: kind, DataSize: 1 << 20}}}
}
