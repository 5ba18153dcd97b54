package topology

import "testing"

// TestReserve: Build grows no slice of the fabric. It reserves exactly the nodes,
// hosts and links, and at most one bundle too many for each rack and pod.
func TestReserve(t *testing.T) {
	t.Parallel()
	list := func(n, up, per int) []Switch {
		switches := make([]Switch, n)
		for i := range switches {
			switches[i] = Switch{Component: "s", UpLinks: up, PerUpper: per, UpRate: 1, DownRate: 1}
		}
		return switches
	}
	rack := func(switches []Switch, servers, nics int) Rack {
		r := Rack{Switches: switches, Servers: make([]Server, servers)}
		for i := range r.Servers {
			r.Servers[i] = Server{Component: "h", NICs: make([]NIC, nics)}
		}
		return r
	}
	for name, l := range map[string]Layout{
		"one rack":              {Racks: []Rack{rack(list(1, 4, 0), 3, 1)}},
		"one pod":               {Pods: []Pod{{Switches: list(3, 4, 0), Racks: []Rack{rack(list(2, 5, 0), 3, 2), rack(list(1, 0, 2), 1, 1)}}}},
		"three tiers":           {Spine: list(2, 0, 0), Pods: []Pod{{Switches: list(3, 5, 0), Racks: []Rack{rack(list(1, 7, 0), 2, 1)}}, {Switches: list(1, 0, 3), Racks: []Rack{rack(list(1, 1, 0), 2, 3)}}}},
		"a mesh":                {Spine: list(2, 0, 0), Mesh: true, LinksPerPair: 2, Pods: []Pod{{Switches: list(3, 5, 0), Racks: []Rack{rack(list(1, 7, 0), 2, 1)}}}},
		"racks below the spine": {Spine: list(4, 0, 0), Racks: []Rack{rack(list(1, 7, 0), 2, 1), rack(list(2, 1, 0), 1, 1)}},
	} {
		f, err := Build(l)
		if err != nil {
			t.Fatal(name, err)
		}
		for what, got := range map[string][2]int{
			"nodes": {len(f.Nodes), cap(f.Nodes)}, "hosts": {len(f.Hosts), cap(f.Hosts)}, "links": {len(f.Links), cap(f.Links)},
		} {
			if got[0] != got[1] {
				t.Errorf("%s: %d %s but a capacity of %d", name, got[0], what, got[1])
			}
		}
		if len(f.Bundles) > cap(f.Bundles) || cap(f.Bundles) > len(f.Bundles)+len(f.racks)+len(f.pods) {
			t.Errorf("%s: %d bundles but a capacity of %d", name, len(f.Bundles), cap(f.Bundles))
		}
		for i := range f.Bundles {
			for _, id := range f.Bundles[i].Links {
				if f.Links[id].Bundle != int32(i) {
					t.Errorf("%s: bundle %d lists link %d of bundle %d", name, i, id, f.Links[id].Bundle)
				}
			}
		}
	}
}
