package validation

import (
	"time"

	"netsim/simulator/design"
	"netsim/simulator/topology"
)

// extent is what a part of the network unfolds to. Counts are floating-point:
// they only bound, and cannot overflow.
type extent struct{ servers, withNIC, switches, nics, links float64 }

func (e extent) plus(o extent, count int) extent {
	n := float64(count)
	return extent{
		e.servers + n*o.servers, e.withNIC + n*o.withNIC, e.switches + n*o.switches, e.nics + n*o.nics, e.links + n*o.links,
	}
}

// extentOf adds up what references unfold to. Holders that cannot hold each
// other have been refused, so that nothing holds itself.
func (c *checker) extentOf(refs []design.Ref) extent {
	var sum extent
	for _, ref := range refs {
		at := c.declared[ref.Name]
		one := extent{}
		switch ref.Type {
		case design.TypeSwitch:
			one = extent{switches: 1, links: c.uplinks(ref.Name)}
		case design.TypeNIC:
			one.nics = 1
		case design.TypeServer:
			one = c.extentOf(at.refs)
			one.servers = 1
			if one.nics > 0 {
				one.withNIC = 1
			}
		default:
			one = c.extentOf(at.refs)
		}
		sum = sum.plus(one, ref.Count)
	}
	return sum
}

// uplinks is a switch's number of links upwards, or to one upper switch.
func (c *checker) uplinks(name string) float64 {
	for i := range c.doc.Components {
		if c.doc.Components[i].Name != name {
			continue
		}
		var most float64
		for _, path := range []string{"NumUpLinks", "NumUpLinksPerSwitch"} {
			if leaf := find(c.doc.Components[i].TypedParameters, path); leaf != nil {
				n, _ := leaf.Value.(float64)
				most = max(most, n)
			}
		}
		return most
	}
	return 0
}

func (e extent) tooLarge() bool {
	return e.servers > MaxServers || e.switches > maxSwitches || e.nics > maxNICs || e.links+e.nics > maxLinks
}

// topology checks that the references make a network that can be simulated.
func (c *checker) topology() {
	if c.unsound {
		return
	}
	const path = "$.topology"
	c.tiers()
	e := c.extentOf(c.doc.Topology.Components)
	switch {
	case e.servers == 0:
		c.err("TOPOLOGY_EMPTY", "", path, "the topology has no server")
	case e.servers > MaxServers:
		c.err("CONSTRAINT_VIOLATION", "", path, "%.0f servers exceed the %d that can be simulated", e.servers, MaxServers)
	case e.tooLarge():
		c.err("CONSTRAINT_VIOLATION", "", path, "%.0f switches, %.0f nics and %.0f links exceed what can be simulated",
			e.switches, e.nics, e.links+e.nics)
	case e.withNIC < e.servers:
		c.err("DISCONNECTED", "", path, "%.0f of %.0f servers have no nic", e.servers-e.withNIC, e.servers)
	}
	if c.broken {
		return // it cannot be wired
	}
	if _, err := c.doc.Options(time.Second); err != nil {
		c.err("CONSTRAINT_VIOLATION", "", "$", "%s", err)
	}
	c.wired()
}

// tiers compares the number of tiers with what stands in the topology: one
// rack, one pod, or pods or racks below switches.
func (c *checker) tiers() {
	counts := map[string]int{}
	for _, ref := range c.doc.Topology.Components {
		counts[ref.Type] += ref.Count
	}
	racks, pods, spine := counts[design.TypeRack], counts[design.TypePod], counts[design.TypeSwitch]
	lowest, highest := 0, 0
	switch {
	case spine > 0 && pods > 0:
		lowest, highest = 3, 3
	case spine > 0 && racks > 0:
		lowest, highest = 2, 3 // racks directly below the topology's switches
	case spine == 0 && pods == 1 && racks == 0:
		lowest, highest = 2, 2
	case spine == 0 && pods == 0 && racks == 1:
		lowest, highest = 1, 1
	case spine == 0 && pods == 0 && racks == 0:
		return // TOPOLOGY_EMPTY says it
	}
	if said := c.doc.Topology.TopologyTiers; said < lowest || said > highest {
		c.err("TIER_MISMATCH", "", "$.topology.topologyTiers", "topologyTiers is %d, but the topology holds %d racks, %d pods and %d switches",
			said, racks, pods, spine)
	}
}

// wired unfolds the network and checks that all servers reach each other.
func (c *checker) wired() {
	fabric, err := c.doc.Fabric()
	if err != nil {
		c.err("DISCONNECTED", "", "$.topology", "%s", err)
		return
	}
	c.fabric = fabric
	parts := newParts(len(fabric.Nodes))
	for i := range fabric.Links {
		parts.join(fabric.Links[i].Lower, fabric.Links[i].Upper)
	}
	for _, h := range fabric.Hosts {
		for _, nic := range h.NICs {
			parts.join(h.Server, nic)
		}
	}
	first := fabric.Hosts[0].Server
	for _, h := range fabric.Hosts {
		if parts.of(h.Server) != parts.of(first) {
			c.err("DISCONNECTED", fabric.Nodes[h.Server].Component, "$.topology", "%s and %s have no path between them",
				fabric.Nodes[first].Name(), fabric.Nodes[h.Server].Name())
			return
		}
	}
	c.ports(fabric)
	c.add(Finding{Code: "PREPROCESSOR_VALIDATION_NOTE", Severity: Info, Path: "$.topology"},
		"topology derived: %d servers, %d switches, %d links, %d tiers",
		len(fabric.Hosts), fabric.Switches(), len(fabric.Links), c.doc.Topology.TopologyTiers)
}

// ports warns of switches with more links than they announce, or more rate
// than they switch; once for each component.
func (c *checker) ports(f *topology.Fabric) {
	links, rate := make([]int, len(f.Nodes)), make([]float64, len(f.Nodes))
	for i := range f.Links {
		l := &f.Links[i]
		for _, end := range []int32{l.Lower, l.Upper} {
			links[end]++
			rate[end] += float64(l.Rate)
		}
	}
	said := map[string]bool{}
	for i := range f.Switches() {
		name := f.Nodes[i].Component
		at := c.declared[name]
		up, down := c.number(name, "NumUpLinks"), c.number(name, "NumDownLinks")
		if float64(links[i]) > up+down && !said[name+" ports"] {
			said[name+" ports"] = true
			c.add(Finding{Code: "PORT_BUDGET_EXCEEDED", Severity: Warning, Component: name, Path: at.path},
				"%s has %d links, more than NumUpLinks and NumDownLinks, %.0f", f.Nodes[i].Name(), links[i], up+down)
		}
		if capacity := c.number(name, "SwitchingCapacity"); rate[i] > capacity && !said[name+" rate"] {
			said[name+" rate"] = true
			c.add(Finding{Code: "SWITCH_OVERSUBSCRIBED", Severity: Warning, Component: name, Parameter: "SwitchingCapacity", Path: at.path},
				"the ports of %s sum up to %.0f Gbps, more than the %.0f Gbps it switches", f.Nodes[i].Name(), rate[i]/1e9, capacity/1e9)
		}
	}
}

// number is a parameter of a component in its base unit.
func (c *checker) number(component, path string) float64 {
	for i := range c.doc.Components {
		if c.doc.Components[i].Name != component {
			continue
		}
		if leaf := find(c.doc.Components[i].TypedParameters, path); leaf != nil {
			n, _ := leaf.Value.(float64)
			factor, _ := base(leaf.Type, leaf.Unit)
			return n * factor
		}
	}
	return 0
}

// parts are the connected parts of a graph.
type parts struct{ parent []int32 }

func newParts(nodes int) parts {
	p := parts{make([]int32, nodes)}
	for i := range p.parent {
		p.parent[i] = int32(i)
	}
	return p
}

func (p parts) of(n int32) int32 {
	for p.parent[n] != n {
		p.parent[n] = p.parent[p.parent[n]]
		n = p.parent[n]
	}
	return n
}

func (p parts) join(a, b int32) { p.parent[p.of(a)] = p.of(b) }
