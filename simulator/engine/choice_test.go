package engine_test

import (
	"testing"

	"pgregory.net/rapid"

	"netsim/simulator/collective"
	"netsim/simulator/engine"
	"netsim/simulator/topology"
)

// TestNoChoice: a switch with one link to each of its neighbours has nothing to choose, so
// what it is told to do with equal paths does not change a byte. Of a leaf that is a leaf
// with one up-link, of a spine one with a link to each leaf.
func TestNoChoice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		groups := drawGroups(rt)
		ranks := collective.Ranks(groups)
		spines, parallel := rapid.SampledFrom([]int{1, 2, 4}).Draw(rt, "spines"), rapid.SampledFrom([]int{1, 1, 2}).Draw(rt, "links to each")
		pods := rapid.SampledFrom([]int{1, 1, 2}).Draw(rt, "pods")
		fabric := tree(t, ranks, pods, spines, parallel)
		method := func(tier, name string) engine.Switch {
			return engine.Switch{
				Component: tier, Gap: rapid.SampledFrom([]int64{0, 1_000_000}).Draw(rt, name+" gap"),
				Routing: rapid.SampledFrom([]engine.Routing{engine.ECMP, engine.Spray, engine.Flowlet}).Draw(rt, name),
				Hash:    rapid.SampledFrom([]engine.Hash{engine.CRC32Salted, engine.Plain}).Draw(rt, name+" hash"),
			}
		}
		options := engine.Options{
			Transport: rapid.SampledFrom([]engine.Transport{engine.Trimming, engine.Lossless, engine.Ideal}).Draw(rt, "transport"),
			Interval:  1_000_000, Beacon: 1_000_000,
		}
		chooses := map[string]bool{"leaf": spines*parallel > 1, "spine": parallel > 1, "top": false}
		if pods > 1 && spines > 1 {
			chooses["top"] = true // several of a pod's switches lead to its racks
		}
		runs := [2]string{}
		var switches [2][]engine.Switch
		for _, tier := range []string{"leaf", "spine", "top"} {
			one := method(tier, tier)
			other := one
			if !chooses[tier] {
				other = method(tier, "other "+tier)
			}
			switches[0], switches[1] = append(switches[0], one), append(switches[1], other)
		}
		for i := range runs {
			o := options
			o.Switches = switches[i]
			s, _, _ := record(t.Context(), engine.Input{Fabric: fabric, Groups: groups, Options: o}, nil, nil)
			runs[i] = s.String()
		}
		if runs[0] != runs[1] {
			rt.Errorf("with %+v instead of %+v the run differs", switches[1], switches[0])
		}
	})
}

// tree returns a fabric of racks with four hosts. A leaf has some links to each spine of its
// pod, and if there are several pods, a spine has one link to the top switch.
func tree(t testing.TB, hosts, pods, spines, parallel int) *topology.Fabric {
	t.Helper()
	ports := func(component string, up int) topology.Switch {
		return topology.Switch{Component: component, UpLinks: up, UpRate: 100 * gbps, DownRate: 100 * gbps, UpLinkDelay: 500_000}
	}
	l := topology.Layout{}
	if pods > 1 {
		l.Spine = []topology.Switch{ports("top", 0)}
	}
	racks := max(pods, (hosts+3)/4)
	for p := range pods {
		pod := topology.Pod{}
		for range spines {
			pod.Switches = append(pod.Switches, ports("spine", min(pods-1, 1)))
		}
		for range (racks + pods - 1 - p) / pods {
			rack := topology.Rack{Switches: []topology.Switch{ports("leaf", spines*parallel)}}
			for range 4 {
				rack.Servers = append(rack.Servers, topology.Server{Component: "server", NICs: []topology.NIC{{Component: "nic", Rate: 100 * gbps, Delay: 100_000}}})
			}
			pod.Racks = append(pod.Racks, rack)
		}
		l.Pods = append(l.Pods, pod)
	}
	f, err := topology.Build(l)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
