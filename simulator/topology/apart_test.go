package topology_test

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"netsim/simulator/topology"
)

// drawLayout draws the layout of a small fabric. Its parts differ, and need not
// be connected.
func drawLayout(t *rapid.T) topology.Layout {
	switches := func(name string, least int) []topology.Switch {
		var list []topology.Switch
		for range rapid.IntRange(least, 3).Draw(t, name) {
			list = append(list, topology.Switch{
				Component: name, UpLinks: rapid.IntRange(0, 4).Draw(t, "uplinks"),
				PerUpper: rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "perUpper"),
				UpRate:   rapid.Int64Range(1, 9).Draw(t, "rate") * 1e9, DownRate: 4e9, UpLinkDelay: 5,
			})
		}
		return list
	}
	racks := func(least int) []topology.Rack {
		list := make([]topology.Rack, rapid.IntRange(least, 3).Draw(t, "racks"))
		for i := range list {
			list[i].Switches = switches("rsw", 1)
			for range rapid.IntRange(0, 2).Draw(t, "servers") {
				list[i].Servers = append(list[i].Servers, topology.Server{
					Component: "server", NICs: []topology.NIC{{Component: "nic", Rate: 4e9, Delay: 1}},
				})
			}
		}
		return list
	}
	l := topology.Layout{
		Spine: switches("ssw", 0), Racks: racks(0),
		Mesh: rapid.Bool().Draw(t, "mesh"), LinksPerPair: rapid.IntRange(0, 2).Draw(t, "linksPerPair"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "pods") {
		l.Pods = append(l.Pods, topology.Pod{Switches: switches("fsw", 0), Racks: racks(1)})
	}
	return l
}

// TestApart: if Apart returns two hosts, routing finds no path between them. If
// it returns none, routing finds a path for every pair.
func TestApart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f, err := topology.Build(drawLayout(t))
		if err != nil {
			return // no server
		}
		routes := topology.NewRoutes(f, 1, nil)
		joined := func(src, dst int32) bool { return len(routes.ECMP(nil, &topology.Pair{Src: src, Dst: dst})) > 0 }
		a, b, apart, err := f.Apart()
		if err != nil {
			t.Fatal(err)
		}
		if apart {
			if joined(a, b) || joined(b, a) {
				t.Fatalf("Apart returns hosts %d and %d, which have a path", a, b)
			}
			return
		}
		for src := range int32(len(f.Hosts)) {
			for dst := range int32(len(f.Hosts)) {
				if src != dst && !joined(src, dst) {
					t.Fatalf("Apart returns no hosts, but there is no path from host %d to %d", src, dst)
				}
			}
		}
	})
}

// TestApartIsBounded: Apart returns ErrUneven if the racks are wired in too many
// ways. Here any two racks share a switch, but no switch is common to all racks.
func TestApartIsBounded(t *testing.T) {
	t.Parallel()
	const upper = 1200
	server := []topology.Server{{Component: "server", NICs: []topology.NIC{{Component: "nic", Rate: 1, Delay: 1}}}}
	pod := topology.Pod{Switches: make([]topology.Switch, upper)}
	for i := range pod.Switches {
		pod.Switches[i] = topology.Switch{Component: "fsw", DownRate: 1}
	}
	for range upper {
		pod.Racks = append(pod.Racks, topology.Rack{
			Switches: []topology.Switch{{Component: "rsw", UpLinks: upper/2 + 1, UpRate: 1}}, Servers: server,
		})
	}
	f, err := topology.Build(topology.Layout{Pods: []topology.Pod{pod}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, apart, err := f.Apart(); apart || !errors.Is(err, topology.ErrUneven) {
		t.Errorf("apart %t, error %v; want false and ErrUneven", apart, err)
	}
}

// TestDealing: links are dealt evenly, whatever the numbers of up-links of the
// lower switches. The numbers of links down differ by at most one between the
// switches of a pod, and between those of the spine.
func TestDealing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := drawLayout(t)
		l.Mesh = false
		dealt := func(list []topology.Switch) {
			for i := range list {
				list[i].PerUpper = 0
			}
		}
		for _, rack := range l.Racks {
			dealt(rack.Switches)
		}
		for _, pod := range l.Pods {
			dealt(pod.Switches)
			for _, rack := range pod.Racks {
				dealt(rack.Switches)
			}
		}
		f, err := topology.Build(l)
		if err != nil {
			return // no server
		}
		down := make([]int, len(f.Nodes))
		for i := range f.Links {
			down[f.Links[i].Upper]++
		}
		even := func(what string, links []int) {
			if len(links) > 0 && slices.Max(links) > slices.Min(links)+1 {
				t.Fatalf("the switches of %s have %v links down, want a difference of at most 1", what, links)
			}
		}
		at := len(l.Spine)
		even("the spine", down[:at])
		for _, pod := range l.Pods {
			even("a pod", down[at:at+len(pod.Switches)])
			at += len(pod.Switches)
			for _, rack := range pod.Racks {
				at += len(rack.Switches)
			}
		}
	})
}
