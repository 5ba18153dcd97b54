package difference

import (
	"bytes"
	"slices"
)

// maxMoves bounds the moves within one list; a list with more moves is replaced. Each move
// costs a scan of the list, and a patch with hundreds of moves is hard to read.
const maxMoves = 64

// patch collects the operations that turn one value into another.
type patch struct{ operations []Operation }

func (p *patch) value(path string, from, to value) {
	if bytes.Equal(from, to) {
		return
	}
	if len(path) <= longestPath {
		was, isObject := objectOf(from)
		is, staysObject := objectOf(to)
		if isObject && staysObject {
			p.object(path, was, is)
			return
		}
		old, isList := listOf(from)
		now, staysList := listOf(to)
		if isList && staysList {
			p.list(path, old, now, to)
			return
		}
	}
	p.put("replace", path, to)
}

func (p *patch) object(path string, from, to members) {
	for _, name := range namesIn(from, to) {
		at := child(path, name)
		was, had := from[name]
		is, has := to[name]
		switch {
		case !has:
			p.remove(at)
		case !had:
			p.put("add", at, is)
		default:
			p.value(at, was, is)
		}
	}
}

// list first changes elements in place and removes elements, from last to first. It then
// moves the remaining ones into order and adds elements, from first to last. So the indices
// of changes and removals are those of the earlier document, and the indices of additions
// those of the later one.
func (p *patch) list(path string, from, to []value, whole value) {
	partner := align(from, to)
	order := kept(partner)
	stay := settled(order)
	var moved []int
	for i, j := range order {
		if !stay[i] {
			moved = append(moved, j)
		}
	}
	if len(moved) > maxMoves {
		p.put("replace", path, whole)
		return
	}
	for i, j := range partner {
		if j >= 0 {
			p.value(element(path, i), from[i], to[j])
		}
	}
	for i, j := range slices.Backward(partner) {
		if j < 0 {
			p.remove(element(path, i))
		}
	}
	p.move(path, order, moved)
	for j, fresh := range added(partner, len(to)) {
		if fresh {
			p.put("add", element(path, j), to[j])
		}
	}
}

// move sorts order by moving each element of moved behind its predecessor.
func (p *patch) move(path string, order, moved []int) {
	sorted := slices.Sorted(slices.Values(order))
	slices.Sort(moved)
	for _, j := range moved {
		at := slices.Index(order, j)
		order = slices.Delete(order, at, at+1)
		to := 0
		if i, _ := slices.BinarySearch(sorted, j); i > 0 {
			to = slices.Index(order, sorted[i-1]) + 1
		}
		order = slices.Insert(order, to, j)
		p.operations = append(p.operations, Operation{Op: "move", From: element(path, at), Path: element(path, to)})
	}
}

func (p *patch) remove(path string) {
	p.operations = append(p.operations, Operation{Op: "remove", Path: path})
}

func (p *patch) put(op, path string, v value) {
	p.operations = append(p.operations, Operation{Op: op, Path: path, Value: v})
}
