package topology

import (
	"errors"
	"strconv"
)

// NodeType is the type of a node; its text is the component_type of the result files.
type NodeType uint8

// The types of nodes.
const (
	SwitchNode NodeType = iota
	NICNode
	ServerNode
)

func (t NodeType) String() string {
	return [...]string{"Switch", "Nic", "Server"}[t]
}

// Tiers of the result files: 0 is the spine.
const (
	TierSSW = iota
	TierFSW
	TierRSW
	TierNIC
	TierServer
)

// NoSubtier is the subtier of a node that has none.
const NoSubtier = 4294967295

// Node is a switch, a NIC or a server. Its id is its index in Fabric.Nodes: switches in
// document order, then NICs, then servers.
type Node struct {
	Component string
	Number    int32 // running number within the component
	Type      NodeType
	Tier      uint8
}

// Name returns the component's name and the running number: rsw-3.
func (n Node) Name() string {
	return n.Component + "-" + strconv.Itoa(int(n.Number))
}

// Link joins two nodes of neighbouring tiers. It consists of two directed links:
// 2·id upwards and 2·id+1 downwards.
type Link struct {
	Lower, Upper         int32 // node ids
	LowerPort, UpperPort int32 // device ids, from 0 on each node
	Rate                 int64 // bit/s, each way
	Delay                int64 // ps, each way
	Bundle               int32
}

// Bundle is a set of parallel links over which traffic can be sprayed: all links of a NIC,
// all up-links of a rack, or all up-links of a pod. Like a link it has two directions.
type Bundle struct {
	Rate    int64 // bit/s, the sum over its links, each way
	MinRate int64 // bit/s, of the slowest link
	Delay   int64 // ps, of the longest link
	Links   []int32
}

// Host is a server. At most one rank runs on it.
type Host struct {
	Server int32   // node id
	NICs   []int32 // node ids
	Bundle int32   // of the first NIC; the bundles of the other NICs follow
	Rack   int32
}

// Rate returns the sum of the rates of a host's NICs, in bit/s.
func (f *Fabric) Rate(host int32) int64 {
	h := &f.Hosts[host]
	var sum int64
	for n := range h.NICs {
		sum += f.Bundles[int(h.Bundle)+n].Rate
	}
	return sum
}

// Fabric is a wired network. It does not change after Build.
type Fabric struct {
	Nodes   []Node
	Links   []Link
	Bundles []Bundle
	Hosts   []Host // by server number

	switches int
	racks    []routedRack
	pods     []int32 // by pod: the bundle of its up-links, or none
	up       adjacency
	down     adjacency
}

// routedRack is the part of a rack that routing needs.
type routedRack struct {
	switches []int32
	bundle   int32 // of its up-links, or none
	pod      int32 // or none if the rack is directly in the topology
}

const none = -1

// Switches returns the number of switches; their node ids come first.
func (f *Fabric) Switches() int { return f.switches }

// Build wires a layout (completions.md 3.2). It refuses a layout that has no
// server, or a server without links.
func Build(l Layout) (*Fabric, error) {
	b := builder{fabric: &Fabric{}, numbers: map[string]int32{}}
	b.reserve(&l)
	b.place(l)
	if len(b.fabric.Hosts) == 0 {
		return nil, errors.New("the topology has no server")
	}
	b.wireServers()
	for _, pod := range b.pods {
		fabric := dealer{upper: pod.switches}
		for _, rack := range pod.racks {
			b.wireRack(rack, &fabric)
		}
	}
	spine := dealer{upper: b.spine}
	for _, rack := range b.direct {
		b.wireRack(rack, &spine)
	}
	b.wirePods(l, &spine)
	f := b.fabric
	f.up = newAdjacency(f, func(l *Link) int32 { return l.Lower })
	f.down = newAdjacency(f, func(l *Link) int32 { return l.Upper })
	for i := range f.Hosts {
		if h := &f.Hosts[i]; len(h.NICs) == 0 || len(f.Bundles[h.Bundle].Links) == 0 {
			return nil, errors.New(f.Nodes[f.Hosts[i].Server].Name() + " has no link to a rack switch")
		}
	}
	return f, nil
}

// adjacency lists each node's links on one side, in link order.
type adjacency struct {
	first []int32 // by node: where its links begin; the last element is len(links)
	links []int32
}

func newAdjacency(f *Fabric, end func(*Link) int32) adjacency {
	a := adjacency{first: make([]int32, len(f.Nodes)+1), links: make([]int32, len(f.Links))}
	for i := range f.Links {
		a.first[end(&f.Links[i])+1]++
	}
	for i := range f.Nodes {
		a.first[i+1] += a.first[i]
	}
	next := append([]int32(nil), a.first...)
	for i := range f.Links {
		n := end(&f.Links[i])
		a.links[next[n]] = int32(i)
		next[n]++
	}
	return a
}

func (a *adjacency) of(node int32) []int32 {
	return a.links[a.first[node]:a.first[node+1]]
}
