package topology

import "math/bits"

// MaxHops is the longest path there is: NIC, RSW, FSW, SSW and down again.
const MaxHops = 6

// Routes finds paths through a fabric. ECMP picks one of the equal-cost links
// at every node by a hash of the pair of hosts and the node's own salt, drawn
// from the seed; spraying spreads over all of them.
//
// Routes keeps what it has learnt about destinations and is not safe for
// concurrent use.
type Routes struct {
	fabric *Fabric
	salts  []uint64  // by node
	reach  [][]uint8 // by destination rack, then by switch; filled on first use
}

// A switch's entry in reach: the hops from it to a switch of the rack, and
// whether they lead only downwards. A path climbs until it can descend.
const (
	downwards   = 0x80
	unreachable = 0x7f
)

// NewRoutes prepares routing over the fabric.
func NewRoutes(f *Fabric, seed uint64) *Routes {
	r := &Routes{fabric: f, salts: make([]uint64, len(f.Nodes)), reach: make([][]uint8, len(f.racks))}
	for i := range r.salts {
		seed += 0x9e3779b97f4a7c15
		r.salts[i] = mix(seed)
	}
	return r
}

// ECMP appends the directed links that flows from host src to host dst take.
// It appends nothing when there is no path.
func (r *Routes) ECMP(path []int32, src, dst int32) []int32 {
	f := r.fabric
	from, to := &f.Hosts[src], &f.Hosts[dst]
	reach := r.toRack(to.Rack)
	key := uint64(src)<<32 | uint64(dst)
	start := len(path)

	links := f.Bundles[from.Bundle].Links
	hops := uint8(unreachable)
	for _, l := range links {
		hops = min(hops, reach[f.Links[l].Upper]&^downwards)
	}
	if hops == unreachable {
		return path
	}
	link := r.nextUp(links, reach, hops, key^r.salts[from.Server])
	path = append(path, 2*link)
	node := f.Links[link].Upper
	for ; hops > 0; hops-- {
		if reach[node]&downwards == 0 {
			link = r.nextUp(f.up.of(node), reach, hops-1, key^r.salts[node])
			path = append(path, 2*link)
			node = f.Links[link].Upper
		} else {
			link = r.nextDown(f.down.of(node), reach, hops-1, key^r.salts[node])
			path = append(path, 2*link+1)
			node = f.Links[link].Lower
		}
		if len(path)-start == MaxHops {
			return path[:start]
		}
	}
	return append(path, 2*r.toHost(to, node, key^r.salts[node])+1)
}

// Spray appends the directed bundles that sprayed flows from host src to host
// dst spread over. It appends nothing when there is no path.
func (r *Routes) Spray(path []int32, src, dst int32) []int32 {
	f := r.fabric
	from, to := &f.Hosts[src], &f.Hosts[dst]
	a, b := &f.racks[from.Rack], &f.racks[to.Rack]
	path = append(path, 2*from.Bundle)
	if from.Rack != to.Rack {
		if a.bundle == none || b.bundle == none {
			return path[:len(path)-1]
		}
		path = append(path, 2*a.bundle)
		samePod := a.pod == b.pod
		if !samePod && a.pod != none {
			path = append(path, 2*f.pods[a.pod])
		}
		if !samePod && b.pod != none {
			path = append(path, 2*f.pods[b.pod]+1)
		}
		path = append(path, 2*b.bundle+1)
	}
	return append(path, 2*to.Bundle+1)
}

// nextUp picks one of the links whose upper end is hops from the destination.
func (r *Routes) nextUp(links []int32, reach []uint8, hops uint8, hash uint64) int32 {
	all := r.fabric.Links
	n := 0
	for _, l := range links {
		if reach[all[l].Upper]&^downwards == hops {
			n++
		}
	}
	k := pick(hash, n)
	for _, l := range links {
		if reach[all[l].Upper]&^downwards != hops {
			continue
		}
		if k == 0 {
			return l
		}
		k--
	}
	panic("topology: reach names a neighbour that is not there")
}

// nextDown picks one of the links whose lower end is hops from the destination.
func (r *Routes) nextDown(links []int32, reach []uint8, hops uint8, hash uint64) int32 {
	all := r.fabric.Links
	n := 0
	for _, l := range links {
		if lower := all[l].Lower; int(lower) < len(reach) && reach[lower] == hops|downwards {
			n++
		}
	}
	k := pick(hash, n)
	for _, l := range links {
		if lower := all[l].Lower; int(lower) >= len(reach) || reach[lower] != hops|downwards {
			continue
		}
		if k == 0 {
			return l
		}
		k--
	}
	panic("topology: reach names a neighbour that is not there")
}

// toHost picks one of the host's links to a switch of its rack.
func (r *Routes) toHost(h *Host, rackSwitch int32, hash uint64) int32 {
	links := r.fabric.Bundles[h.Bundle].Links
	n := 0
	for _, l := range links {
		if r.fabric.Links[l].Upper == rackSwitch {
			n++
		}
	}
	k := pick(hash, n)
	for _, l := range links {
		if r.fabric.Links[l].Upper != rackSwitch {
			continue
		}
		if k == 0 {
			return l
		}
		k--
	}
	panic("topology: a rack switch without a link to a server of its rack")
}

// toRack returns the rack's reach table.
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
	for tier := uint8(TierFSW); tier <= TierRSW; tier++ { // the others climb first
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

// pick maps a hash evenly to 0…n-1.
func pick(hash uint64, n int) int {
	k, _ := bits.Mul64(mix(hash), uint64(n))
	return int(k)
}

// mix is the finalizer of SplitMix64: every input bit reaches every output bit,
// so that salts really separate the switches' choices.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
