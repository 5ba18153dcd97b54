package validation

import (
	"fmt"
	"time"

	"netsim/simulator/document"
	"netsim/simulator/topology"
)

const pathTopology = "$.topology"

// topology checks that the references form a network that can be simulated.
func (c *checker) topology() {
	if c.unsound {
		return
	}
	c.tiers()
	e := c.extentOf(c.doc.Topology.Components)
	if e.servers == 0 {
		c.err("TOPOLOGY_EMPTY", position{"", "", pathTopology}, "the topology has no server; reference a rack that holds some")
	}
	if what, has, most := e.tooLarge(); what != "" {
		c.err("CONSTRAINT_VIOLATION", position{"", "", pathTopology},
			"the topology comes to %.0f %s, and %d can be simulated; lower the counts", has, what, most)
	}
	c.cut()
	if c.broken {
		return // it cannot be wired
	}
	if _, err := c.doc.Options(time.Second); err != nil {
		c.err("CONSTRAINT_VIOLATION", position{"", "", "$"}, "the engine cannot take the document: %s", err)
	}
	c.wire()
}

// tiers compares topologyTiers with the content of the topology: one rack has 1 tier,
// one pod has 2, and pods below switches have 3. Racks directly below the topology's
// switches have two tiers, RSW and SSW; for them the document may say 2 or 3.
func (c *checker) tiers() {
	var racks, pods, spine float64
	for i := range c.doc.Topology.Components {
		ref := &c.doc.Topology.Components[i]
		count := float64(max(ref.Count, 1))
		switch ref.Type {
		case document.TypeRack:
			racks += count
		case document.TypePod:
			pods += count
		case document.TypeSwitch:
			spine += count
		}
	}
	holds := fmt.Sprintf("%.0f racks, %.0f pods and %.0f switches", racks, pods, spine)
	stated, lowest, highest := c.doc.Topology.TopologyTiers, 0, 0
	switch {
	case racks+pods == 0:
		return // TOPOLOGY_EMPTY reports it
	case spine > 0 && pods > 0:
		lowest, highest = 3, 3
	case spine > 0:
		lowest, highest = 2, 3
	case racks == 0 && pods == 1:
		lowest, highest = 2, 2
	case racks == 1 && pods == 0:
		lowest, highest = 1, 1
	default:
		c.err("TIER_MISMATCH", position{"", "", pathTopology},
			"the topology holds %s, which do not form tiers; add switches to it, or keep one rack (1 tier) or one pod (2 tiers)", holds)
		c.err("DISCONNECTED", position{"", "", pathTopology},
			"the topology holds %s, so no path joins the servers of its racks and pods; add switches to it", holds)
		return
	}
	if stated < lowest || stated > highest {
		c.err("TIER_MISMATCH", position{"", "", "$.topology.topologyTiers"},
			"topologyTiers is %d and the topology holds %s; set topologyTiers to %d or change what it holds", stated, holds, lowest)
	}
}

// cut finds the racks and pods whose members no switch connects. Without a chakra
// application it also finds servers without a NIC; with one, c.servers does.
func (c *checker) cut() {
	for _, d := range c.all {
		if !c.reached[d.name] {
			continue
		}
		e := c.unfold(d)
		at := position{d.name, "", d.path + ".components"}
		switch {
		case d.kind == document.TypeServer && e.nics == 0 && !c.chakra:
			c.err("DISCONNECTED", at, "server '%s' has no nic, so no path leads to it; add one", d.name)
		case d.kind == document.TypeRack && e.servers > 0 && e.own == 0:
			c.err("DISCONNECTED", at, "rack '%s' holds servers but no switch, so no path leads to them; add a switch", d.name)
		case d.kind == document.TypePod && e.racks > 1 && e.own == 0:
			c.err("DISCONNECTED", at, "pod '%s' holds %.0f racks but no switch, so no path joins them; add a switch", d.name, e.racks)
		}
	}
}

// wire unfolds the network and checks that all servers reach each other.
func (c *checker) wire() {
	fabric, err := c.doc.Fabric()
	if err != nil {
		c.err("CONSTRAINT_VIOLATION", position{"", "", pathTopology}, "the topology cannot be wired: %s", err)
		return
	}
	a, b, apart, err := fabric.Apart()
	switch {
	case err != nil:
		c.err("CONSTRAINT_VIOLATION", position{"", "", pathTopology}, "%s; give the switches of a tier equal numbers of links", err)
		return
	case apart:
		one, other := fabric.Nodes[fabric.Hosts[a].Server], fabric.Nodes[fabric.Hosts[b].Server]
		c.err("DISCONNECTED", position{other.Component, "", pathTopology},
			"no path joins %s and %s; raise NumUpLinks of the switches above them, so that both racks reach a common switch", one.Name(), other.Name())
		return
	}
	c.fabric = fabric
	c.ports(fabric)
	c.info("PREPROCESSOR_VALIDATION_NOTE", position{"", "", pathTopology}, "topology derived: %d servers, %d switches, %d links, %d tiers",
		len(fabric.Hosts), fabric.Switches(), len(fabric.Links), c.doc.Topology.TopologyTiers)
}

// load is the highest load among the switches of one component.
type load struct {
	links  int     // largest number of links of a switch
	linked int     // the node that has them
	rate   float64 // largest sum of the port rates of a switch, in bit/s
	rated  int     // the node that has it
}

// ports warns about switches that have more links than they declare, or more port rate
// than switching capacity. It warns once for each component.
func (c *checker) ports(f *topology.Fabric) {
	links, rate := make([]int, len(f.Nodes)), make([]float64, len(f.Nodes))
	for i := range f.Links {
		l := &f.Links[i]
		for _, end := range []int32{l.Lower, l.Upper} {
			links[end]++
			rate[end] += float64(l.Rate)
		}
	}
	worst := map[string]*load{}
	for i := range f.Switches() {
		w := worst[f.Nodes[i].Component]
		if w == nil {
			w = new(load)
			worst[f.Nodes[i].Component] = w
		}
		if links[i] > w.links {
			w.links, w.linked = links[i], i
		}
		if rate[i] > w.rate {
			w.rate, w.rated = rate[i], i
		}
	}
	for _, d := range c.all {
		if w := worst[d.name]; w != nil {
			c.port(d, w, f)
		}
	}
}

func (c *checker) port(d *declaration, w *load, f *topology.Fabric) {
	up, down := number(d.params, "NumUpLinks"), number(d.params, "NumDownLinks")
	if float64(w.links) > up+down {
		c.warn("PORT_BUDGET_EXCEEDED", position{d.name, "", d.path + ".typedParameters"},
			"%s has %d links, more than NumUpLinks and NumDownLinks together, %.0f; raise NumDownLinks if it has the ports, or give it fewer links",
			f.Nodes[w.linked].Name(), w.links, up+down)
	}
	if capacity := number(d.params, "SwitchingCapacity"); w.rate > capacity {
		c.warn("SWITCH_OVERSUBSCRIBED", position{d.name, "SwitchingCapacity", d.path + ".typedParameters.SwitchingCapacity"},
			"the ports of %s come to %s Gbps, more than the %s Gbps that it switches; raise SwitchingCapacity, or lower the rates or the number of its links",
			f.Nodes[w.rated].Name(), decimal(w.rate/1e9), decimal(capacity/1e9))
	}
}
