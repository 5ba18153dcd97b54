package infragraph

import (
	"fmt"
	"slices"

	"netsim/simulator/catalogue"
	"netsim/simulator/document"
	"netsim/simulator/topology"
)

// shown lists the parameters of switches and NICs that the links of an InfraGraph document
// show.
func shown(path string) bool {
	return slices.Contains([]string{
		"NumUpLinks", "NumUpLinksPerSwitch", "NumDownLinks", "NetworkInterface.UplinkNetworkInterface.DataRate",
		"NetworkInterface.DownlinkNetworkInterface.DataRate", "NetworkInterface.TransmissionMedium.Delay",
		"Wiring", "LinksPerPair",
	}, path)
}

// lost notes what a configuration has and an InfraGraph document has not. It does not note
// parameters with the default value.
func (n *notes) lost(d *document.Document, f *topology.Fabric) {
	there := map[string]bool{}
	for i := range f.Nodes {
		there[f.Nodes[i].Component] = true
	}
	capacity := ports(f)
	for _, c := range slices.Concat(d.Components, d.Links) {
		if !there[c.Name] && c.Type != document.TypeGPU && c.Type != document.TypeLayer {
			n.add("%s %s is in no part of the topology and is left out", c.Type, c.Name)
			continue
		}
		if c.Type == document.TypeGPU {
			n.add("gpu %s is an xpu; read back, servers have no GPUs", c.Name)
		}
		entry, known := catalogue.Find(c.Model)
		if !known {
			n.add("%s %s: the model %s is left out", c.Type, c.Name, c.Model)
		}
		for _, p := range entry.Parameters {
			if p.Path == "SwitchingCapacity" {
				if value := leaf(c.TypedParameters, p.Path); value != nil && base(*value) < float64(capacity[c.Name]) {
					n.add("%s %s: SwitchingCapacity %v %s, less than its ports, is left out", c.Type, c.Name, value.Value, value.Unit)
				}
				continue
			}
			n.changed(fmt.Sprintf("%s %s", c.Type, c.Name), c.TypedParameters, p)
		}
	}
	for _, c := range d.Containers {
		if c.Configuration != nil {
			n.add("%s %s: the configuration is left out", c.Type, c.Name)
		}
	}
	if len(d.Containers) > 0 {
		n.add("the names of %d racks and pods are left out; Read finds the racks and pods from the links", len(d.Containers))
	}
	for _, a := range d.Applications {
		n.add("application %s is left out", a.Name)
	}
	if a := d.Topology.AppDistribution; a != nil {
		n.add("the distribution of applications over servers is left out")
	}
	for _, p := range catalogue.Globals() {
		n.changed("global parameters", d.GlobalParameters, p)
	}
}

// changed notes a parameter that has not its default value.
func (n *notes) changed(of string, params document.Params, p catalogue.Parameter) {
	value := leaf(params, p.Path)
	if value == nil || shown(p.Path) || value.Value == p.Default.Value && value.Unit == p.Default.Unit {
		return
	}
	if a, number := value.Value.(float64); number && a == a && base(*value) == base(p.Default) {
		return // the default in another unit
	}
	n.add("%s: %s %v%s is left out", of, p.Path, value.Value, value.Unit)
}

func leaf(p document.Params, path string) *document.Leaf {
	node, _ := p.Find(path)
	return node.Leaf
}

// base returns a number in the base unit of its type.
func base(l document.Leaf) float64 {
	number, _ := l.Value.(float64)
	factor, _ := document.Unit(l.Type, l.Unit)
	return number * factor
}

// ports returns for each component of switches the highest sum of the rates of one's links.
func ports(f *topology.Fabric) map[string]int64 {
	sums := make([]int64, len(f.Nodes))
	for _, l := range f.Links {
		sums[l.Lower] += l.Rate
		sums[l.Upper] += l.Rate
	}
	highest := map[string]int64{}
	for i, sum := range sums {
		highest[f.Nodes[i].Component] = max(highest[f.Nodes[i].Component], sum)
	}
	return highest
}

// differences notes the first difference between a fabric and what Read makes of it.
func (n *notes) differences(f, again *topology.Fabric) {
	if len(f.Nodes) != len(again.Nodes) || len(f.Links) != len(again.Links) {
		n.add("read back, the fabric has %d nodes and %d links instead of %d and %d", len(again.Nodes), len(again.Links), len(f.Nodes), len(f.Links))
		return
	}
	for i := range f.Nodes {
		if a, b := f.Nodes[i], again.Nodes[i]; a.Name() != b.Name() || a.Type != b.Type {
			n.add("read back, the nodes have another order or other names: %s is where %s was", b.Name(), a.Name())
			return
		}
	}
	for i := range f.Nodes {
		if a, b := f.Nodes[i], again.Nodes[i]; a.Tier != b.Tier {
			n.add("read back, %s is in tier %d instead of %d: racks directly below the spine are read as racks of a pod", b.Name(), b.Tier, a.Tier)
			break
		}
	}
	for i := range f.Hosts {
		if a, b := f.Hosts[i].Rack, again.Hosts[i].Rack; a != b {
			n.add("read back, %s is in rack %d instead of %d: racks without servers have one switch each", f.Nodes[f.Hosts[i].Server].Name(), b, a)
			break
		}
	}
	bundles := map[int32]int32{}
	for i := range f.Links {
		a, b := f.Links[i], again.Links[i]
		if other, there := bundles[a.Bundle]; there && other != b.Bundle || !there && len(f.Bundles[a.Bundle].Links) != len(again.Bundles[b.Bundle].Links) {
			n.add("read back, the links of %s are those of another pod or rack", f.Nodes[a.Lower].Name())
			return
		}
		bundles[a.Bundle] = b.Bundle
	}
	for i := range f.Links {
		a, b := f.Links[i], again.Links[i]
		if a.Bundle, b.Bundle = 0, 0; a != b {
			n.add("read back, link %d joins port %d of %s and port %d of %s instead of port %d of %s and port %d of %s, or has another rate or delay", i,
				b.LowerPort, again.Nodes[b.Lower].Name(), b.UpperPort, again.Nodes[b.Upper].Name(), a.LowerPort, f.Nodes[a.Lower].Name(), a.UpperPort, f.Nodes[a.Upper].Name())
			return
		}
	}
}
