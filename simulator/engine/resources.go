package engine

import (
	"slices"

	"netsim/simulator/topology"
)

// maxPath is the largest number of resources that a flow uses: the hops of its path,
// the capacities of the switches in between and, if only some switches spray, the bundles
// of the hops.
const maxPath = 3*topology.MaxHops - 1

// resource is a capacity that flows share: a directed link, a directed bundle or group of
// links over which traffic is sprayed, the switching capacity of a switch, or a rank's port
// in a scale-up group in one direction.
//
// It takes two cache lines, of 64 bytes each. A transfer that is alone on its path needs the
// first, and of the resource that limits it the second.
type resource struct {
	flows   []int32  // the attached flows: flow<<hopBits + hop
	few     [2]int32 // room for flows: most resources of a ring have one
	carried load     // since the last report
	rate    int64    // bit/s
	mark    uint32   // scratch space of the solver, as the fields of the second line
	freed   bool     // a flow has left since rates were assigned

	limited limiting
	fixed   int64 // taken by flows that are not solved for
	left    int64
	level   int64 // rate of the flows that it limits
	most    int64 // rate of its fastest member
	members int32 // flows that are solved for
	open    int32 // the members that have no rate yet
}

// hopping is how a resource forwards packets.
type hopping struct {
	rate  int64 // bit/s at which one packet is forwarded
	delay int64 // ps
}

// addResource adds a resource of a rate in bit/s.
func (e *engine) addResource(rate int64, h hopping) {
	e.resources = append(e.resources, resource{rate: rate})
	e.hoppings = append(e.hoppings, h)
}

// hopBits is the number of bits that hold the index of a hop, below maxPath.
const hopBits = 5

// spreading says which switches spray.
type spreading uint8

const (
	hashed  spreading = iota // none: resources are the links
	sprayed                  // all: resources are the bundles
	mixed                    // some: resources are links, bundles, and groups
)

// addResources prepares routing and lists the resources.
func (e *engine) addResources() {
	f := e.fabric
	switches := e.switches()
	methods := make([]topology.Method, len(switches))
	spraying, choosing := 0, 0
	forks := f.Forks()
	for i, s := range switches {
		methods[i] = topology.Method{Plain: s.Hash == Plain || s.Hash == PlainSalted, Unsalted: s.Hash == Plain || s.Hash == CRC32}
		if !forks[i] {
			continue // each of its methods sends to the same link
		}
		choosing++
		switch s.Routing {
		case Spray:
			methods[i].Spray = true
			spraying++
		case Flowlet:
			methods[i].Turn = e.flowlets.class(s.Gap)
		}
	}
	e.routes = topology.NewRoutes(f, e.options.Seed, methods)
	e.weighted = spraying == choosing // also if there is no choice
	switch spraying {
	case 0:
		e.spreading = hashed
		e.addLinks()
	case choosing:
		e.spreading = sprayed
		e.addBundles()
	default:
		e.spreading = mixed
		groups := e.routes.Groups()
		e.addLinks()
		e.addBundles()
		for _, g := range groups {
			e.addResource(g.Rate, hopping{g.MinRate, g.Delay})
		}
	}
	e.addCapacities(switches)
	e.stride = e.longestPath()
}

// switches returns how each switch works, by node.
func (e *engine) switches() []Switch {
	list := make([]Switch, e.fabric.Switches())
	for i := range list {
		list[i].Routing = e.options.Routing
		if at := slices.IndexFunc(e.options.Switches, func(s Switch) bool { return s.Component == e.fabric.Nodes[i].Component }); at >= 0 {
			list[i] = e.options.Switches[at]
		}
	}
	return list
}

func (e *engine) addLinks() {
	for i := range 2 * len(e.fabric.Links) {
		l := &e.fabric.Links[i/2]
		e.addResource(l.Rate, hopping{l.Rate, l.Delay})
	}
}

func (e *engine) addBundles() {
	for i := range 2 * len(e.fabric.Bundles) {
		b := &e.fabric.Bundles[i/2]
		e.addResource(b.Rate, hopping{b.MinRate, b.Delay})
	}
}

// addCapacities adds a resource for every switch that forwards less than its ports
// can receive. If any switch sprays, the switches at the end of a bundle share one
// resource.
func (e *engine) addCapacities(switches []Switch) {
	f := e.fabric
	ports := make([]int64, len(switches))
	pool := make([]int32, len(switches)) // the first of the switches that share a resource
	for i := range pool {
		pool[i] = int32(i)
	}
	for i := range f.Links {
		l := &f.Links[i]
		ports[l.Upper] += l.Rate
		if int(l.Lower) < len(switches) {
			ports[l.Lower] += l.Rate
		}
	}
	if e.spreading != hashed {
		e.poolSwitches(pool)
	}
	binds := false
	sums := make([]int64, len(switches))
	for i, s := range switches {
		capacity := ports[i]
		if s.Capacity > 0 && s.Capacity < ports[i] {
			capacity, binds = s.Capacity, true
		}
		sums[pool[i]] += capacity
		if int(pool[i]) != i {
			ports[pool[i]] += ports[i]
		}
	}
	if !binds {
		return
	}
	e.capacities = make([]int32, len(f.Nodes))
	own := make([]int32, len(switches))
	for i := range own {
		own[i] = none
		if pool[i] == int32(i) && sums[i] < ports[i] {
			own[i] = int32(len(e.resources))
			e.addResource(sums[i], hopping{})
		}
	}
	for i := range e.capacities {
		e.capacities[i] = none
		if i < len(own) {
			e.capacities[i] = own[pool[i]]
		}
	}
}

// poolSwitches pools the switches that one directed bundle leads to.
func (e *engine) poolSwitches(pool []int32) {
	root := func(n int32) int32 {
		for pool[n] != n {
			n = pool[n]
		}
		return n
	}
	for i := range e.fabric.Bundles {
		links := e.fabric.Bundles[i].Links
		if len(links) == 0 {
			continue
		}
		first := &e.fabric.Links[links[0]]
		for _, id := range links {
			l := &e.fabric.Links[id]
			a, b := root(first.Upper), root(l.Upper)
			pool[max(a, b)] = min(a, b)
			if int(l.Lower) < len(pool) {
				a, b = root(first.Lower), root(l.Lower)
				pool[max(a, b)] = min(a, b)
			}
		}
	}
	for i := range pool {
		pool[i] = root(int32(i))
	}
}

// entered returns the node to which a hop's resource leads.
func (e *engine) entered(resource int32) int32 {
	f := e.fabric
	directed := resource
	switch {
	case e.spreading == sprayed:
		directed = 2*f.Bundles[resource/2].Links[0] + resource%2
	case e.spreading == mixed && resource >= f.Group0():
		directed = e.routes.Groups()[resource-f.Group0()].Links[0]
	case e.spreading == mixed && resource >= f.Bundle0():
		resource -= f.Bundle0()
		directed = 2*f.Bundles[resource/2].Links[0] + resource%2
	}
	if l := &f.Links[directed/2]; directed%2 == 0 {
		return l.Upper
	} else {
		return l.Lower
	}
}

const none = -1
