// Package summary summarizes a document: how many nodes it has, how much its switches can
// forward, and how many links join its components.
//
// It is pure. Source: completions.md section 2.6.
package summary

import (
	"encoding/json"
	"fmt"

	"netsim/simulator/document"
	"netsim/simulator/topology"
)

// Summary is what a document amounts to.
type Summary struct {
	Hosts, NICs, Ranks, Switches, Links int
	Racks, Pods, Tiers                  int

	Bandwidth []Bandwidth // in the order of the fabric's nodes
	Nodes     []Nodes     // switches, then NICs
	Wires     []Wires     // in the order of the fabric's links
}

// Bandwidth is how much a switch component forwards in one tier of the network.
type Bandwidth struct {
	Name, Model string
	Tier        int     // 0 SSW, 1 FSW, 2 RSW
	Capacity    float64 // in Unit, as the component gives it
	Unit        string
}

// Nodes are the instances of a component in one tier.
type Nodes struct {
	Name  string `json:"name"`
	Tier  int    `json:"tier"` // 0 SSW, 1 FSW, 2 RSW, 3 NIC
	Count int    `json:"count"`
}

// Wires are the links of one rate between the instances of two components.
type Wires struct {
	From  string  `json:"from"` // the lower component
	To    string  `json:"to"`   // the upper component
	Count int     `json:"count"`
	Gbps  float64 `json:"gbps"` // of each link
}

// Of returns the summary of a document and its fabric.
func Of(d *document.Document, f *topology.Fabric) Summary {
	o := Summary{Hosts: len(f.Hosts), Switches: f.Switches(), Links: len(f.Links), Tiers: d.Topology.TopologyTiers}
	for _, h := range f.Hosts {
		o.NICs += len(h.NICs)
		if len(h.NICs) > 0 {
			o.Ranks++ // a rank is on a server and reaches the network through its NICs
		}
	}
	o.holders(d)
	o.wires(f, o.nodes(f))
	o.bandwidth(d)
	return o
}

// holders counts racks and pods, which are not nodes of the fabric.
func (o *Summary) holders(d *document.Document) {
	racks := map[string]int{} // racks in each pod, by the pod's name
	for i := range d.Containers {
		if c := &d.Containers[i]; c.Type == document.TypePod {
			for _, ref := range c.Components {
				if ref.Type == document.TypeRack {
					racks[c.Name] += ref.Count
				}
			}
		}
	}
	for _, ref := range d.Topology.Components {
		switch ref.Type {
		case document.TypeRack:
			o.Racks += ref.Count
		case document.TypePod:
			o.Pods += ref.Count
			o.Racks += ref.Count * racks[ref.Name]
		}
	}
}

// nodes groups the switches and NICs of the fabric by component and tier, and returns the
// index in o.Nodes of each node's group. The nodes of a component are consecutive, so most
// need no lookup in the map.
func (o *Summary) nodes(f *topology.Fabric) []int32 {
	type kind struct {
		component string
		tier      uint8
	}
	indexes, groupOf := map[kind]int32{}, make([]int32, len(f.Nodes))
	var last kind
	var index int32
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Type == topology.ServerNode {
			break // servers come last
		}
		if k := (kind{n.Component, n.Tier}); k != last || i == 0 {
			var seen bool
			if index, seen = indexes[k]; !seen {
				index = int32(len(o.Nodes))
				indexes[k] = index
				o.Nodes = append(o.Nodes, Nodes{Name: n.Component, Tier: int(n.Tier)})
			}
			last = k
		}
		groupOf[i] = index
		o.Nodes[index].Count++
	}
	return groupOf
}

func (o *Summary) wires(f *topology.Fabric, groupOf []int32) {
	type kind struct {
		from, to int32
		rate     int64
	}
	indexes := map[kind]int{}
	var last kind
	var index int
	for i := range f.Links {
		l := &f.Links[i]
		if k := (kind{groupOf[l.Lower], groupOf[l.Upper], l.Rate}); k != last || i == 0 {
			var seen bool
			if index, seen = indexes[k]; !seen {
				index = len(o.Wires)
				indexes[k] = index
				o.Wires = append(o.Wires, Wires{From: o.Nodes[k.from].Name, To: o.Nodes[k.to].Name, Gbps: float64(l.Rate) / 1e9})
			}
			last = k
		}
		o.Wires[index].Count++
	}
}

func (o *Summary) bandwidth(d *document.Document) {
	switches := map[string]*document.Component{}
	for i := range d.Components {
		if c := &d.Components[i]; c.Type == document.TypeSwitch {
			switches[c.Name] = c
		}
	}
	for _, n := range o.Nodes {
		c := switches[n.Name]
		if c == nil {
			continue
		}
		b := Bandwidth{Name: n.Name, Model: c.Model, Tier: n.Tier}
		if capacity := c.TypedParameters["SwitchingCapacity"].Leaf; capacity != nil {
			b.Capacity, _ = capacity.Value.(float64)
			b.Unit = capacity.Unit
		}
		o.Bandwidth = append(o.Bandwidth, b)
	}
}

// Map returns the summary's graph as JSON text, the same for the same fabric.
func (o *Summary) Map() (string, error) {
	text, err := json.Marshal(struct {
		Nodes []Nodes `json:"nodes"`
		Links []Wires `json:"links"`
	}{o.Nodes, o.Wires})
	if err != nil {
		return "", fmt.Errorf("encode the topology's map: %w", err)
	}
	return string(text), nil
}
