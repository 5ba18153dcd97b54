package engine

// spread divides the loads that resources carried since the last report among links: a
// link keeps its own load, and a bundle's load goes to its links in proportion to their
// rates or, if only some switches spray, as spreadMixed says. The parts add up to the
// whole.
func (e *engine) spread() {
	c := &e.cover
	f := e.fabric
	if e.spreading != sprayed {
		for d := range c.bits {
			c.bits[d], c.packets[d] = e.resources[d].carried.bits, e.resources[d].carried.packets
		}
	}
	switch e.spreading {
	case sprayed:
		for i := range f.Bundles {
			for down := range 2 {
				e.share(f.Bundles[i].Links, down, e.resources[2*i+down].carried)
			}
		}
	case mixed:
		e.spreadMixed()
	}
	for h := range e.resources {
		e.resources[h].carried = load{}
	}
}

// share divides a load among the links of a bundle in proportion to their rates.
func (e *engine) share(links []int32, down int, l load) {
	c := &e.cover
	var rate uint64
	for _, id := range links {
		rate += uint64(e.fabric.Links[id].Rate)
	}
	for _, id := range links {
		own := uint64(e.fabric.Links[id].Rate)
		part := load{int64(mulDiv(uint64(l.bits), own, rate)), int64(mulDiv(uint64(l.packets), own, rate))}
		d := 2*int(id) + down
		c.bits[d], c.packets[d] = part.bits, part.packets
		l = l.minus(part)
		rate -= own
	}
}

// spreadMixed divides sprayed loads among links, in proportion to what hashed flows
// left free. A bundle's load includes those of its links and groups, and what was
// sprayed over the whole of it.
func (e *engine) spreadMixed() {
	f := e.fabric
	rest := make([]load, 2*len(f.Bundles))
	for i := range rest {
		rest[i] = e.resources[int(f.Bundle0())+i].carried
	}
	for d := range 2 * len(f.Links) {
		b := 2*int(f.Links[d/2].Bundle) + d%2
		rest[b] = rest[b].minus(e.resources[d].carried)
	}
	for i, g := range e.routes.Groups() {
		carried := e.resources[int(f.Group0())+i].carried
		b := 2*int(f.Links[g.Links[0]/2].Bundle) + int(g.Links[0]%2)
		rest[b] = rest[b].minus(carried)
		e.fillUp(g.Links, carried)
	}
	var directed []int32
	for b, l := range rest {
		directed = directed[:0]
		for _, id := range f.Bundles[b/2].Links {
			directed = append(directed, 2*id+int32(b%2))
		}
		e.fillUp(directed, l)
	}
}

// fillUp adds a load to directed links in proportion to what they have free.
func (e *engine) fillUp(links []int32, l load) {
	if l.bits <= 0 {
		return // nothing is left, or a single link has counted it
	}
	c := &e.cover
	room := func(d int32) uint64 {
		all := mulDiv(uint64(e.fabric.Links[d/2].Rate), uint64(e.now-c.start), picoseconds)
		return max(all, uint64(c.bits[d])+1) - uint64(c.bits[d])
	}
	var left uint64
	for _, d := range links {
		left += room(d)
	}
	for _, d := range links {
		own := room(d)
		part := load{int64(mulDiv(uint64(l.bits), own, left)), int64(mulDiv(uint64(l.packets), own, left))}
		c.bits[d] += part.bits
		c.packets[d] += part.packets
		l = l.minus(part)
		left -= own
	}
}
