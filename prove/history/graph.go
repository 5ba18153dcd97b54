package history

// graph is a directed graph whose nodes are numbers.
type graph struct {
	edges [][]edge
}

// edge says why an operation must have happened before another.
type edge struct {
	to     int
	reason string
}

func newGraph(nodes int) *graph { return &graph{make([][]edge, nodes)} }

func (g *graph) add(from, to int, reason string) {
	if from != to {
		g.edges[from] = append(g.edges[from], edge{to, reason})
	}
}

// components returns the strongly connected components that have more than one node, by
// Tarjan's algorithm. It keeps its own stack, because histories are long.
func (g *graph) components() (found [][]int) {
	n := len(g.edges)
	index, low, on := make([]int, n), make([]int, n), make([]bool, n)
	var stack []int
	next := 1 // index 0 means that the node was not visited
	type frame struct{ node, edge int }
	for root := range n {
		if index[root] != 0 {
			continue
		}
		calls := []frame{{root, 0}}
		for len(calls) > 0 {
			f := &calls[len(calls)-1]
			v := f.node
			if f.edge == 0 && index[v] == 0 {
				index[v], low[v] = next, next
				next++
				stack, on[v] = append(stack, v), true
			}
			if f.edge < len(g.edges[v]) {
				to := g.edges[v][f.edge].to
				f.edge++
				if index[to] == 0 {
					calls = append(calls, frame{to, 0})
				} else if on[to] {
					low[v] = min(low[v], index[to])
				}
				continue
			}
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				parent := calls[len(calls)-1].node
				low[parent] = min(low[parent], low[v])
			}
			if low[v] != index[v] {
				continue
			}
			var component []int
			for {
				w := stack[len(stack)-1]
				stack, on[w] = stack[:len(stack)-1], false
				component = append(component, w)
				if w == v {
					break
				}
			}
			if len(component) > 1 {
				found = append(found, component)
			}
		}
	}
	return found
}

// hop is an edge of a cycle, and the node that it comes from.
type hop struct {
	from   int
	reason string
}

// cycle returns a shortest cycle through the first node of a component that has one.
func (g *graph) cycle(component []int) []hop {
	inside := map[int]bool{}
	for _, v := range component {
		inside[v] = true
	}
	var best []hop
	for _, start := range component[:min(len(component), 50)] {
		came := map[int]hop{}
		queue := []int{start}
		for len(queue) > 0 && came[start] == (hop{}) {
			v := queue[0]
			queue = queue[1:]
			for _, e := range g.edges[v] {
				if _, seen := came[e.to]; inside[e.to] && !seen {
					came[e.to] = hop{v, e.reason}
					queue = append(queue, e.to)
				}
			}
		}
		var path []hop
		for at := start; ; {
			h := came[at]
			path = append([]hop{h}, path...)
			if at = h.from; at == start || len(path) > len(component) {
				break
			}
		}
		if best == nil || len(path) < len(best) {
			best = path
		}
	}
	return best
}
