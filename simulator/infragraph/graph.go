package infragraph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// graph is a document with its instances and edges expanded. Its nodes are the instances of
// devices, in the order of the document.
type graph struct {
	doc       infrastructure
	devices   map[string]int // by name
	instances map[string]int
	links     map[string]int
	first     []int   // by instance: its first node; the last element is the number of nodes
	server    []bool  // by instance
	paths     []route // components that edges end at
	known     map[string]int32
	edges     []joint
}

// route is the way from a device to a component at which edges end, through composed devices.
type route struct {
	name      string
	positions []int // of the components in their devices
	counts    []int // of the components in their devices
}

// end is where an edge ends.
type end struct {
	node  int32
	route int32
	index int32 // among the components with this route
}

func (a end) compare(b end) int {
	if a.node != b.node {
		return int(a.node - b.node)
	}
	if a.route != b.route {
		return int(a.route - b.route)
	}
	return int(a.index - b.index)
}

// joint is an edge between two components.
type joint struct {
	a, b end
	link int32
}

func expand(doc infrastructure) (*graph, error) {
	g := &graph{doc: doc, known: map[string]int32{}}
	var err error
	if g.devices, err = named("devices", doc.Devices, func(d device) string { return d.Name }); err != nil {
		return nil, err
	}
	if g.instances, err = named("instances", doc.Instances, func(i instance) string { return i.Name }); err != nil {
		return nil, err
	}
	if g.links, err = named("links", doc.Links, func(l link) string { return l.Name }); err != nil {
		return nil, err
	}
	for _, d := range doc.Devices {
		if _, err := named("devices "+d.Name+" components", d.Components, func(c component) string { return c.Name }); err != nil {
			return nil, err
		}
	}
	seen := map[int]int{}
	nodes := 0
	for i, in := range doc.Instances {
		at, there := g.devices[in.Device]
		if !there {
			return nil, fmt.Errorf("instances[%d].device: there is no device '%.64s'", i, in.Device)
		}
		serves, err := g.serves(at, seen)
		if err != nil {
			return nil, err
		}
		g.first, g.server = append(g.first, nodes), append(g.server, serves)
		if nodes += in.Count; nodes > maxInstances {
			return nil, fmt.Errorf("there are more than %d instances of devices", maxInstances)
		}
	}
	g.first = append(g.first, nodes)
	for i, e := range doc.Edges {
		if err := g.join(e); err != nil {
			return nil, fmt.Errorf("edges[%d]%w", i, err)
		}
	}
	return g, nil
}

// named returns the positions of the items of a list by name.
func named[T any](what string, list []T, name func(T) string) (map[string]int, error) {
	at := make(map[string]int, len(list))
	for i := range list {
		if _, twice := at[name(list[i])]; twice {
			return nil, fmt.Errorf("%s: the name '%.64s' is there twice", what, name(list[i]))
		}
		at[name(list[i])] = i
	}
	return at, nil
}

// The states of a device in serves.
const (
	open = 1 + iota // its components are being read
	serving
	notServing
)

// serves reports whether a device, or one that it holds, has an xpu or a nic. seen has the
// states of devices.
func (g *graph) serves(at int, seen map[int]int) (bool, error) {
	d := &g.doc.Devices[at]
	if seen[at] == open {
		return false, fmt.Errorf("device '%.64s' holds itself", d.Name)
	} else if seen[at] != 0 {
		return seen[at] == serving, nil
	}
	seen[at] = open
	state := notServing
	for _, c := range d.Components {
		switch c.Choice {
		case choiceXPU, choiceNIC:
			state = serving
		case choiceDevice:
			held, there := g.devices[c.Name]
			if !there {
				return false, fmt.Errorf("device '%.64s' has the component '%.64s', but there is no such device", d.Name, c.Name)
			}
			serves, err := g.serves(held, seen)
			if err != nil {
				return false, err
			}
			if serves {
				state = serving
			}
		}
	}
	seen[at] = state
	return state == serving, nil
}

// nodes returns the number of nodes.
func (g *graph) nodes() int { return g.first[len(g.first)-1] }

// instance returns the instance of a node.
func (g *graph) instance(node int32) int {
	at, found := slices.BinarySearch(g.first, int(node))
	for found && at+1 < len(g.first) && g.first[at+1] == int(node) { // instances without nodes
		at++
	}
	if !found {
		at--
	}
	return at
}

func (g *graph) nodeName(node int32) string {
	at := g.instance(node)
	return fmt.Sprintf("%s[%d]", g.doc.Instances[at].Name, int(node)-g.first[at])
}

// endName returns an end as an endpoint selects it, such as host[0].cx5[1].port[0].
func (g *graph) endName(e end) string {
	r, index := g.paths[e.route], int(e.index)
	steps := strings.Split(r.name, ".")
	for i := len(steps) - 1; i >= 0; i-- {
		steps[i] = fmt.Sprintf("%s[%d]", steps[i], index%r.counts[i])
		index /= r.counts[i]
	}
	return g.nodeName(e.node) + "." + strings.Join(steps, ".")
}

// slice is what an endpoint selects of a list of count.
type slice struct{ start, size, step, count int }

// selection is an endpoint: the nodes and the components that it selects, the last of which
// varies fastest.
type selection struct {
	first int // node
	route int32
	parts []slice // of the instance, then of each component
	size  int
}

// at returns the i-th end of the selection.
func (s *selection) at(i int) end {
	e := end{route: s.route}
	scale := 1
	for p := len(s.parts) - 1; p >= 0; p-- {
		part := &s.parts[p]
		index := part.start + i%part.size*part.step
		i /= part.size
		if p == 0 {
			e.node = int32(s.first + index)
		} else {
			e.index += int32(index * scale)
			scale *= part.count
		}
	}
	return e
}

// join expands an edge. The text of an error begins with the member that is wrong.
func (g *graph) join(e edge) error {
	a, err := g.selected(e.Ep1)
	if err != nil {
		return fmt.Errorf(".ep1%w", err)
	}
	b, err := g.selected(e.Ep2)
	if err != nil {
		return fmt.Errorf(".ep2%w", err)
	}
	at, there := g.links[e.Link]
	if !there {
		return fmt.Errorf(".link: there is no link '%.64s'", e.Link)
	}
	count, across := min(a.size, b.size), 1
	switch e.Scheme {
	case oneToOne: // ends beyond the shorter of the two are not joined
	case manyToMany:
		count, across = a.size, b.size
	default:
		return fmt.Errorf(".scheme: '%.64s' is not read; only %s and %s are", e.Scheme, oneToOne, manyToMany)
	}
	if count > (maxLinks-len(g.edges))/max(across, 1) {
		return fmt.Errorf(": there are more than %d links", maxLinks)
	}
	for i := range count {
		for j := range across {
			other := b.at(i + j)
			if e.Scheme == manyToMany {
				other = b.at(j)
			}
			g.edges = append(g.edges, joint{a.at(i), other, int32(at)})
		}
	}
	return nil
}

// selected reads an endpoint such as host[0:4] and cx5[0].port[1].
func (g *graph) selected(e endpoint) (selection, error) {
	name, within, _ := strings.Cut(e.Instance, "[")
	at, there := g.instances[name]
	if !there {
		return selection{}, fmt.Errorf(".instance: there is no instance '%.64s'", name)
	}
	of := g.doc.Instances[at]
	nodes, err := sliced(within, e.Instance, of.Count)
	if err != nil {
		return selection{}, fmt.Errorf(".instance: %w", err)
	}
	s := selection{first: g.first[at], parts: []slice{nodes}, size: nodes.size}
	steps := strings.Split(e.Component, ".")
	if len(steps) > maxPath {
		return s, fmt.Errorf(".component: '%.64s' has more than %d steps", e.Component, maxPath)
	}
	taken, positions, counts := []string{}, []int{}, []int{}
	scale := 1
	for i, step := range steps {
		name, within, _ := strings.Cut(step, "[")
		d := &g.doc.Devices[g.devices[of.Device]]
		if i > 0 {
			held, there := g.devices[taken[i-1]]
			if !there {
				return s, fmt.Errorf(".component: '%.64s' is not a device, so it has no '%.64s'", taken[i-1], name)
			}
			d = &g.doc.Devices[held]
		}
		position := slices.IndexFunc(d.Components, func(c component) bool { return c.Name == name })
		if position < 0 {
			return s, fmt.Errorf(".component: device '%.64s' has no component '%.64s'", d.Name, name)
		}
		c := d.Components[position]
		if i < len(steps)-1 && c.Choice != choiceDevice {
			return s, fmt.Errorf(".component: '%.64s' is not a device, so it has no '%.64s'", name, steps[i+1])
		}
		part, err := sliced(within, step, c.Count)
		if err != nil {
			return s, fmt.Errorf(".component: %w", err)
		}
		if scale *= max(c.Count, 1); scale > maxCount || s.size*part.size > maxInstances*16 {
			return s, fmt.Errorf(".component: '%.64s' selects too many components", e.Component)
		}
		s.parts, s.size = append(s.parts, part), s.size*part.size
		taken, positions, counts = append(taken, name), append(positions, position), append(counts, c.Count)
	}
	s.route = g.routed(of.Device, route{strings.Join(taken, "."), positions, counts})
	return s, nil
}

func (g *graph) routed(device string, r route) int32 {
	key := device + "\x00" + r.name
	at, known := g.known[key]
	if !known {
		at = int32(len(g.paths))
		g.known[key], g.paths = at, append(g.paths, r)
	}
	return at
}

// sliced reads what follows the bracket of an endpoint: 2], 0:4], :4], 0:8:2] or nothing,
// which is everything.
func sliced(within, whole string, count int) (slice, error) {
	if within == "" && !strings.Contains(whole, "[") {
		return slice{0, count, 1, count}, nil
	}
	inside, closed := strings.CutSuffix(within, "]")
	bounds := strings.Split(inside, ":")
	values := [3]int{0, count, 1}
	ok := closed && len(bounds) <= len(values)
	for i := 0; ok && i < len(bounds); i++ {
		if bounds[i] == "" && len(bounds) > 1 {
			continue
		}
		var err error
		values[i], err = strconv.Atoi(bounds[i])
		ok = err == nil && values[i] >= 0
	}
	if len(bounds) == 1 {
		values[1] = values[0] + 1
	}
	if !ok || values[2] < 1 || values[0] > values[1] {
		return slice{}, fmt.Errorf("'%.64s' must be a name, or a name with an index or a slice such as [2], [0:4] or [0:8:2]", whole)
	}
	if values[1] > count {
		return slice{}, fmt.Errorf("'%.64s' is out of range: there are %d", whole, count)
	}
	return slice{values[0], (values[1] - values[0] + values[2] - 1) / values[2], values[2], count}, nil
}
