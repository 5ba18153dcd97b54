package engine

import "netsim/simulator/topology"

// shape is what all transfers of one size over paths of one kind have in common. Millions of
// transfers share a few shapes, so a flow has the index of its shape.
type shape struct {
	bytes int64 // payload; of a stripe, of that part
	wire  load  // in total
	trip  int64 // ps from drain to last acknowledgement, without queues
	solo  int64 // ps to drain alone on its path
	form  int32 // index of the packet sizes in Options.NICs; none inside scale-up groups
	hops  int32 // number of resources on the path
	steps int32 // number of hops that forward packets; these come first

	// What follows from the fields above and the first resource; see shapeOf.
	window int64 // bits that it may have in flight
	lone   int64 // ps from the start to the last acknowledgement, alone on its path
	work   work  // bits to send; none if transfers are independent of each other
}

// shapes are the shapes of the flows in flight and of the ranks' routes, and some others.
type shapes struct {
	list  []shape
	index map[shape]int32
	free  []int32
	sweep int // the number of shapes from which on unused ones are dropped
	many  int // the least sweep
}

// manyShapes is shapes.many of a run, some 10 MB.
const manyShapes = 1 << 16

// shapeOf returns the index of the shape of transfers that send through the resource. It
// fills in what follows from the other fields.
func (e *engine) shapeOf(s shape, first int32) int32 {
	s.window = e.windowOf(first, s.trip)
	s.lone = s.solo + s.trip - e.unhindered(&s, s.solo)
	if !e.options.Analytical {
		s.work = workOf(s.wire.bits)
	}
	t := &e.shapes
	if at, known := t.index[s]; known {
		return at
	}
	if t.index == nil {
		t.index, t.sweep = map[shape]int32{}, t.many
	}
	if n := len(t.index); n > 0 && n >= t.sweep {
		e.dropShapes()
	}
	at := int32(len(t.list))
	if n := len(t.free); n > 0 {
		at = t.free[n-1]
		t.free = t.free[:n-1]
		t.list[at] = s
	} else {
		t.list = append(t.list, s)
	}
	t.index[s] = at
	return at
}

// dropShapes drops the shapes that no flow in flight and no route has. Flows that have ended
// still have one, and drop it when they are used again.
func (e *engine) dropShapes() {
	t := &e.shapes
	used := make([]bool, len(t.list))
	for id := range e.flows {
		used[e.flows[id].shape] = true
	}
	for i := range e.ranks {
		used[e.ranks[i].route.shape] = true
	}
	t.free = t.free[:0]
	for at := range t.list {
		if !used[at] {
			delete(t.index, t.list[at])
			t.free = append(t.free, int32(at))
		}
	}
	t.sweep = max(t.many, 2*len(t.index))
}

func (e *engine) shape(f *flow) *shape { return &e.shapes.list[f.shape] }

// windowOf returns what a flow may have in flight that sends through the resource, in bits.
func (e *engine) windowOf(first int32, trip int64) int64 {
	rate := uint64(e.resources[first].rate)
	return int64(min(mulDiv(rate, uint64(trip), picoseconds)/windowDen*windowNum, maxWindow))
}

// longestPath returns the number of resources on the longest path that the fabric seems to
// have; widenPaths corrects it.
func (e *engine) longestPath() int {
	if e.spreading == mixed || e.capacities != nil {
		return maxPath
	}
	longest := 2
	for i := range e.fabric.Nodes {
		switch e.fabric.Nodes[i].Tier {
		case topology.TierSSW:
			return topology.MaxHops
		case topology.TierFSW:
			longest = 4
		}
	}
	return longest
}

// widenPaths makes room for paths of this many resources.
func (e *engine) widenPaths(stride int) {
	hops := make([]hop, len(e.flows)*stride)
	for id := range e.flows {
		copy(hops[id*stride:], e.hops[id*e.stride:(id+1)*e.stride])
	}
	e.hops, e.stride = hops, stride
}
