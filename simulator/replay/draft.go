package replay

import (
	"fmt"
	"slices"

	"netsim/simulator/chakra"
	"netsim/simulator/schedule"
)

// draft is the trace of a rank in the order of its file. Its slices are reused for the next
// rank.
type draft struct {
	nodes   []schedule.Node
	details []detail

	data, control         []uint64 // ids
	dataEnds, controlEnds []int    // by node: the end of its part
}

// detail identifies the message or collective that a node shares with other ranks.
type detail struct {
	peer, tag int64 // of a message
	group     int32 // of a collective
	kind      chakra.Collective
}

func (d *draft) reset() {
	d.nodes, d.details = d.nodes[:0], d.details[:0]
	d.data, d.control = d.data[:0], d.control[:0]
	d.dataEnds, d.controlEnds = d.dataEnds[:0], d.controlEnds[:0]
}

// size returns an upper bound of the rank's memory, in bytes.
func (d *draft) size() int64 {
	return int64(len(d.nodes))*nodeBytes + int64(len(d.data)+len(d.control))*4
}

// Upper bounds of the memory in the schedule, its builder and the engine, in bytes.
const (
	nodeBytes  = 32 + 4 + 4
	endBytes   = 24 + 16 // of a send or receive
	joinBytes  = 32 + 48 // of a rank's part in a collective
	planBytes  = 256
	groupBytes = 128
)

// addRank turns the draft into a rank of the schedule.
func (b *Builder) addRank(rank int) error {
	d := &b.draft
	ids := make([]uint64, len(d.nodes))
	for i := range d.nodes {
		ids[i] = d.nodes[i].ID
	}
	known := newNodeIndex(ids)
	if id, found := known.duplicate(); found {
		return fmt.Errorf("rank %d, node %d: another node has the same id", rank, id)
	}
	if err := b.missing(rank, &known); err != nil {
		return err
	}
	on := d.dependencies(&known, true)
	order, _, ok := on.arrange()
	if !ok {
		// Try again without any control dependencies.
		on = d.dependencies(&known, false)
		var cycle int32
		if order, cycle, ok = on.arrange(); !ok {
			return fmt.Errorf("rank %d, node %d: its data dependencies lead back to itself", rank, ids[cycle])
		}
		if err := b.warn("rank %d: control dependencies form a cycle and are ignored", rank); err != nil {
			return err
		}
	}
	b.settle(int32(rank), on, order)
	return nil
}

// missing warns about dependencies on missing nodes.
func (b *Builder) missing(rank int, known *nodeIndex) error {
	d := &b.draft
	count, first := 0, 0
	var name uint64
	for _, list := range []struct {
		on   []uint64
		ends []int
	}{{d.data, d.dataEnds}, {d.control, d.controlEnds}} {
		node := 0
		for i, id := range list.on {
			for list.ends[node] <= i {
				node++
			}
			if known.find(id) >= 0 {
				continue
			}
			if count++; count == 1 {
				first, name = node, id
			}
		}
	}
	if count == 0 {
		return nil
	}
	return b.warn("rank %d, node %d: %d dependencies name nodes that are not in the file; the first names %d", rank, d.nodes[first].ID, count, name)
}

// dependencies returns the nodes' dependencies on existing nodes, each once: the data
// dependencies and, with control, the control dependencies.
func (d *draft) dependencies(known *nodeIndex, control bool) edges {
	e := edges{first: make([]int32, 1, len(d.nodes)+1), on: make([]int32, 0, len(d.data))}
	data, callers := 0, 0
	for i := range d.nodes {
		begin := len(e.on)
		for ; data < d.dataEnds[i]; data++ {
			if p := known.find(d.data[data]); p >= 0 {
				e.on = append(e.on, p)
			}
		}
		for ; callers < d.controlEnds[i]; callers++ {
			if p := known.find(d.control[callers]); p >= 0 && control {
				e.on = append(e.on, p)
			}
		}
		slices.Sort(e.on[begin:])
		e.on = e.on[:begin+len(slices.Compact(e.on[begin:]))]
		e.first = append(e.first, int32(len(e.on)))
	}
	return e
}

// settle sorts the nodes, records their parts in messages and collectives, and drops
// redundant dependencies.
func (b *Builder) settle(rank int32, on edges, order []int32) {
	d := &b.draft
	n := len(d.nodes)
	index := make([]int32, n) // in the sorted order, by position in the file
	if order == nil {
		for i := range index {
			index[i] = int32(i)
		}
	} else {
		for to, position := range order {
			index[position] = int32(to)
		}
	}
	r := &b.schedule.Ranks[rank]
	r.Nodes = make([]schedule.Node, n)
	counts := map[joinKey]int32{}
	last := map[int32]int32{} // node of the last collective, by group
	kept := edges{first: make([]int32, 1, n+1)}
	marks := make([]int32, n)
	var waits []int32
	for node := range int32(n) {
		position := node
		if order != nil {
			position = order[node]
		}
		r.Nodes[node] = d.nodes[position]
		waits = waits[:0]
		for _, p := range on.of(position) {
			waits = append(waits, index[p])
		}
		if w := b.note(rank, node, &d.nodes[position], &d.details[position], counts, last); w >= 0 {
			waits = append(waits, w)
		}
		kept.keep(waits, node, marks)
		r.Nodes[node].Waits = kept.first[node+1] - kept.first[node]
	}
	followers := kept.reversed(n)
	r.First, r.Next = followers.first, followers.on
	b.bytes += int64(n)*nodeBytes + int64(len(followers.on))*4
}

// keep adds the node's dependencies, except those that one of its other dependencies also
// has. These are most of the redundant dependencies in real traces.
func (e *edges) keep(waits []int32, node int32, marks []int32) {
	for _, w := range waits {
		for _, implied := range e.of(w) {
			marks[implied] = node + 1
		}
	}
	for _, w := range waits {
		if marks[w] != node+1 {
			e.on = append(e.on, w)
			marks[w] = node + 1 // drops a repeated dependency
		}
	}
	e.first = append(e.first, int32(len(e.on)))
}

type joinKey struct {
	group int32
	kind  chakra.Collective
}

// note records the node's part in a message or collective, and returns the node of the
// collective that it must follow, or -1.
func (b *Builder) note(rank, node int32, n *schedule.Node, d *detail, counts map[joinKey]int32, last map[int32]int32) int32 {
	switch n.Op {
	case schedule.Send:
		b.bytes += endBytes
		b.sends = append(b.sends, end{from: rank, to: int32(d.peer), node: node, tag: d.tag})
	case schedule.Receive:
		b.bytes += endBytes
		b.receives = append(b.receives, end{from: int32(d.peer), to: rank, node: node, tag: d.tag})
	case schedule.Collect:
		key := joinKey{d.group, d.kind}
		b.joins = append(b.joins, join{group: d.group, rank: rank, node: node, order: counts[key], kind: d.kind, bytes: n.Value})
		counts[key]++
		before, any := last[d.group]
		last[d.group] = node
		b.bytes += joinBytes
		if b.options.Serialize && any {
			return before
		}
	default:
	}
	return -1
}
