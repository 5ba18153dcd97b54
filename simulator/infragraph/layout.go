package infragraph

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"netsim/simulator/topology"
)

// defaultRate is the rate of a link without a bandwidth, in bit/s: the default of the
// catalogue's models. topology has the default delays.
const defaultRate = 400e9

// wire is an edge whose lower end is known.
type wire struct {
	lower, upper end
	rate, delay  int64 // bit/s, ps
}

// fabric is a graph that was divided into racks and pods.
type fabric struct {
	*graph
	tier   []int8
	wires  []wire  // by lower end
	down   []int64 // by node: the highest rate of a switch's links to the tier below
	layout topology.Layout
	notes  *notes

	placed, servers []int32 // the nodes of the layout's switches, and of its servers
}

// arranged finds the layout of a graph.
func arranged(g *graph, n *notes) (*fabric, error) {
	tier, err := g.tiers()
	if err != nil {
		return nil, err
	}
	if err := g.singlePorts(tier); err != nil {
		return nil, err
	}
	f := &fabric{graph: g, tier: tier, notes: n}
	if err := f.wire(); err != nil {
		return nil, err
	}
	return f, f.arrange()
}

// wire orders the edges and reads the rates and delays of their links.
func (f *fabric) wire() error {
	assumed := map[string]bool{}
	for _, e := range f.edges {
		w := wire{lower: e.a, upper: e.b}
		if f.tier[e.a.node] > f.tier[e.b.node] {
			w.lower, w.upper = e.b, e.a
		}
		assumption, err := w.measure(&f.doc.Links[e.link], f.tier[w.lower.node] == 0)
		if err != nil {
			return err
		}
		if assumption != "" && !assumed[assumption] {
			assumed[assumption] = true
			f.notes.add("%s", assumption)
		}
		f.wires = append(f.wires, w)
	}
	slices.SortStableFunc(f.wires, func(a, b wire) int {
		if a.lower.node != b.lower.node {
			return cmp.Compare(a.lower.node, b.lower.node)
		}
		if a.lower.route != b.lower.route {
			return slices.Compare(f.paths[a.lower.route].positions, f.paths[b.lower.route].positions)
		}
		return cmp.Compare(a.lower.index, b.lower.index)
	})
	return nil
}

// measure reads the rate and the delay of a link. It returns what it assumes, because the link
// has no bandwidth or no latency.
func (w *wire) measure(l *link, ofServer bool) (assumed string, err error) {
	var p physical
	if l.Physical != nil {
		p = *l.Physical
	}
	var missing []string
	switch p.Bandwidth.choice {
	case "":
		w.rate = defaultRate
		missing = append(missing, fmt.Sprintf("bandwidth: %d Gbit/s is assumed", int64(defaultRate/1e9)))
	case "gigatransfers_per_second":
		return "", fmt.Errorf("link '%.64s' has a bandwidth in gigatransfers_per_second, which is no rate; give it in gigabits_per_second", l.Name)
	case "gigabytes_per_second":
		w.rate = int64(math.Round(p.Bandwidth.number * 8e9))
	default:
		w.rate = int64(math.Round(p.Bandwidth.number * 1e9))
	}
	if w.rate < 1e6 || w.rate > 10e12 {
		return "", fmt.Errorf("link '%.64s' has a bandwidth of %g %s; netsim has rates from 1 Mbit/s to 10 Tbit/s", l.Name, p.Bandwidth.number, p.Bandwidth.choice)
	}
	switch p.Latency.choice {
	case "":
		w.delay = topology.SwitchDelay
		if ofServer {
			w.delay = topology.NICDelay
		}
		missing = append(missing, fmt.Sprintf("latency: %d ns is assumed", w.delay/1000))
	case "ms":
		w.delay = int64(math.Round(p.Latency.number * 1e9))
	case "us":
		w.delay = int64(math.Round(p.Latency.number * 1e6))
	default:
		w.delay = int64(math.Round(p.Latency.number * 1e3))
	}
	if w.delay < 0 || w.delay > 1e12 {
		return "", fmt.Errorf("link '%.64s' has a latency of %g %s; netsim has delays up to 1 s", l.Name, p.Latency.number, p.Latency.choice)
	}
	if len(missing) > 0 {
		assumed = fmt.Sprintf("link %.64s has no %s", l.Name, strings.Join(missing, " and no "))
	}
	return assumed, nil
}

// above returns the links of a node to the next tier.
func (f *fabric) above(node int32) []wire {
	from, _ := slices.BinarySearchFunc(f.wires, node, func(w wire, n int32) int { return cmp.Compare(w.lower.node, n) })
	to := from
	for to < len(f.wires) && f.wires[to].lower.node == node {
		to++
	}
	return f.wires[from:to]
}

// group has the switches and the servers of a rack, or the switches and the racks of a pod.
type group struct{ switches, members []int32 }

// groups are racks or pods by their representatives, in the order of the document.
type groups struct {
	sets
	of    map[int32]*group
	order []int32
}

func newGroups(nodes int) *groups { return &groups{sets: newSets(nodes), of: map[int32]*group{}} }

// holding returns the group of a node.
func (g *groups) holding(node int32) *group {
	r := g.root(node)
	if g.of[r] == nil {
		g.of[r], g.order = &group{}, append(g.order, r)
	}
	return g.of[r]
}

// arrange divides the nodes into racks and pods, in the order of their switches in the
// document, and makes the layout of them.
func (f *fabric) arrange() error {
	racks, pods := newGroups(len(f.tier)), newGroups(len(f.tier))
	linked := make([]bool, len(f.tier))
	f.down = make([]int64, len(f.tier))
	top := int8(0)
	for _, w := range f.wires {
		tier := f.tier[w.upper.node]
		top = max(top, tier)
		linked[w.lower.node], linked[w.upper.node] = true, true
		f.down[w.upper.node] = max(f.down[w.upper.node], w.rate)
		if tier == 1 {
			racks.join(w.lower.node, w.upper.node)
		}
		if tier <= 2 {
			pods.join(w.lower.node, w.upper.node)
		}
	}
	if top == 0 {
		return errors.New("no edge joins a server with a switch; a device with an xpu or a nic is a server")
	}
	unlinked := make([]int, len(f.doc.Instances))
	var spine, servers []int32
	for node, tier := range f.tier {
		n := int32(node)
		switch {
		case !linked[n]:
			unlinked[f.instance(n)]++
		case tier == 0:
			servers = append(servers, n)
		case tier == 1:
			r := racks.holding(n)
			r.switches = append(r.switches, n)
		case tier == 2:
			p := pods.holding(n)
			p.switches = append(p.switches, n)
		case tier == 3:
			spine = append(spine, n)
		}
	}
	for i, count := range unlinked {
		if count > 0 {
			f.notes.add("instance %.64s: %d of %d without an edge are left out", f.doc.Instances[i].Name, count, f.doc.Instances[i].Count)
		}
	}
	for _, n := range servers { // the first link of a server leads to a switch of its rack
		r := racks.holding(n)
		r.members = append(r.members, n)
	}
	for _, r := range racks.order {
		p := pods.holding(r)
		p.members = append(p.members, r)
	}
	return f.place(spine, racks, pods, top)
}

// place makes the layout. Its switches and servers get their order.
func (f *fabric) place(spine []int32, racks, pods *groups, top int8) (err error) {
	if f.layout.Spine, err = f.switches(spine); err != nil {
		return err
	}
	for _, p := range pods.order {
		var pod topology.Pod
		if pod.Switches, err = f.switches(pods.of[p].switches); err != nil {
			return err
		}
		for _, r := range pods.of[p].members {
			var rack topology.Rack
			if rack.Switches, err = f.switches(racks.of[r].switches); err != nil {
				return err
			}
			for _, n := range racks.of[r].members {
				server, err := f.asServer(n, racks.of[r].switches)
				if err != nil {
					return err
				}
				rack.Servers, f.servers = append(rack.Servers, server), append(f.servers, n)
			}
			pod.Racks = append(pod.Racks, rack)
		}
		if top == 1 {
			f.layout.Racks = append(f.layout.Racks, pod.Racks...)
		} else {
			f.layout.Pods = append(f.layout.Pods, pod)
		}
	}
	return nil
}

func (f *fabric) switches(nodes []int32) (made []topology.Switch, err error) {
	for _, n := range nodes {
		s, err := f.asSwitch(n)
		if err != nil {
			return nil, err
		}
		made, f.placed = append(made, s), append(f.placed, n)
	}
	return made, nil
}

// asSwitch returns a switch of the layout. A port has the highest rate of the links in its
// direction, so each link has the lower rate of its two ends.
func (f *fabric) asSwitch(n int32) (topology.Switch, error) {
	up, down := f.above(n), f.down[n]
	s := topology.Switch{
		Component: entity(f.doc.Instances[f.instance(n)].Name), UpLinks: len(up), DownRate: down, UpLinkDelay: topology.SwitchDelay,
	}
	for i, w := range up {
		s.UpRate, s.UpLinkDelay = max(s.UpRate, w.rate), w.delay
		if w.delay != up[0].delay {
			return s, f.uneven(up[0], up[i])
		}
	}
	if len(up) == 0 {
		s.UpRate = down
	} else if down == 0 {
		s.DownRate = s.UpRate
	}
	return s, nil
}

func (f *fabric) uneven(a, b wire) error {
	return fmt.Errorf("%s and %s have links with different latencies, %d and %d ps; in netsim the links of a NIC, or of a switch upwards, have one", f.endName(a.lower), f.endName(b.lower), a.delay, b.delay)
}

// asServer returns a server of the layout. Each of its NICs must have one link to every switch
// of the rack.
func (f *fabric) asServer(n int32, switches []int32) (topology.Server, error) {
	s := topology.Server{Component: entity(f.doc.Instances[f.instance(n)].Name)}
	for up := f.above(n); len(up) > 0; {
		same := 1
		for same < len(up) && up[same].lower == up[0].lower {
			same++
		}
		links := up[:same]
		up = up[same:]
		nic := topology.NIC{Component: entity(f.paths[links[0].lower.route].name), Delay: links[0].delay}
		to := make(map[int32]bool, len(links))
		for _, w := range links {
			nic.Rate = max(nic.Rate, w.rate)
			if w.delay != nic.Delay {
				return s, f.uneven(links[0], w)
			}
			if to[w.upper.node] {
				return s, fmt.Errorf("%s has two links to %s; in netsim a NIC has one link to every switch of its rack", f.endName(w.lower), f.nodeName(w.upper.node))
			}
			to[w.upper.node] = true
		}
		for _, other := range switches {
			if !to[other] {
				return s, fmt.Errorf("%s has no link to %s, with which %s shares servers; in netsim a NIC has one link to every switch of its rack", f.endName(links[0].lower), f.nodeName(other), f.nodeName(links[0].upper.node))
			}
		}
		s.NICs = append(s.NICs, nic)
	}
	return s, nil
}
