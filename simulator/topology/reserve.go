package topology

// maxReserved bounds each reservation. Validation refuses larger layouts, and their counts
// may have overflowed.
const maxReserved = 1 << 23

// reserve allocates the slices of a fabric at once, so that a large one is not copied
// repeatedly while it grows.
func (b *builder) reserve(l *Layout) {
	var n lengths
	n.switches(l.Spine, 0)
	for i := range l.Pods {
		p := &l.Pods[i]
		n.bundles++
		if l.Mesh {
			n.nodes += len(p.Switches)
			n.links += len(p.Switches) * max(l.LinksPerPair, 1) * len(l.Spine)
		} else {
			n.switches(p.Switches, len(l.Spine))
		}
		for k := range p.Racks {
			n.rack(&p.Racks[k], len(p.Switches))
		}
	}
	for i := range l.Racks {
		n.rack(&l.Racks[i], len(l.Spine))
	}
	for _, count := range []*int{&n.nodes, &n.hosts, &n.nics, &n.links, &n.bundles} {
		*count = min(max(*count, 0), maxReserved)
	}
	f := b.fabric
	f.Nodes, f.Hosts = make([]Node, 0, n.nodes), make([]Host, 0, n.hosts)
	f.Links, f.Bundles = make([]Link, 0, n.links), make([]Bundle, 0, n.bundles)
	b.nics = make([]int32, 0, n.nics)
	b.ids = make([]int32, n.links)
	for i := range b.ids {
		b.ids[i] = int32(i)
	}
}

// lengths has the lengths of the reserved slices.
type lengths struct{ nodes, hosts, nics, links, bundles int }

func (n *lengths) switches(list []Switch, upper int) {
	n.nodes += len(list)
	if upper == 0 {
		return
	}
	for i := range list {
		if s := &list[i]; s.PerUpper > 0 {
			n.links += s.PerUpper * upper
		} else {
			n.links += s.UpLinks
		}
	}
}

func (n *lengths) rack(r *Rack, upper int) {
	n.switches(r.Switches, upper)
	n.bundles++
	for i := range r.Servers {
		nics := len(r.Servers[i].NICs)
		n.nodes += 1 + nics
		n.hosts++
		n.nics += nics
		n.bundles += nics
		n.links += nics * len(r.Switches)
	}
}
