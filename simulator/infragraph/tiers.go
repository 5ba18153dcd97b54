package infragraph

import (
	"fmt"
	"slices"
)

// none is the tier of a node that no link connects with a server.
const none = -1

// tiers returns the tier of each node: 0 for servers, 1 for switches with links to servers,
// 2 and 3 for those above. An edge must join neighbouring tiers.
func (g *graph) tiers() ([]int8, error) {
	of := make([]int32, g.nodes()) // the instance of each node
	for i := range g.doc.Instances {
		for n := g.first[i]; n < g.first[i+1]; n++ {
			of[n] = int32(i)
		}
	}
	byInstance, err := g.climbed(func(node int32) int32 { return of[node] }, len(g.doc.Instances), of)
	if err == nil {
		return byInstance, nil
	}
	return g.climbed(func(node int32) int32 { return node }, g.nodes(), of) // the error of this one names nodes
}

// climbed returns tiers that are equal for all nodes of a set. set maps nodes to sets.
func (g *graph) climbed(set func(int32) int32, sets int, instance []int32) ([]int8, error) {
	tier := make([]int8, sets)
	for i := range tier {
		tier[i] = none
	}
	for n := range instance {
		if g.server[instance[n]] {
			tier[set(int32(n))] = 0
		}
	}
	for next := int8(1); next <= 3; next++ {
		for _, e := range g.edges {
			a, b := set(e.a.node), set(e.b.node)
			if tier[a] == next-1 && tier[b] == none {
				tier[b] = next
			} else if tier[b] == next-1 && tier[a] == none {
				tier[a] = next
			}
		}
	}
	nodes := make([]int8, len(instance))
	for n := range nodes {
		nodes[n] = tier[set(int32(n))]
	}
	for _, e := range g.edges {
		a, b := nodes[e.a.node], nodes[e.b.node]
		switch {
		case a == none || b == none:
			return nil, fmt.Errorf("the link of %s and %s is more than three links away from every server; netsim has three tiers of switches", g.endName(e.a), g.endName(e.b))
		case a == 0 && b == 0:
			return nil, fmt.Errorf("%s and %s are joined without a switch; in netsim a link of a server leads to a switch", g.endName(e.a), g.endName(e.b))
		case a == b:
			return nil, fmt.Errorf("%s and %s are switches of one tier, %d; in netsim a link leads to the next tier", g.endName(e.a), g.endName(e.b), a)
		}
	}
	return nodes, nil
}

// sets joins nodes into sets.
type sets []int32

func newSets(n int) sets {
	s := make(sets, n)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}

// root returns the number that represents a set.
func (s sets) root(n int32) int32 {
	for s[n] != n {
		s[n] = s[s[n]]
		n = s[n]
	}
	return n
}

// join joins two sets; the lower number represents both.
func (s sets) join(a, b int32) {
	a, b = s.root(a), s.root(b)
	s[max(a, b)] = min(a, b)
}

// singlePorts refuses a port of a switch with two links.
func (g *graph) singlePorts(tier []int8) error {
	ends := make([]end, 0, 2*len(g.edges))
	for _, e := range g.edges {
		for _, x := range []end{e.a, e.b} {
			if tier[x.node] > 0 {
				ends = append(ends, x)
			}
		}
	}
	slices.SortFunc(ends, end.compare)
	for i := 1; i < len(ends); i++ {
		if ends[i] == ends[i-1] {
			return fmt.Errorf("%s has two links; a port of a switch has one", g.endName(ends[i]))
		}
	}
	return nil
}
