package replay

import (
	"cmp"
	"container/heap"
	"slices"
)

// nodeIndex finds the position of a node by its id.
type nodeIndex struct {
	ids    []uint64 // by position
	sorted []int32  // positions in order of their ids, nil if the ids ascend
}

func newNodeIndex(ids []uint64) nodeIndex {
	n := nodeIndex{ids: ids}
	if !slices.IsSorted(ids) {
		n.sorted = make([]int32, len(ids))
		for i := range n.sorted {
			n.sorted[i] = int32(i)
		}
		slices.SortFunc(n.sorted, func(a, b int32) int { return cmp.Or(cmp.Compare(ids[a], ids[b]), cmp.Compare(a, b)) })
	}
	return n
}

// at returns the node with the i-th smallest id.
func (n *nodeIndex) at(i int) (position int32, id uint64) {
	position = int32(i)
	if n.sorted != nil {
		position = n.sorted[i]
	}
	return position, n.ids[position]
}

// find returns the node's position, or -1.
func (n *nodeIndex) find(id uint64) int32 {
	if len(n.ids) == 0 {
		return -1
	}
	low, high := 0, len(n.ids)
	// Most traces number their nodes without a gap.
	if _, first := n.at(0); id >= first && id-first < uint64(high) {
		if p, found := n.at(int(id - first)); found == id {
			return p
		}
	}
	for low < high {
		middle := (low + high) / 2
		if _, found := n.at(middle); found < id {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low < len(n.ids) {
		if p, found := n.at(low); found == id {
			return p
		}
	}
	return -1
}

// duplicate returns an id that two nodes share.
func (n *nodeIndex) duplicate() (id uint64, found bool) {
	for i := 1; i < len(n.ids); i++ {
		if _, id := n.at(i); id == n.before(i) {
			return id, true
		}
	}
	return 0, false
}

func (n *nodeIndex) before(i int) uint64 {
	_, id := n.at(i - 1)
	return id
}

// edges holds the dependencies of each position.
type edges struct {
	first []int32 // index in on of each position's first dependency, then len(on)
	on    []int32 // the positions depended on
}

func (e *edges) of(position int32) []int32 { return e.on[e.first[position]:e.first[position+1]] }

// reversed returns, for each of n positions, the positions that depend on it, ascending.
func (e *edges) reversed(n int) edges {
	t := edges{first: make([]int32, n+1), on: make([]int32, len(e.on))}
	for _, p := range e.on {
		t.first[p+1]++
	}
	for i := range n {
		t.first[i+1] += t.first[i]
	}
	next := slices.Clone(t.first[:n])
	for i := range n {
		for _, p := range e.of(int32(i)) {
			t.on[next[p]] = int32(i)
			next[p]++
		}
	}
	return t
}

// arrange returns the positions in an order that puts dependencies first and otherwise
// keeps the file's order; nil if the file's order already does. If there is a cycle, it
// returns a position in the cycle.
func (e *edges) arrange() (order []int32, cycle int32, ok bool) {
	n := len(e.first) - 1
	if e.forward() {
		return nil, 0, true
	}
	followers := e.reversed(n)
	waits := make([]int32, n)
	var free earliest
	for i := range waits {
		if waits[i] = int32(len(e.of(int32(i)))); waits[i] == 0 {
			free = append(free, int32(i)) // ascending, which is a heap
		}
	}
	for len(free) > 0 {
		p := heap.Pop(&free).(int32)
		order = append(order, p)
		for _, f := range followers.of(p) {
			if waits[f]--; waits[f] == 0 {
				heap.Push(&free, f)
			}
		}
	}
	if len(order) == n {
		return order, 0, true
	}
	return nil, e.loop(waits), false
}

// forward reports whether every position depends only on earlier ones.
func (e *edges) forward() bool {
	for i := range len(e.first) - 1 {
		for _, p := range e.of(int32(i)) {
			if int(p) >= i {
				return false
			}
		}
	}
	return true
}

// loop follows dependencies between waiting positions until one repeats.
func (e *edges) loop(waits []int32) int32 {
	at := int32(slices.IndexFunc(waits, func(w int32) bool { return w > 0 }))
	seen := make([]bool, len(waits))
	for !seen[at] {
		seen[at] = true
		for _, p := range e.of(at) {
			if waits[p] > 0 {
				at = p
				break
			}
		}
	}
	return at
}

// earliest is a heap of positions.
type earliest []int32

func (h earliest) Len() int           { return len(h) }
func (h earliest) Less(i, j int) bool { return h[i] < h[j] }
func (h earliest) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *earliest) Push(p any)        { *h = append(*h, p.(int32)) }
func (h *earliest) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
