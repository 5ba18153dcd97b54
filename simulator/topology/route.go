package topology

import "netsim/simulator/splitmix"

// MaxHops is the length of the longest path: NIC, RSW, FSW, SSW and down again.
const MaxHops = 6

// Routes finds paths through a fabric. A switch either hashes or sprays: it picks
// one of its equal-cost links by a hash of the pair of NICs, or spreads packets
// over all of them.
//
// Routes caches what it computes for a destination. It is not safe for concurrent use.
type Routes struct {
	fabric  *Fabric
	choices []choice  // by node
	reach   [][]uint8 // by destination rack, then by switch; filled on first use
	groups  []Group
	groupOf []int32 // by directed link: the resource over which its sender sprays
}

// choice is how a node picks one of several links.
type choice struct {
	salt  uint64
	plain bool // hash by mixPlain instead of splitmix.Mix
	spray bool
	turn  int8 // index in Pair.Turns, or none
}

// Method says how a switch uses equal-cost links. The zero value is a salted
// hash that keeps a pair on its path.
type Method struct {
	Plain    bool // another hash function of the same quality (hash instead of crc32)
	Unsalted bool // all unsalted switches make the same choice for a pair, so tiers polarise
	Spray    bool // packets spread over all links
	Turn     int8 // if positive, the hash also depends on Pair.Turns[Turn-1]
}

// Pair is the two ends of a path.
type Pair struct {
	Src, Dst       int32    // hosts
	SrcNIC, DstNIC int32    // numbers of their NICs
	Turns          []uint32 // a change of an element reroutes the pair, see Method.Turn
}

// key returns the value that switches hash.
func (p *Pair) key() uint64 {
	return uint64(p.Src)<<32 | uint64(p.Dst) ^ uint64(p.SrcNIC)<<56 ^ uint64(p.DstNIC)<<24
}

// An entry of a reach table has the number of hops from a switch to a switch of the
// rack, and the flag downwards if all of them descend. A path climbs until it can
// descend.
const (
	downwards   = 0x80
	unreachable = 0x7f
)

// NewRoutes prepares routing over the fabric. methods is indexed by switch; switches
// beyond its end use the zero Method. Salts are drawn from the seed.
func NewRoutes(f *Fabric, seed uint64, methods []Method) *Routes {
	r := &Routes{fabric: f, choices: make([]choice, len(f.Nodes)), reach: make([][]uint8, len(f.racks))}
	for i := range r.choices {
		c := choice{salt: splitmix.Next(&seed), turn: none}
		if i < len(methods) {
			m := methods[i]
			c.plain, c.spray, c.turn = m.Plain, m.Spray, m.Turn-1
			if m.Unsalted {
				c.salt = 0
			}
		}
		r.choices[i] = c
	}
	return r
}

// hash returns the node's hash of the pair.
func (r *Routes) hash(node int32, key uint64, p *Pair) uint64 {
	c := &r.choices[node]
	if c.turn >= 0 && int(c.turn) < len(p.Turns) && p.Turns[c.turn] > 0 {
		key ^= splitmix.Mix(uint64(p.Turns[c.turn]))
	}
	if c.plain {
		return mixPlain(key ^ c.salt)
	}
	return splitmix.Mix(key ^ c.salt)
}

// ECMP appends the directed links that flows of the pair take. It appends
// nothing when there is no path.
func (r *Routes) ECMP(path []int32, p *Pair) []int32 {
	f := r.fabric
	from, to := &f.Hosts[p.Src], &f.Hosts[p.Dst]
	reach := r.toRack(to.Rack)
	key := p.key()
	start := len(path)

	links := f.Bundles[from.Bundle+p.SrcNIC].Links
	hops := nearest(f, links, reach)
	if hops == unreachable {
		return path
	}
	link := r.nextUp(links, reach, hops, r.hash(from.Server, key, p))
	path = append(path, 2*link)
	node := f.Links[link].Upper
	for ; hops > 0; hops-- {
		d := r.next(node, reach, hops-1, r.hash(node, key, p))
		path = append(path, d)
		node = f.entered(d)
		if len(path)-start == MaxHops {
			return path[:start]
		}
	}
	return append(path, 2*r.toNIC(to.Bundle+p.DstNIC, node, r.hash(node, key, p))+1)
}

// nearest returns the smallest number of hops from an upper end of the links to the rack.
func nearest(f *Fabric, links []int32, reach []uint8) uint8 {
	hops := uint8(unreachable)
	for _, l := range links {
		hops = min(hops, reach[f.Links[l].Upper]&^downwards)
	}
	return hops
}

// entered returns the node to which a directed link leads.
func (f *Fabric) entered(directed int32) int32 {
	if l := &f.Links[directed/2]; directed%2 == 0 {
		return l.Upper
	} else {
		return l.Lower
	}
}

// next picks the directed link on which a pair leaves a switch.
func (r *Routes) next(node int32, reach []uint8, hops uint8, hash uint64) int32 {
	f := r.fabric
	if reach[node]&downwards == 0 {
		return 2 * r.nextUp(f.up.of(node), reach, hops, hash)
	}
	return 2*r.nextDown(f.down.of(node), reach, hops, hash) + 1
}

// Spray appends the directed bundles that sprayed flows of the pair spread
// over. It appends nothing when there is no path.
func (r *Routes) Spray(path []int32, p *Pair) []int32 {
	f := r.fabric
	from, to := &f.Hosts[p.Src], &f.Hosts[p.Dst]
	path = append(path, 2*(from.Bundle+p.SrcNIC))
	if from.Rack != to.Rack {
		before := len(path)
		if path = r.stages(path, from.Rack, to.Rack); len(path) == before {
			return path[:before-1]
		}
	}
	return append(path, 2*(to.Bundle+p.DstNIC)+1)
}

// stages appends the directed bundles between two racks.
func (r *Routes) stages(path []int32, from, to int32) []int32 {
	f := r.fabric
	a, b := &f.racks[from], &f.racks[to]
	if a.bundle == none || b.bundle == none {
		return path
	}
	start := len(path)
	path = append(path, 2*a.bundle)
	samePod := a.pod == b.pod
	if !samePod && a.pod != none {
		path = append(path, 2*f.pods[a.pod])
	}
	if !samePod && b.pod != none {
		path = append(path, 2*f.pods[b.pod]+1)
	}
	path = append(path, 2*b.bundle+1)
	for _, d := range path[start:] {
		if d < 0 || len(f.Bundles[d/2].Links) == 0 {
			return path[:start] // a stage without a link
		}
	}
	return path
}

// nextUp picks one of the links whose upper end is this many hops from the destination.
func (r *Routes) nextUp(links []int32, reach []uint8, hops uint8, hash uint64) int32 {
	all := r.fabric.Links
	n := 0
	for _, l := range links {
		if reach[all[l].Upper]&^downwards == hops {
			n++
		}
	}
	k := splitmix.Below(hash, n)
	for _, l := range links {
		if reach[all[l].Upper]&^downwards != hops {
			continue
		}
		if k == 0 {
			return l
		}
		k--
	}
	panic("topology: no link leads to the next hop of the reach table")
}

// nextDown picks one of the links whose lower end is this many hops from the destination.
func (r *Routes) nextDown(links []int32, reach []uint8, hops uint8, hash uint64) int32 {
	all := r.fabric.Links
	n := 0
	for _, l := range links {
		if lower := all[l].Lower; int(lower) < len(reach) && reach[lower] == hops|downwards {
			n++
		}
	}
	k := splitmix.Below(hash, n)
	for _, l := range links {
		if lower := all[l].Lower; int(lower) >= len(reach) || reach[lower] != hops|downwards {
			continue
		}
		if k == 0 {
			return l
		}
		k--
	}
	panic("topology: no link leads to the next hop of the reach table")
}

// toNIC picks one of the links between a rack switch and the NIC of the bundle.
func (r *Routes) toNIC(bundle, rackSwitch int32, hash uint64) int32 {
	links := r.fabric.Bundles[bundle].Links
	n := 0
	for _, l := range links {
		if r.fabric.Links[l].Upper == rackSwitch {
			n++
		}
	}
	k := splitmix.Below(hash, n)
	for _, l := range links {
		if r.fabric.Links[l].Upper != rackSwitch {
			continue
		}
		if k == 0 {
			return l
		}
		k--
	}
	panic("topology: a rack switch has no link to a NIC of its rack")
}

// toRack returns the reach table of the destination rack.
func (r *Routes) toRack(rack int32) []uint8 {
	if r.reach[rack] != nil {
		return r.reach[rack]
	}
	f := r.fabric
	table := make([]uint8, f.Switches())
	for i := range table {
		table[i] = unreachable
	}
	edge := f.racks[rack].switches
	for _, s := range edge {
		table[s] = downwards
	}
	for hops := uint8(1); len(edge) > 0; hops++ { // upwards from the rack
		var above []int32
		for _, s := range edge {
			for _, l := range f.up.of(s) {
				if u := f.Links[l].Upper; table[u] == unreachable {
					table[u] = hops | downwards
					above = append(above, u)
				}
			}
		}
		edge = above
	}
	for tier := uint8(TierFSW); tier <= TierRSW; tier++ { // the other switches climb first
		for s := range table {
			if f.Nodes[s].Tier != tier || table[s] != unreachable {
				continue
			}
			for _, l := range f.up.of(int32(s)) {
				if above := table[f.Links[l].Upper] &^ downwards; above != unreachable {
					table[s] = min(table[s], above+1)
				}
			}
		}
	}
	r.reach[rack] = table
	return table
}

// mixPlain is MurmurHash3's finalizer. It is as good a hash as splitmix.Mix.
func mixPlain(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
