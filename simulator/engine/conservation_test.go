package engine_test

import (
	"testing"

	"pgregory.net/rapid"

	"netsim/simulator/collective"
	"netsim/simulator/engine"
	"netsim/simulator/topology"
)

// TestConservation: in every run all bytes sent are received, every NIC carries
// exactly the wire bits of its transfers for any report interval, and no link carries
// more than its rate allows.
func TestConservation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		groups := drawGroups(rt)
		ranks := collective.Ranks(groups)
		routing := rapid.SampledFrom([]engine.Routing{engine.ECMP, engine.Spray, engine.Flowlet}).Draw(rt, "routing")
		var switches []engine.Switch
		for _, tier := range []string{"leaf", "spine"} {
			switches = append(switches, engine.Switch{
				Component: tier, Capacity: rapid.SampledFrom([]int64{0, 700 * gbps}).Draw(rt, "capacity"),
				Routing: rapid.SampledFrom([]engine.Routing{routing, routing, engine.ECMP, engine.Spray}).Draw(rt, tier),
			})
		}
		fabric := leafSpine(t, (ranks+7)/8*8, rapid.SampledFrom([]int{1, 2, 4}).Draw(rt, "oversubscription"))
		packet := engine.DefaultPacket()

		out, in := make([]int64, ranks), make([]int64, ranks) // wire bits
		carried, packets := make([]int64, 2*len(fabric.Links)), make([]int64, 2*len(fabric.Links))
		var sent, received, packetsOut, betweenRacks int64
		observe := engine.Observer{
			Transfer: func(tr *engine.Transfer) error {
				n := max(1, (tr.Bytes+packet.MSS-1)/packet.MSS)
				bits := 8 * (tr.Bytes + n*(packet.Header+packet.Ack))
				out[tr.From] += bits
				in[tr.To] += bits
				packetsOut += n
				if fabric.Hosts[tr.From].Rack != fabric.Hosts[tr.To].Rack {
					betweenRacks += bits
				}
				if tr.Acked <= tr.Start {
					rt.Fatalf("a transfer that starts at %d ps is acknowledged at %d ps", tr.Start, tr.Acked)
				}
				return nil
			},
			Rank: func(r *engine.Rank) error {
				sent += r.BytesSent
				received += r.BytesReceived
				return nil
			},
			Links: func(l *engine.Links) error {
				for d, bits := range l.Bits {
					packets[d] += l.Packets[d]
					carried[d] += bits
					// Each flow that the interval cuts may add a bit of rounding.
					if room := float64(fabric.Links[d/2].Rate) * float64(l.End-l.Start) / 1e12; float64(bits) > room+1000 {
						rt.Fatalf("link %d carries %d bits, want at most %.0f", d, bits, room)
					}
				}
				return nil
			},
		}
		r, err := engine.Run(t.Context(), engine.Input{Fabric: fabric, Groups: groups, Options: engine.Options{
			Switches: switches, Interval: rapid.Int64Range(1_000_000, 1_000_000_000).Draw(rt, "interval"),
			Transport: rapid.SampledFrom([]engine.Transport{engine.Trimming, engine.Lossless, engine.Ideal}).Draw(rt, "transport"),
		}}, observe)
		if err != nil {
			rt.Fatal(err)
		}
		if r.Bytes != r.BytesTotal || r.Sends != r.SendsTotal || sent != r.Bytes || received != r.Bytes {
			rt.Fatalf("%d bytes acknowledged, %d sent and %d received in %d transfers, want %d bytes in %d", r.Bytes, sent, received, r.Sends, r.BytesTotal, r.SendsTotal)
		}
		for id, l := range fabric.Links {
			if fabric.Nodes[l.Lower].Tier == topology.TierRSW {
				betweenRacks -= carried[2*id]
			}
			if fabric.Nodes[l.Lower].Tier != topology.TierNIC || id >= ranks {
				continue
			}
			if carried[2*id] != out[id] || carried[2*id+1] != in[id] {
				rt.Fatalf("NIC %d carried %d out and %d in, want %d and %d", id, carried[2*id], carried[2*id+1], out[id], in[id])
			}
			packetsOut -= packets[2*id]
		}
		if betweenRacks != 0 {
			rt.Fatalf("the racks' up-links carried %d bits too few", betweenRacks)
		}
		var wire, limited int64
		for _, bits := range out {
			wire += bits
		}
		for _, l := range r.Limits {
			limited += l.Bits
		}
		if limited != wire {
			rt.Fatalf("%d bits are attributed to limits, want all %d that were sent", limited, wire)
		}
		if packetsOut != 0 {
			rt.Fatalf("the NICs carried %d packets too few", packetsOut)
		}
	})
}

func drawGroups(t *rapid.T) []collective.GroupSpec {
	var specs []collective.GroupSpec
	for range rapid.IntRange(1, 3).Draw(t, "specs") {
		spec := collective.GroupSpec{Count: rapid.IntRange(1, 2).Draw(t, "count"), GroupSize: 1 << rapid.IntRange(1, 4).Draw(t, "size")}
		for range rapid.IntRange(1, 3).Draw(t, "phases") {
			entry := rapid.SampledFrom(collective.Matrix()).Draw(t, "operation")
			spec.Phases = append(spec.Phases, phase(entry.OperationType,
				rapid.SampledFrom(entry.AllowedAlgorithms).Draw(t, "algorithm"), rapid.Int64Range(1, 1<<22).Draw(t, "bytes")))
		}
		specs = append(specs, spec)
	}
	return specs
}
