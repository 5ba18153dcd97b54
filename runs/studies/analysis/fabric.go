package analysis

import (
	"cmp"
	"slices"

	"netsim/simulator/topology"
)

const bitsPerGbit = 1_000_000_000

// Fabric lists the parts of a fabric by kind.
type Fabric struct {
	Switches []Parts // the rate is the sum over the connected ports
	NICs     []Parts
	Copper   []Parts // links between NICs and switches
	Optical  []Parts // links between switches
	Servers  []Parts // the rate is the sum over the NICs
}

// Parts are equal parts.
type Parts struct {
	Rate  int64 // bit/s
	Count int64
}

// DerivedFabric returns the parts of a derived fabric.
func DerivedFabric(d *topology.Derivation) *Fabric {
	f := &Fabric{}
	speed := int64(d.Resolved.EffectiveNicSpeed) * bitsPerGbit
	for _, t := range d.Tiers {
		rate := t.DownlinksPerSwitch*t.DownlinkDataRateGbps + t.UplinksPerSwitch*t.UplinkDataRateGbps
		f.Switches = add(f.Switches, int64(rate)*bitsPerGbit, int64(t.SwitchCount))
	}
	f.NICs = add(f.NICs, speed, int64(d.TotalHosts))
	f.Copper = add(f.Copper, speed, int64(d.Links.HostToRsw))
	f.Servers = add(f.Servers, speed, int64(d.TotalHosts))
	f.Optical = add(f.Optical, int64(d.Resolved.SwitchLinkSpeed)*bitsPerGbit, int64(d.Links.RswToFsw+d.Links.FswToSsw))
	f.sort()
	return f
}

// WiredFabric returns the parts of a wired fabric. Switches of one component are equal boxes, as
// large as the one that needs most.
func WiredFabric(w *topology.Fabric) *Fabric {
	f := &Fabric{}
	connected := make([]int64, len(w.Nodes)) // bit/s of a node's links
	up := make([]int64, len(w.Nodes))
	for i := range w.Links {
		l := &w.Links[i]
		connected[l.Lower] += l.Rate
		connected[l.Upper] += l.Rate
		up[l.Lower] += l.Rate
		if w.Nodes[l.Lower].Type == topology.SwitchNode {
			f.Optical = add(f.Optical, l.Rate, 1)
		} else {
			f.Copper = add(f.Copper, l.Rate, 1)
		}
	}
	largest := map[string]int64{}
	for i := range w.Nodes {
		if n := &w.Nodes[i]; n.Type == topology.SwitchNode {
			largest[n.Component] = max(largest[n.Component], connected[i])
		}
	}
	for i := range w.Nodes {
		switch n := &w.Nodes[i]; n.Type {
		case topology.SwitchNode:
			f.Switches = add(f.Switches, largest[n.Component], 1)
		case topology.NICNode:
			f.NICs = add(f.NICs, up[i], 1)
		}
	}
	for host := range w.Hosts {
		f.Servers = add(f.Servers, w.Rate(int32(host)), 1)
	}
	f.sort()
	return f
}

// add adds parts of a rate. Fabrics have few rates.
func add(list []Parts, rate, count int64) []Parts {
	if count == 0 {
		return list
	}
	for i := range list {
		if list[i].Rate == rate {
			list[i].Count += count
			return list
		}
	}
	return append(list, Parts{rate, count})
}

func (f *Fabric) sort() {
	for _, list := range [][]Parts{f.Switches, f.NICs, f.Copper, f.Optical, f.Servers} {
		slices.SortFunc(list, func(a, b Parts) int { return cmp.Compare(a.Rate, b.Rate) })
	}
}

// CountParts returns the number of parts in a list.
func CountParts(list []Parts) (n int64) {
	for _, p := range list {
		n += p.Count
	}
	return n
}
