package reference

import (
	"fmt"

	"netsim/simulator/catalogue"
	"netsim/simulator/document"
)

// Network is a leaf-spine fabric, or one rack without a spine. All links are equal.
type Network struct {
	Racks, Hosts int   // Hosts is the number in each rack
	Spines       int   // each leaf has one link to each spine; 0 with one rack
	Rate, Delay  int64 // rate of a link in bit/s, and its delay in ps
	MSS, Header  int64 // bytes
	Spray        bool
	Trimming     bool // the NICs' transport; without it they are lossless
	Seed         uint64
}

// hosts returns the number of hosts in all racks.
func (n *Network) hosts() int { return n.Racks * n.Hosts }

// Document returns the configuration of the network, built from the catalogue's models.
func (n *Network) Document() (*document.Document, error) {
	d := &document.Document{GlobalParameters: document.Params{}, Topology: document.Topology{Type: "clos", TopologyTiers: 1}}
	catalogue.Fill(d.GlobalParameters, catalogue.Globals())
	balancing := "none"
	if n.Spray {
		balancing = "spray"
	}
	port := func(side string) string {
		return fmt.Sprintf(`"%slinkNetworkInterface":{"DataRate":{"value":%d,"type":"datarate","unit":"bps"}}`, side, n.Rate)
	}
	medium := fmt.Sprintf(`"TransmissionMedium":{"Delay":{"value":%d,"type":"timeval","unit":"ps"}}`, n.Delay)
	switches := func(uplinks int) string {
		return fmt.Sprintf(`{"NumUpLinks":{"value":%d,"type":"uint"},"SwitchingCapacity":{"value":0,"type":"datarate","unit":"bps"},`+
			`"LoadBalancingMethod":{"value":"%s","type":"string"},"NetworkInterface":{%s,%s,%s}}`,
			uplinks, balancing, port("Up"), port("Down"), medium)
	}
	b := builder{doc: d}
	b.component("clos-switch-v1", "leaf", switches(n.Spines))
	nic := "roce-nic-v1"
	if n.Trimming {
		nic = "trimming-nic-v1"
	}
	b.component(nic, "nic", fmt.Sprintf(`{"NetworkInterface":{%s,%s},"Transport":{"MSS":{"value":%d,"type":"bytes","unit":"B"},`+
		`"HeaderSize":{"value":%d,"type":"bytes","unit":"B"}}}`, port("Up"), medium, n.MSS, n.Header))
	b.component("gpu-server-v1", "server", `{}`, ref(document.TypeNIC, "nic", 1))
	b.container("leaf-rack-v1", "rack", ref(document.TypeSwitch, "leaf", 1), ref(document.TypeServer, "server", n.Hosts))
	d.Topology.Components = []document.Ref{ref(document.TypeRack, "rack", n.Racks)}
	if n.Spines > 0 {
		b.component("clos-switch-v1", "spine", switches(0))
		b.container("pod-v1", "fabric", ref(document.TypeSwitch, "spine", n.Spines), ref(document.TypeRack, "rack", n.Racks))
		d.Topology.TopologyTiers, d.Topology.Components = 2, []document.Ref{ref(document.TypePod, "fabric", 1)}
	}
	model := b.find("chakra-workload-v1")
	d.Applications = []document.Application{model.Application("workload", model.Latest())}
	b.set(d.GlobalParameters, fmt.Sprintf(`{"SimulationParameters":{"RandomSeed":{"value":%d,"type":"uint"},"Mtu":{"value":%d,"type":"bytes","unit":"B"}}}`,
		n.Seed, n.MSS+n.Header))
	return d, b.err
}

func ref(kind, name string, count int) document.Ref {
	return document.Ref{Type: kind, Name: name, Count: count}
}

// builder adds components and containers of catalogue models to a document. It keeps
// the first error.
type builder struct {
	doc *document.Document
	err error
}

func (b *builder) find(model string) catalogue.Entry {
	e, known := catalogue.Find(model)
	if !known {
		b.fail(fmt.Errorf("no model %s", model))
	}
	return e
}

func (b *builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// set overrides defaults with values.
func (b *builder) set(p document.Params, values string) {
	patch, err := document.ParseParams(values)
	if err != nil {
		b.fail(err)
		return
	}
	p.Overlay(patch)
}

func (b *builder) component(model, name, values string, members ...document.Ref) {
	e := b.find(model)
	c := e.Component(name, e.Latest())
	c.Components = members
	b.set(c.TypedParameters, values)
	b.doc.Components = append(b.doc.Components, c)
}

func (b *builder) container(model, name string, members ...document.Ref) {
	e := b.find(model)
	c := e.Container(name, e.Latest())
	c.Components = members
	b.doc.Containers = append(b.doc.Containers, c)
}
