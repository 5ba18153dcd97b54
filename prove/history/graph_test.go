package history

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The components are those that a search from every node finds: two nodes are in one if
// each reaches the other.
func TestComponentsAreMutuallyReachable(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := 2 + random.IntN(12)
		g := newGraph(n)
		for range random.IntN(2 * n) {
			g.add(random.IntN(n), random.IntN(n), "")
		}
		var want [][]int
		placed := make([]bool, n)
		for v := range n {
			if placed[v] {
				continue
			}
			component := []int{v}
			for w := v + 1; w < n; w++ {
				if g.reaches(v, w) && g.reaches(w, v) {
					component = append(component, w)
					placed[w] = true
				}
			}
			if len(component) > 1 {
				want = append(want, component)
			}
		}
		got := g.components()
		for _, c := range got {
			slices.Sort(c)
			if hops := g.cycle(c); len(hops) < 2 {
				t.Fatalf("the cycle in %v is %v", c, hops)
			}
		}
		slices.SortFunc(got, slices.Compare)
		slices.SortFunc(want, slices.Compare)
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("components of %v: got %v, want %v", g.edges, got, want)
		}
	}
}

func (g *graph) reaches(from, to int) bool {
	seen := map[int]bool{}
	queue := []int{from}
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		for _, e := range g.edges[v] {
			if e.to == to {
				return true
			}
			if !seen[e.to] {
				seen[e.to] = true
				queue = append(queue, e.to)
			}
		}
	}
	return false
}

// Every hop of a cycle is an edge of the graph.
func TestACycleFollowsEdges(t *testing.T) {
	t.Parallel()
	g := newGraph(5)
	for _, e := range [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {2, 0}, {4, 0}} {
		g.add(e[0], e[1], "because")
	}
	components := g.components()
	if len(components) != 1 || len(components[0]) != 4 {
		t.Fatalf("components %v, want one of four nodes", components)
	}
	path := g.cycle(components[0])
	if len(path) != 3 {
		t.Fatalf("the cycle is %v, want the one of three", path)
	}
	for i, h := range path {
		next := path[(i+1)%len(path)].from
		if !slices.ContainsFunc(g.edges[h.from], func(e edge) bool { return e.to == next }) {
			t.Errorf("the cycle goes from %d to %d, which is no edge", h.from, next)
		}
	}
}
