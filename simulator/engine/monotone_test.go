package engine_test

import (
	"testing"

	"pgregory.net/rapid"

	"netsim/simulator/collective"
	"netsim/simulator/engine"
	"netsim/simulator/topology"
)

// TestFasterIsNeverSlower: a workload on links with more bandwidth, less delay or both
// ends no later, within a tolerance:
//   - An eighth if the end of one transfer starts another: an earlier end can bring
//     two later transfers onto one link at once (Graham's anomaly). Of 16,500 drawn
//     cases the worst was 8 % slower.
//   - Two fifths if such transfers are of less than 1 KiB: then one more packet before
//     them is a large part of their time. Of 23,000 drawn cases four were more than an
//     eighth slower, the worst 27 %, all with delays below a nanosecond.
//   - A fiftieth if all transfers start together: hashed links and uneven queues can
//     still differ.
//
// The tolerance also covers rounding to whole bit/s and picoseconds, and the packets
// that are trimmed because more bandwidth makes windows larger.
//
// Delays stay as they are where bursts meet oversubscribed links: a port's queue holds
// 5/4 of what it sends in a round trip, as in the reference, so nearer ports have shorter
// queues and trim more of a burst.
//
// Hashing is the same in both runs, because it depends only on names and the seed.
func TestFasterIsNeverSlower(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		hosts := rapid.SampledFrom([]int{8, 16, 32}).Draw(rt, "hosts")
		over := rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(rt, "oversubscription")
		c := rapid.SampledFrom(collective.Matrix()).Draw(rt, "operation")
		p := collective.Phase{
			OperationType: c.OperationType, Algorithm: rapid.SampledFrom(c.AllowedAlgorithms).Draw(rt, "algorithm"),
			DataSize: int64(hosts) * rapid.Int64Range(1, 1<<20).Draw(rt, "part"),
		}
		rate := rapid.Int64Range(10, 400).Draw(rt, "Gbps") * gbps
		delay := rapid.Int64Range(0, 2_000_000).Draw(rt, "delay")
		faster := rate * rapid.Int64Range(100, 300).Draw(rt, "percent") / 100
		nearer := delay * rapid.Int64Range(0, 100).Draw(rt, "percent of the delay") / 100
		o := engine.Options{Routing: rapid.SampledFrom([]engine.Routing{engine.ECMP, engine.Spray, engine.Flowlet}).Draw(rt, "routing")}
		o.Transport = rapid.SampledFrom([]engine.Transport{engine.Trimming, engine.Lossless, engine.Ideal}).Draw(rt, "transport")
		ends := func(rate, delay int64) int64 {
			in := engine.Input{Fabric: uniform(t, hosts, over, rate, delay), Groups: workload(t, hosts, p), Options: o}
			return run(t, in, engine.Observer{}).Time
		}
		burst := collective.NewPlan(p, hosts).Order == collective.Burst
		if burst && over > 1 {
			nearer = delay
		}
		before, after := ends(rate, delay), ends(faster, nearer)
		tolerance := before / 8
		switch {
		case burst:
			tolerance = before / 50
		case p.DataSize < int64(hosts)<<10:
			tolerance = before * 2 / 5
		}
		if after > before+tolerance {
			rt.Errorf("%s %s of %d B takes %d ps at %d bit/s with a delay of %d ps, but %d ps at %d bit/s with a delay of %d ps",
				p.OperationType, p.Algorithm, p.DataSize, before, rate, delay, after, faster, nearer)
		}
	})
}

// TestNearerShortMessages: short messages on links without delay take no longer than
// on links with delay. Queues hold a minimum of packets, so a short round trip does not
// cause trimming.
func TestNearerShortMessages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		phase       collective.Phase
		rate, delay int64
	}{
		{phase(collective.AllReduce, collective.RecursiveHalvingDoubling, 96), 252 * gbps, 238},
		{phase(collective.AllToAll, collective.Interleaved, 16), 111 * gbps, 869},
	} {
		groups := workload(t, 16, c.phase)
		ends := func(delay int64) int64 {
			return run(t, engine.Input{Fabric: uniform(t, 16, 8, c.rate, delay), Groups: groups}, engine.Observer{}).Time
		}
		if far, near := ends(c.delay), ends(0); near > far {
			t.Errorf("%s takes %d ps without delay, want at most the %d ps of links with a delay of %d ps",
				c.phase.OperationType, near, far, c.delay)
		}
	}
}

// uniform returns a leaf-spine fabric with eight hosts on each leaf and links that are
// all alike.
func uniform(t testing.TB, hosts, over int, rate, delay int64) *topology.Fabric {
	t.Helper()
	server := topology.Server{Component: "server", NICs: []topology.NIC{{Component: "nic", Rate: rate, Delay: delay}}}
	pod := topology.Pod{}
	for range 8 / over {
		pod.Switches = append(pod.Switches, topology.Switch{Component: "spine", DownRate: rate})
	}
	for range hosts / 8 {
		rack := topology.Rack{Switches: []topology.Switch{{Component: "leaf", UpLinks: 8 / over, UpRate: rate, DownRate: rate, UpLinkDelay: delay}}}
		for range 8 {
			rack.Servers = append(rack.Servers, server)
		}
		pod.Racks = append(pod.Racks, rack)
	}
	f, err := topology.Build(topology.Layout{Pods: []topology.Pod{pod}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}
