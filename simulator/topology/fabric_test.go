package topology_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"netsim/simulator/topology"
)

func build(t interface{ Fatal(...any) }, radix, ratio string, ranks int) (*topology.Fabric, topology.Derivation) {
	d, err := topology.Derive(topology.Constraints{SwitchRadix: radix, SubscriptionRatio: ratio}, ranks)
	if err != nil {
		t.Fatal(err)
	}
	f, err := topology.Build(d.Layout())
	if err != nil {
		t.Fatal(err)
	}
	return f, d
}

func drawFabric(t *rapid.T) (*topology.Fabric, topology.Derivation) {
	return build(t, rapid.SampledFrom(topology.Radixes()).Draw(t, "radix"),
		rapid.SampledFrom(topology.Ratios()).Draw(t, "ratio"), rapid.IntRange(1, 5000).Draw(t, "ranks"))
}

// TestBuildDerived: the fabric has as many links as the derivation, and no switch
// has more links than ports. Within a tier, the numbers of parallel links between
// two linked nodes differ by at most one.
func TestBuildDerived(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f, d := drawFabric(t)
		var byTier [topology.TierServer]int
		ports := make([]int, len(f.Nodes))
		pairs := map[[2]int32]int{}
		for _, l := range f.Links {
			byTier[f.Nodes[l.Lower].Tier]++
			ports[l.Lower]++
			ports[l.Upper]++
			pairs[[2]int32{l.Lower, l.Upper}]++
		}
		got := topology.Counts{HostToRsw: byTier[topology.TierNIC], RswToFsw: byTier[topology.TierRSW], FswToSsw: byTier[topology.TierFSW]}
		if got != d.Links {
			t.Fatalf("links %+v, want %+v", got, d.Links)
		}
		limit := d.Resolved.SwitchingCapacityGbps / d.Resolved.SwitchLinkSpeed
		most, fewest := [4]int{}, [4]int{limit, limit, limit, limit}
		for pair, n := range pairs {
			tier := f.Nodes[pair[0]].Tier
			most[tier], fewest[tier] = max(most[tier], n), min(fewest[tier], n)
		}
		for tier := range most {
			if most[tier] > fewest[tier]+1 {
				t.Fatalf("tier %d: from %d to %d parallel links, want a difference of at most 1", tier, fewest[tier], most[tier])
			}
		}
		switches := 0
		for _, tier := range d.Tiers {
			switches += tier.SwitchCount
		}
		if f.Switches() != switches || len(f.Hosts) != d.TotalHosts {
			t.Fatalf("%d switches and %d hosts, want %d and %d", f.Switches(), len(f.Hosts), switches, d.TotalHosts)
		}
		for n := range f.Switches() {
			if ports[n] > limit {
				t.Fatalf("%s has %d links, but only %d ports", f.Nodes[n].Name(), ports[n], limit)
			}
		}
	})
}

// TestRoutes: a path joins its hosts link by link, climbs before it descends, and
// does not depend on the routes computed before it.
func TestRoutes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f, _ := drawFabric(t)
		hosts := rapid.Int32Range(0, int32(len(f.Hosts)-1))
		seed := rapid.Uint64().Draw(t, "seed")
		a, b := topology.NewRoutes(f, seed, nil), topology.NewRoutes(f, seed, nil)
		for range 20 {
			src, dst := hosts.Draw(t, "src"), hosts.Draw(t, "dst")
			if src == dst {
				continue
			}
			b.ECMP(nil, &topology.Pair{Src: dst, Dst: src})
			path := a.ECMP(nil, &topology.Pair{Src: src, Dst: dst})
			if !slices.Equal(path, b.ECMP(nil, &topology.Pair{Src: src, Dst: dst})) {
				t.Fatal("one pair has two different paths")
			}
			at, down := f.Hosts[src].NICs[0], false
			for _, d := range path {
				l := f.Links[d/2]
				from, to := l.Lower, l.Upper
				if d%2 == 1 {
					from, to = to, from
				}
				if from != at || down && d%2 == 0 {
					t.Fatalf("path %v is broken, or climbs again, at %d", path, d)
				}
				at, down = to, d%2 == 1
			}
			if at != f.Hosts[dst].NICs[0] {
				t.Fatalf("path %v ends at %s, want the NIC of host %d", path, f.Nodes[at].Name(), dst)
			}
			if spray := a.Spray(nil, &topology.Pair{Src: src, Dst: dst}); len(spray) != len(path) {
				t.Fatalf("the sprayed path has %d stages, the hashed path %d", len(spray), len(path))
			}
		}
	})
}

// TestNames: node ids and names follow document order, servers last.
func TestNames(t *testing.T) {
	t.Parallel()
	f, _ := build(t, "64x800G", "1:1", 64)
	got := []string{f.Nodes[0].Name(), f.Nodes[1].Name(), f.Nodes[2].Name(), f.Nodes[3].Name(), f.Nodes[66].Name(), f.Nodes[130].Name()}
	want := []string{"fsw-0", "rsw-0", "rsw-1", "nic-0", "nic-63", "server-63"}
	if !slices.Equal(got, want) {
		t.Errorf("names %v, want %v", got, want)
	}
}

// TestECMPSpreads: different pairs use different up-links, and another seed
// changes the choice.
func TestECMPSpreads(t *testing.T) {
	t.Parallel()
	f, _ := build(t, "128x400G", "1:1", 512)
	used := map[int32]bool{}
	changed := 0
	a, b := topology.NewRoutes(f, 1, nil), topology.NewRoutes(f, 2, nil)
	for src := range int32(64) {
		p, q := a.ECMP(nil, &topology.Pair{Src: src, Dst: src + 64}), b.ECMP(nil, &topology.Pair{Src: src, Dst: src + 64})
		used[p[1]] = true
		if p[1] != q[1] {
			changed++
		}
	}
	if len(used) < 32 || changed < 32 {
		t.Errorf("64 flows use %d of 64 up-links and another seed moves %d flows; want at least 32 each", len(used), changed)
	}
}

// TestBuildStored builds a layout that no derivation produces: with two switches
// per rack, NICs of different speeds and a full mesh to the spine.
func TestBuildStored(t *testing.T) {
	t.Parallel()
	sw := func(component string, up int) topology.Switch {
		return topology.Switch{Component: component, UpLinks: up, UpRate: 200e9, DownRate: 400e9, UpLinkDelay: 5}
	}
	server := topology.Server{Component: "host", NICs: []topology.NIC{
		{Component: "fast", Rate: 800e9, Delay: 1}, {Component: "slow", Rate: 100e9, Delay: 2},
	}}
	rack := topology.Rack{Switches: []topology.Switch{sw("leaf", 2), sw("leaf", 2)}, Servers: []topology.Server{server, server}}
	f, err := topology.Build(topology.Layout{
		Spine: []topology.Switch{sw("spine", 0), sw("spine", 0)}, Mesh: true, LinksPerPair: 2,
		Pods: []topology.Pod{
			{Switches: []topology.Switch{sw("agg", 0)}, Racks: []topology.Rack{rack}},
			{Switches: []topology.Switch{sw("agg", 0)}, Racks: []topology.Rack{rack}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Links) != 4*4+4*2+2*4 {
		t.Errorf("%d links, want 32", len(f.Links))
	}
	fast, slow := f.Bundles[f.Hosts[0].Bundle], f.Bundles[f.Hosts[0].Bundle+1]
	if fast.Rate != 2*400e9 || fast.MinRate != 400e9 || fast.Delay != 1 || slow.Rate != 2*100e9 || f.Rate(0) != fast.Rate+slow.Rate {
		t.Errorf("bundles of a server's NICs: fast %+v, slow %+v", fast, slow)
	}
	path := topology.NewRoutes(f, 1, nil).ECMP(nil, &topology.Pair{Dst: 3})
	if len(path) != topology.MaxHops {
		t.Errorf("path %v has %d hops, want %d", path, len(path), topology.MaxHops)
	}
}
