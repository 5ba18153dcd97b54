package engine_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/simulator/engine"
	"netsim/simulator/topology"
)

// TestLimits: the reported limits are right in cases that can be computed by hand.
// Messages of 1,000,000 B are sent in packets of 4,000 B without headers.
func TestLimits(t *testing.T) {
	t.Parallel()
	const size = 1_000_000
	packet := engine.Packet{MSS: 4000}
	flow := func(ps int64) engine.Sum { return engine.Sum{Lo: uint64(ps)} }
	limits := func(f *topology.Fabric, o engine.Options, operation, algorithm string, ranks int, bytes int64) []engine.Limit {
		o.NICs = []engine.NIC{{Packet: packet}}
		return run(t, engine.Input{Fabric: f, Groups: workload(t, ranks, phase(operation, algorithm, bytes)), Options: o}, engine.Observer{}).Limits
	}
	for _, c := range []struct {
		name string
		got  []engine.Limit
		want []engine.Limit
	}{
		// Rank 0 sends to two ranks at once, each at half the rate of its NIC.
		{"scatter", limits(oneSwitch(t, 3, 400*gbps, 0), engine.Options{}, "scatter", "direct", 3, 3*size), []engine.Limit{
			{Links: []int32{0}, FlowTime: flow(2 * 40_000_000), Bits: 8 * 2 * size},
		}},
		// The first link limits a flow that is alone on equal links.
		{"sequential", limits(oneSwitch(t, 4, 400*gbps, 0), engine.Options{}, "broadcast", "sequential", 4, size), []engine.Limit{
			{Links: []int32{0}, FlowTime: flow(3 * 20_000_000), Bits: 8 * 3 * size},
		}},
		{"analytical", limits(oneSwitch(t, 4, 400*gbps, 0), engine.Options{Analytical: true}, "broadcast", "sequential", 4, size), []engine.Limit{
			{Links: []int32{0}, FlowTime: flow(3 * 20_001_000), Bits: 8 * 3 * size},
		}},
		// The switch forwards less than one of its ports receives.
		{"switch", limits(oneSwitch(t, 2, 400*gbps, 0), engine.Options{Switches: []engine.Switch{{Component: "switch", Capacity: 100 * gbps}}},
			"broadcast", "sequential", 2, size), []engine.Limit{
			{Kind: engine.LimitSwitch, FlowTime: flow(80_000_000), Bits: 8 * size},
		}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestLimitsOfOversubscription: with oversubscribed racks, the racks' up-links limit
// most flows, with hashing and with spraying.
func TestLimitsOfOversubscription(t *testing.T) {
	t.Parallel()
	for _, routing := range []engine.Routing{engine.ECMP, engine.Spray} {
		f := leafSpine(t, 64, 4)
		r := run(t, engine.Input{
			Fabric: f, Groups: workload(t, 64, phase("allToAll", "interleaved", 64<<20)),
			Options: engine.Options{Routing: routing},
		}, engine.Observer{})
		var up, all float64
		for _, l := range r.Limits {
			ps := float64(l.FlowTime.Lo)
			all += ps
			if len(l.Links) > 0 && f.Nodes[f.Links[l.Links[0]].Lower].Tier == topology.TierRSW {
				up += ps
			}
		}
		if up < 0.8*all {
			t.Errorf("routing %d: the racks' up-links limited %.0f of %.0f flow·ps, want at least 80 %%", routing, up, all)
		}
	}
}
