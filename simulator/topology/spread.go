package topology

import "slices"

// Group is the part of a bundle over which one switch sprays. It has only the links of
// that switch; the bundle also has those of other switches.
type Group struct {
	Links   []int32 // directed
	Rate    int64   // bit/s, the sum over its links
	MinRate int64   // bit/s, of the slowest link
	Delay   int64   // ps, of the longest link
}

// If some switches spray and others hash, a path is a list of resources. Resources are
// numbered: directed links first (2·link or 2·link+1), then directed bundles, then groups.

// Bundle0 is the number of the first directed bundle among the resources.
func (f *Fabric) Bundle0() int32 { return int32(2 * len(f.Links)) }

// Group0 is the number of the first group among the resources.
func (f *Fabric) Group0() int32 { return int32(2 * (len(f.Links) + len(f.Bundles))) }

// Groups returns the groups of the fabric, except single links and whole bundles, which are
// resources already.
func (r *Routes) Groups() []Group {
	if r.groupOf == nil {
		r.groupOf = make([]int32, 2*len(r.fabric.Links))
		for b := range r.fabric.Bundles {
			r.group(int32(b), 0, func(l *Link) int32 { return l.Lower })
			r.group(int32(b), 1, func(l *Link) int32 { return l.Upper })
		}
	}
	return r.groups
}

// group divides a directed bundle by the switches that send into it.
func (r *Routes) group(bundle, down int32, sender func(*Link) int32) {
	f := r.fabric
	links := slices.Clone(f.Bundles[bundle].Links)
	slices.SortStableFunc(links, func(a, b int32) int { return int(sender(&f.Links[a]) - sender(&f.Links[b])) })
	for len(links) > 0 {
		n := 1
		for n < len(links) && sender(&f.Links[links[n]]) == sender(&f.Links[links[0]]) {
			n++
		}
		id := 2*links[0] + down
		switch {
		case n == len(f.Bundles[bundle].Links):
			id = r.whole(2*bundle + down)
		case n > 1:
			id = f.Group0() + int32(len(r.groups))
			r.groups = append(r.groups, f.groupOf(links[:n], down))
		}
		for _, l := range links[:n] {
			r.groupOf[2*l+down] = id
		}
		links = links[n:]
	}
}

func (f *Fabric) groupOf(links []int32, down int32) Group {
	g := Group{MinRate: f.Links[links[0]].Rate}
	for _, id := range links {
		l := &f.Links[id]
		g.Links = append(g.Links, 2*id+down)
		g.Rate += l.Rate
		g.MinRate = min(g.MinRate, l.Rate)
		g.Delay = max(g.Delay, l.Delay)
	}
	return g
}

// whole returns the resource of a directed bundle: its link if it has only one.
func (r *Routes) whole(directed int32) int32 {
	if links := r.fabric.Bundles[directed/2].Links; len(links) == 1 {
		return 2*links[0] + directed%2
	}
	return r.fabric.Bundle0() + directed
}

// Mixed appends to path the resources of the pair's flows, one for each hop. To bounds it
// appends the bundles that they also use: a flow on a link or group takes capacity from the
// whole bundle, which sprayed flows share. Sprayed traffic stays spread until its links
// meet in one switch. Mixed appends nothing if there is no path. Groups must be called
// first.
func (r *Routes) Mixed(path, bounds []int32, p *Pair) ([]int32, []int32) {
	f := r.fabric
	from, to := &f.Hosts[p.Src], &f.Hosts[p.Dst]
	reach := r.toRack(to.Rack)
	links := f.Bundles[from.Bundle+p.SrcNIC].Links
	hops := nearest(f, links, reach)
	if hops > MaxHops-2 {
		return path, bounds
	}
	var buffer [MaxHops]int32
	between := buffer[:0]
	if from.Rack != to.Rack {
		between = r.stages(between, from.Rack, to.Rack)
	}
	regular := int(hops) == len(between) // otherwise bundles do not describe the path
	key := p.key()

	node, spread := int32(none), false
	step := func(directed, resource int32) {
		whole := r.whole(2*f.Links[directed/2].Bundle + directed%2)
		path = append(path, resource)
		if resource != whole {
			bounds = append(bounds, whole)
		}
		spread = resource != directed
		node = f.entered(directed)
	}
	link := r.nextUp(links, reach, hops, r.hash(from.Server, key, p))
	if regular && r.choices[f.Links[link].Upper].spray {
		step(2*link, r.groupOf[2*link])
	} else {
		step(2*link, 2*link)
	}
	for i := range int(hops) {
		if spread {
			path = append(path, r.whole(between[i]))
			continue
		}
		d := r.next(node, reach, hops-1-uint8(i), r.hash(node, key, p))
		if regular && r.choices[node].spray {
			step(d, r.groupOf[d])
		} else {
			step(d, d)
		}
	}
	rack := f.racks[to.Rack].switches
	if spread && len(rack) > 1 {
		return append(path, r.whole(2*(to.Bundle+p.DstNIC)+1)), bounds
	}
	if spread {
		node = rack[0]
	}
	d := 2*r.toNIC(to.Bundle+p.DstNIC, node, r.hash(node, key, p)) + 1
	step(d, d)
	return path, bounds
}
