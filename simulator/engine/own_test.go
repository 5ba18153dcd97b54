package engine_test

import (
	"testing"

	"pgregory.net/rapid"

	"netsim/simulator/collective"
	"netsim/simulator/engine"
	"netsim/simulator/replay"
)

// TestOwnMessagesAreNotContention: where no link carries messages of two ranks that could be
// faster without each other, a critical path has no contention, however many messages a rank
// sends at once.
func TestOwnMessagesAreNotContention(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		ranks := rapid.IntRange(2, 24).Draw(rt, "ranks")
		c := rapid.SampledFrom([]collective.Phase{
			phase("allToAll", "interleaved", 0), phase("allToAll", "sequential", 0), phase("broadcast", "interleaved", 0), phase("scatter", "direct", 0), phase("allReduce", "ring", 0),
		}).Draw(rt, "collective")
		c.DataSize = rapid.Int64Range(1<<20, 64<<20).Draw(rt, "size")
		in := engine.Input{
			Fabric: oneSwitch(t, ranks, rapid.Int64Range(1, 800).Draw(rt, "Gb/s")*gbps, 500_000), Groups: workload(t, ranks, c),
			Options: engine.Options{CriticalPath: true, Routing: rapid.SampledFrom([]engine.Routing{engine.ECMP, engine.Spray}).Draw(rt, "routing"),
				Transport: rapid.SampledFrom([]engine.Transport{engine.Trimming, engine.Lossless, engine.Ideal}).Draw(rt, "transport")},
		}
		var sending, contention int64
		for _, s := range run(t, in, engine.Observer{}).Path {
			sending, contention = sending+s.Sending, contention+s.Contention
		}
		// If packets are trimmed, a host's link also carries pulls for what it receives from others: up to 3 of 8
		// acknowledgements, below 1 % for messages of several packets. Rates are whole bit/s, and each change of a rate cuts a picosecond.
		least := int64(1000)
		if in.Options.Transport == engine.Trimming {
			least += sending / 100
		}
		if contention > least {
			rt.Fatalf("%s %s: %d ps of contention beside %d ps of sending, want none", c.OperationType, c.Algorithm, contention, sending)
		}
	})
}

// TestContentionOfOthers: senders with several messages each share the link of a receiver. The
// last message to end has sent for as long as its sender's messages take on one link, was delayed
// by as long as those of the other senders take, and then has the latency of a message that is
// alone. So its parts are the values that one works out by hand, for packets of any size.
func TestContentionOfOthers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		senders, each := rapid.IntRange(2, 6).Draw(rt, "senders"), rapid.IntRange(1, 4).Draw(rt, "each")
		bytes := rapid.IntRange(1, 1<<rapid.IntRange(1, 23).Draw(rt, "scale")).Draw(rt, "bytes")
		packet := engine.DefaultPacket()
		packet.MSS = rapid.Int64Range(64, 9000).Draw(rt, "MSS")
		simulate := func(senders, each int) (int64, engine.PathStep) {
			traces := make([][]node, 7)
			for from := 1; from <= senders; from++ {
				for tag := range each {
					traces[from] = append(traces[from], send(tag, 0, tag, bytes))
					traces[0] = append(traces[0], receive(10*from+tag, from, tag, bytes))
				}
			}
			r := run(t, engine.Input{
				Fabric: oneSwitch(t, 7, 400*gbps, 500_000), Options: engine.Options{CriticalPath: true, Transport: engine.Ideal, NICs: []engine.NIC{{Packet: packet}}},
				Replay: &engine.Replay{Schedule: traced(t, replay.Options{}, traces...)},
			}, engine.Observer{})
			if len(r.Path) != 1 {
				rt.Fatalf("the path is %+v, want one message", r.Path)
			}
			return r.Time, r.Path[0]
		}
		_, single := simulate(1, 1)
		alone, own := simulate(1, each) // the messages of one sender
		shared, s := simulate(senders, each)
		ps := func(bytes int64) float64 { return float64(8*bytes) / 400e9 * 1e12 }
		trip := 4*500_000 + ps(min(int64(bytes), packet.MSS)+packet.Header) + 2*ps(packet.Ack) // two hops and back
		packets := max(1, (int64(bytes)+packet.MSS-1)/packet.MSS)
		drains := ps(int64(each) * (int64(bytes) + packets*(packet.Header+packet.Ack)))
		acks := float64(packets*packet.Ack) / float64(int64(bytes)+packets*(packet.Header+packet.Ack))
		drains -= min(drains, trip/2) * acks // none are on the links in the first half of a round trip
		if !near(s.Latency, trip) || !near(single.Latency, trip) || !near(s.Sending, drains) || own.Contention > 1000 || !near(s.Contention, float64(shared-alone)) {
			rt.Fatalf("%d senders: %+v, want %.0f ps of sending, %d of contention and %.0f of latency", senders, s, drains, shared-alone, trip)
		}
	})
}

// near reports whether a time is right but for the rounding of rates.
func near(got int64, want float64) bool {
	return max(float64(got)-want, want-float64(got)) <= 1000+want/1e6
}
