package chakra

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// order checks a trace's dependencies while it is streamed.
//
// A node that refers only to earlier nodes cannot close a cycle. So a cycle contains a
// reference to a later node. Forward references cover stretches of the file, and a
// cycle lies within one stretch, because it passes every position between its first
// and its last node in both directions. Therefore order keeps the ids so far, as runs
// of consecutive ids (16 bytes a run), the ids that came after higher ones, and the
// references to ids that have not come yet. If some of those ids come later, findCycle
// reads the file again, and keeps the nodes of one stretch at a time with their
// dependencies.
type order struct {
	seen      ids
	awaited   map[uint64]*reference // ids that were referred to and have not come
	stretches []stretch             // in order, disjoint
	nodes     int64
}

// reference records the nodes that refer to an id that has not come.
type reference struct {
	node          uint64 // the first
	from          int64  // position of the first with a data dependency on it, or -1
	data, control int64  // numbers of dependencies
}

// stretch is a range of positions, both ends included.
type stretch struct{ from, to int64 }

// take adds the next node. The result again is true if its id came before.
func (o *order) take(n *Node) (again bool) {
	for _, id := range n.Data {
		if !o.seen.has(id) {
			r := o.await(id, n)
			r.data++
			if r.from < 0 {
				r.from = o.nodes
			}
		}
	}
	for _, id := range n.Control {
		if !o.seen.has(id) {
			o.await(id, n).control++
		}
	}
	again = !o.seen.add(n.ID)
	if r := o.awaited[n.ID]; r != nil {
		if r.from >= 0 {
			o.cover(stretch{r.from, o.nodes})
		}
		delete(o.awaited, n.ID)
	}
	o.nodes++
	return again
}

// scattered returns how many ids are kept one by one.
func (o *order) scattered() int { return len(o.awaited) + len(o.seen.late) }

func (o *order) await(id uint64, by *Node) *reference {
	r := o.awaited[id]
	if r == nil {
		if o.awaited == nil {
			o.awaited = map[uint64]*reference{}
		}
		r = &reference{node: by.ID, from: -1}
		o.awaited[id] = r
	}
	return r
}

// cover adds a stretch that ends at the current position, and merges it with the
// stretches that it touches.
func (o *order) cover(s stretch) {
	for len(o.stretches) > 0 && o.stretches[len(o.stretches)-1].to >= s.from {
		last := o.stretches[len(o.stretches)-1]
		s.from = min(s.from, last.from)
		o.stretches = o.stretches[:len(o.stretches)-1]
	}
	o.stretches = append(o.stretches, s)
}

// missing sums up the references to nodes that are not in the file.
func (o *order) missing() (data, control int64, first reference, id uint64) {
	for missing, r := range o.awaited {
		if data+control == 0 || cmp.Or(cmp.Compare(r.node, first.node), cmp.Compare(missing, id)) < 0 {
			first, id = *r, missing
		}
		data += r.data
		control += r.control
	}
	return data, control, first, id
}

// ids is a set of ids. It is small if the ids come in order.
type ids struct {
	runs []run               // ascending, disjoint
	late map[uint64]struct{} // the ids that came after higher ones
}

type run struct{ first, last uint64 }

// has searches from the end backwards in growing steps, since most dependencies are on
// recent nodes.
func (s *ids) has(id uint64) bool {
	above := len(s.runs) // the run at above, and those after it, start beyond the id
	step := 1
	for above-step >= 0 && s.runs[above-step].first > id {
		above -= step
		step *= 2
	}
	below := max(0, above-step)
	for below < above {
		if middle := int(uint(below+above) >> 1); s.runs[middle].first > id {
			above = middle
		} else {
			below = middle + 1
		}
	}
	if above > 0 && id <= s.runs[above-1].last {
		return true
	}
	_, found := s.late[id]
	return found
}

// add reports whether the id is new.
func (s *ids) add(id uint64) bool {
	n := len(s.runs)
	switch {
	case n > 0 && id == s.runs[n-1].last+1 && id != 0:
		s.runs[n-1].last = id
		return true
	case n == 0 || id > s.runs[n-1].last:
		s.runs = append(s.runs, run{id, id})
		return true
	case s.has(id):
		return false
	}
	if s.late == nil {
		s.late = map[uint64]struct{}{}
	}
	s.late[id] = struct{}{}
	return true
}

// findCycle reads a file again and returns a cycle of its data dependencies: each node
// depends on the next, and the last on the first. It returns nil if the stretches have
// none.
func findCycle(r *Reader, stretches []stretch) ([]uint64, error) {
	var t tangle
	for position := int64(0); len(stretches) > 0; position++ {
		n, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil, io.ErrUnexpectedEOF // it had more nodes the first time
		}
		if err != nil {
			return nil, err
		}
		if position < stretches[0].from {
			continue
		}
		if err := t.take(n, r.limits.Tangle); err != nil {
			return nil, r.located(err)
		}
		if position == stretches[0].to {
			if cycle := t.cycle(); cycle != nil {
				return cycle, nil
			}
			t = tangle{}
			stretches = stretches[1:]
		}
	}
	return nil, nil
}

// tangle is the nodes of a stretch with their dependencies.
type tangle struct {
	ids   []uint64
	index map[uint64]int
	needs []uint64 // the dependencies of all nodes, one node after the other
	ends  []int    // by node: the end of its part of needs
}

func (t *tangle) take(n *Node, limit int) error {
	if t.index == nil {
		t.index = map[uint64]int{}
	}
	t.index[n.ID] = len(t.ids)
	t.ids = append(t.ids, n.ID)
	t.needs = append(t.needs, n.Data...)
	t.ends = append(t.ends, len(t.needs))
	if len(t.needs)+len(t.ids) > limit {
		return fileRefusal(fmt.Sprintf("more than %d nodes and dependencies are in a part of the file where nodes come before their dependencies; write each node after its dependencies", limit))
	}
	return nil
}

func (t *tangle) start(i int) int {
	if i == 0 {
		return 0
	}
	return t.ends[i-1]
}

// cycle walks from each node to its dependencies, depth first, and stops at a node that
// is already on the current path.
func (t *tangle) cycle() []uint64 {
	const fresh, open, done = 0, 1, 2
	state := make([]uint8, len(t.ids))
	next := make([]int, len(t.ids)) // the index of the dependency to follow next
	var path []int
	for root := range t.ids {
		if state[root] != fresh {
			continue
		}
		path = append(path[:0], root)
		state[root], next[root] = open, t.start(root)
		for len(path) > 0 {
			at := path[len(path)-1]
			if next[at] == t.ends[at] {
				state[at] = done
				path = path[:len(path)-1]
				continue
			}
			need, inside := t.index[t.needs[next[at]]]
			next[at]++
			switch {
			case !inside || state[need] == done:
			case state[need] == open:
				return t.names(path[slices.Index(path, need):])
			default:
				state[need], next[need] = open, t.start(need)
				path = append(path, need)
			}
		}
	}
	return nil
}

func (t *tangle) names(path []int) []uint64 {
	cycle := make([]uint64, len(path))
	for i, at := range path {
		cycle[i] = t.ids[at]
	}
	return cycle
}

// describeCycle returns a sentence that names a cycle, or the start of a long one.
func describeCycle(cycle []uint64) string {
	const most = 8
	var b strings.Builder
	for _, id := range cycle[:min(len(cycle), most)] {
		fmt.Fprintf(&b, "%d needs ", id)
	}
	if len(cycle) > most {
		return fmt.Sprintf("data dependencies form a cycle of %d nodes: %s…", len(cycle), b.String())
	}
	return fmt.Sprintf("data dependencies form a cycle: %s%d", b.String(), cycle[0])
}
