package engine_test

import (
	"testing"

	"netsim/simulator/collective"
	"netsim/simulator/engine"
)

// TestTrimming: what an overloaded stage trims costs long messages, in which
// windows are larger than what links and queues hold, and not short ones. Eight
// hosts send to another rack over two links, at 4:1.
func TestTrimming(t *testing.T) {
	t.Parallel()
	const mss = 4000
	for _, c := range []struct {
		packets     int64 // of each host
		least, most float64
	}{
		{16, 1, 1.02},    // 128 packets: all fit into the queues
		{1000, 1.1, 1.2}, // three headers and their control for each packet
	} {
		control := engine.Packet{MSS: mss, Header: 64, Ack: 64}
		spent := func(p engine.Packet) float64 {
			in := engine.Input{Fabric: leafSpine(t, 16, 4), Hosts: acrossRacks(), Groups: pairs(t, 8, c.packets*mss)}
			in.Options = engine.Options{Routing: engine.Spray, Packet: p}
			return float64(run(t, in, engine.Observer{}).Time)
		}
		// Control that costs nothing is that of packets as large as all of it.
		cost := spent(control) / spent(engine.Packet{MSS: mss + 128})
		if cost < c.least || cost > c.most {
			t.Errorf("%d packets a host: trimming costs a factor of %.3f, want %.2f to %.2f", c.packets, cost, c.least, c.most)
		}
	}
}

// acrossRacks puts rank 2i on a host of the first rack and rank 2i+1 on one of
// the second.
func acrossRacks() []int32 {
	var hosts []int32
	for i := range int32(8) {
		hosts = append(hosts, i, 8+i)
	}
	return hosts
}

// TestUnevenRounds: messages of whole rounds over the links queue nowhere,
// messages of part of one do, where there are many at once.
func TestUnevenRounds(t *testing.T) {
	t.Parallel()
	const hosts, mss, size = 64, 4000, 80_000 // ps of a packet
	queued := func(packets int64) int64 {
		in := engine.Input{Fabric: leafSpine(t, hosts, 1), Groups: workload(t, hosts, phase(collective.AllToAll, collective.Interleaved, hosts*packets*mss))}
		in.Options = engine.Options{Routing: engine.Spray, Packet: engine.Packet{MSS: mss}}
		// The NICs' own time, there and back over four links, and three hops.
		return run(t, in, engine.Observer{}).Time - (packets*(hosts-1)*size + 4_000_000 + 3*size)
	}
	if whole := queued(8); whole < 0 || whole > 1000 {
		t.Errorf("eight packets over eight links queue for %d ps", whole)
	}
	// Of four packets a link gets one with the probability 1/2: of 56 hosts' at
	// eight a leaf a variance of 112 packets.
	if part := queued(4); part < 10*size || part > 40*size {
		t.Errorf("four packets over eight links queue for %d packets", part/size)
	}
}
