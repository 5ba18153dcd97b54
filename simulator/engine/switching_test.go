package engine_test

import (
	"slices"
	"testing"

	"netsim/simulator/collective"
	"netsim/simulator/engine"
	"netsim/simulator/topology"
)

// rackOf returns one switch with the servers below it. Links have no delay.
func rackOf(t testing.TB, servers ...topology.Server) *topology.Fabric {
	t.Helper()
	f, err := topology.Build(topology.Layout{Racks: []topology.Rack{{
		Switches: []topology.Switch{{Component: "leaf", DownRate: 800 * gbps}}, Servers: servers,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func server(component string, rates ...int64) topology.Server {
	s := topology.Server{Component: component}
	for _, rate := range rates {
		s.NICs = append(s.NICs, topology.NIC{Component: component + "-nic", Rate: rate})
	}
	return s
}

// pairs returns n groups of two ranks with a broadcast each: one transfer from rank 2i
// to rank 2i+1.
func pairs(t testing.TB, n int, size int64) []collective.GroupSpec {
	t.Helper()
	groups, err := collective.Resolve(nil, []collective.GroupSpec{{
		Count: n, GroupSize: 2, Phases: []collective.Phase{phase("broadcast", "sequential", size)},
	}}, true)
	if err != nil {
		t.Fatal(err)
	}
	return groups
}

// closeTo checks a time, and allows 1/80 more for the delays, the last packet's
// forwarding and the rounding of rates.
func closeTo(t *testing.T, what string, got, want int64) {
	t.Helper()
	if got < want || got > want+want/80 {
		t.Errorf("%s takes %d ps, want %d", what, got, want)
	}
}

const (
	mega   = 1_000_000
	at400  = mega * 8 * 1000 / 400 // ps for 1 MB
	packet = 1000
)

// TestSeveralNICs: a transfer uses all NICs of the sender at once, in proportion to
// their rates, and all NICs of the receiver.
func TestSeveralNICs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what     string
		from, to topology.Server
		want     int64
	}{
		{"one to one", server("a", 400*gbps), server("b", 400*gbps), at400},
		{"two to two", server("a", 400*gbps, 400*gbps), server("b", 400*gbps, 400*gbps), at400 / 2},
		{"a fast and a slow one to the same", server("a", 400*gbps, 100*gbps), server("b", 400*gbps, 100*gbps), at400 * 4 / 5},
		{"two to one", server("a", 400*gbps, 400*gbps), server("b", 400*gbps), at400},
		{"one to two", server("a", 400*gbps), server("b", 400*gbps, 400*gbps), at400},
	} {
		for _, routing := range []engine.Routing{engine.ECMP, engine.Spray, engine.Flowlet} {
			transfers := 0
			r := run(t, engine.Input{
				Fabric: rackOf(t, c.from, c.to), Groups: pairs(t, 1, mega),
				Options: engine.Options{Routing: routing, NICs: []engine.NIC{{Packet: engine.Packet{MSS: packet}}}},
			}, engine.Observer{Transfer: func(*engine.Transfer) error { transfers++; return nil }})
			closeTo(t, c.what, r.Time, c.want)
			if transfers != 1 || r.Sends != 1 || r.Bytes != mega || r.Packets != mega/packet {
				t.Errorf("%s: %d transfers observed, %d sends, %d bytes, %d packets; want 1, 1, %d and %d", c.what, transfers, r.Sends, r.Bytes, r.Packets, mega, mega/packet)
			}
		}
	}
}

// TestPacketOfTheSender: a transfer has the packet sizes of the sender's NIC.
func TestPacketOfTheSender(t *testing.T) {
	t.Parallel()
	fabric := rackOf(t, server("a", 400*gbps), server("b", 400*gbps))
	for from, want := range []int64{at400 * 3 / 2, at400 * 2} {
		groups, hosts := pairs(t, 1, mega), []int32{int32(from), int32(1 - from)}
		r := run(t, engine.Input{Fabric: fabric, Groups: groups, Hosts: hosts, Options: engine.Options{NICs: []engine.NIC{
			{Component: "a-nic", Packet: engine.Packet{MSS: packet, Header: packet / 2}},
			{Component: "b-nic", Packet: engine.Packet{MSS: packet, Header: packet}},
		}}}, engine.Observer{})
		closeTo(t, fabric.Nodes[fabric.Hosts[from].Server].Component, r.Time, want)
	}
}

// TestSwitchingCapacity: all flows through a switch share its capacity, and a capacity
// that its ports cannot reach has no effect.
func TestSwitchingCapacity(t *testing.T) {
	t.Parallel()
	servers := slices.Repeat([]topology.Server{server("a", 400*gbps)}, 4)
	leaves := leafSpine(t, 16, 1)
	across := []int32{0, 8, 1, 9, 2, 10, 3, 11} // the hosts of a pair are in different racks
	for _, c := range []struct {
		what     string
		fabric   *topology.Fabric
		hosts    []int32
		n        int
		switches engine.Switch
		want     int64
	}{
		{"one pair", rackOf(t, servers...), nil, 1, engine.Switch{Component: "leaf", Capacity: 400 * gbps}, at400},
		{"two pairs", rackOf(t, servers...), nil, 2, engine.Switch{Component: "leaf", Capacity: 400 * gbps}, 2 * at400},
		{"unbounded", rackOf(t, servers...), nil, 2, engine.Switch{Component: "leaf", Capacity: 1600 * gbps}, at400},
		{"a leaf", leaves, across, 4, engine.Switch{Component: "leaf", Capacity: 100 * gbps, Routing: engine.Spray}, 16 * at400},
		{"all spines", leaves, across, 4, engine.Switch{Component: "spine", Capacity: 100 * gbps, Routing: engine.Spray}, 2 * at400},
	} {
		r := run(t, engine.Input{Fabric: c.fabric, Groups: pairs(t, c.n, 10*mega), Hosts: c.hosts, Options: engine.Options{
			Routing: c.switches.Routing, NICs: []engine.NIC{{Packet: engine.Packet{MSS: packet}}}, Switches: []engine.Switch{c.switches},
		}}, engine.Observer{})
		closeTo(t, c.what, r.Time, 10*c.want)
	}
}

// TestMixedBalancing: on a stage with hashed and sprayed flows, a hashed flow gets at
// most the rate of its link, and sprayed flows get the rest of the stage.
func TestMixedBalancing(t *testing.T) {
	t.Parallel()
	// Every leaf has four up-links of 100 Gb/s, one to each spine.
	leaf := func(component string, up int) topology.Switch {
		return topology.Switch{Component: component, UpLinks: up, UpRate: 100 * gbps, DownRate: 800 * gbps}
	}
	rack := func(component string) topology.Rack {
		return topology.Rack{Switches: []topology.Switch{leaf(component, 4)}, Servers: []topology.Server{server("a", 800*gbps)}}
	}
	spines := slices.Repeat([]topology.Switch{{Component: "spine", DownRate: 800 * gbps}}, 4)
	fabric, err := topology.Build(topology.Layout{Pods: []topology.Pod{{
		Switches: spines, Racks: []topology.Rack{rack("hashes"), rack("sprays"), rack("hashes")},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	times := func(hosts ...int32) (ends []int64) {
		ends = make([]int64, len(hosts)/2)
		run(t, engine.Input{Fabric: fabric, Groups: pairs(t, len(hosts)/2, 10*mega), Hosts: hosts, Options: engine.Options{
			NICs: []engine.NIC{{Packet: engine.Packet{MSS: packet}}}, Switches: []engine.Switch{{Component: "sprays", Routing: engine.Spray}},
		}}, engine.Observer{Transfer: func(tr *engine.Transfer) error {
			ends[tr.From/2] = tr.Acked
			return nil
		}})
		return ends
	}
	closeTo(t, "a hashed flow", times(0, 2)[0], 40*at400)
	closeTo(t, "a sprayed flow", times(1, 2)[0], 10*at400)
	both := times(0, 2, 1, 2)
	closeTo(t, "a hashed flow beside a sprayed one", both[0], 40*at400)
	closeTo(t, "a sprayed flow beside a hashed one", both[1], 40*at400/3)
}

// TestFlowletGap: a pair keeps its path until it was idle for the gap. Rank 1 is idle
// while rank 0 sends 1 MB, which takes 21 us.
func TestFlowletGap(t *testing.T) {
	t.Parallel()
	fabric := leafSpine(t, 16, 1)
	up := func(routing engine.Routing, gap int64) (links int) {
		var phases []collective.Phase
		for range 8 { // rank 1 sends only in the allToAll
			phases = append(phases, phase("allToAll", "interleaved", packet), phase("broadcast", "sequential", mega))
		}
		run(t, engine.Input{
			Fabric: fabric, Hosts: []int32{0, 8}, Groups: workload(t, 2, phases...),
			Options: engine.Options{Interval: 1 << 50, Switches: []engine.Switch{{Component: "leaf", Routing: routing, Gap: gap}}},
		}, engine.Observer{Links: func(l *engine.Links) error {
			for id, link := range fabric.Links {
				if fabric.Nodes[link.Lower].Name() == "leaf-1" && l.Bits[2*id] > 0 {
					links++
				}
			}
			return nil
		}})
		return links
	}
	const us = 1_000_000
	if n := up(engine.ECMP, 0); n != 1 {
		t.Errorf("a hashed pair uses %d up-links, want 1", n)
	}
	if n := up(engine.Flowlet, 40*us); n != 1 {
		t.Errorf("a pair that was never idle for the gap uses %d up-links, want 1", n)
	}
	if n := up(engine.Flowlet, 15*us); n < 3 {
		t.Errorf("a pair that was idle for the gap seven times uses %d up-links, want at least 3", n)
	}
}
