package main

import (
	"context"

	"netsim/prove/bench/reference"
	"netsim/simulator/collective"
	"netsim/simulator/engine"
)

// closedForms compares every algorithm with its formula, on one switch whose links have
// 400 Gb/s and 500 ns. A packet of 4,000 B takes 80 ns. A transfer takes 80 ns for
// each of its packets, 80 ns to store and forward one packet, and the latency of two
// links in both directions.
func closedForms(ctx context.Context, _ string) ([]section, error) {
	const ranks, packet, latency, hop = 8, 80, 2000, 80 // ns
	s := section{Name: "closed forms of the algorithms", Unit: "ns", Exact: true}
	for _, c := range []struct {
		operation, algorithm string
		size                 int64
		want                 float64
	}{
		{collective.AllReduce, collective.Ring, 64_000, 14 * (2*packet + latency + hop)},
		{collective.AllGather, collective.Ring, 8_000, 7 * (2*packet + latency + hop)},
		{collective.ReduceScatter, collective.Ring, 64_000, 7 * (2*packet + latency + hop)},
		{collective.ReduceScatter, collective.Halving, 64_000, (8+4+2)*packet + 3*(latency+hop)},
		{collective.AllReduce, collective.RecursiveHalvingDoubling, 64_000, 2 * ((8+4+2)*packet + 3*(latency+hop))},
		{collective.AllToAll, collective.Interleaved, 64_000, 7*2*packet + latency + hop},
		{collective.AllToAll, collective.Sequential, 64_000, 7 * (2*packet + latency + hop)},
		{collective.Broadcast, collective.Interleaved, 8_000, 7*2*packet + latency + hop},
		{collective.Broadcast, collective.Sequential, 8_000, 7 * (2*packet + latency + hop)},
		{collective.Scatter, collective.Direct, 64_000, 7*2*packet + latency + hop},
	} {
		n := reference.Network{Racks: 1, Hosts: ranks, Rate: 400_000_000_000, Delay: 500_000, MSS: 4000}
		rack, err := reference.OneGroup(n, collective.Phase{OperationType: c.operation, Algorithm: c.algorithm, DataSize: c.size})
		if err != nil {
			return nil, err
		}
		in, err := unacknowledged(ctx, &rack)
		if err != nil {
			return nil, err
		}
		r, err := engine.Run(ctx, in, engine.Observer{})
		if err != nil {
			return nil, err
		}
		ns := float64((r.Time + 500) / 1000)
		s.Rows = append(s.Rows, row{c.operation + " " + c.algorithm, ns, ns, c.want, nil})
	}
	return []section{s}, nil
}

// unacknowledged returns the input of the case with acknowledgements of 0 B, because
// closed forms and ASTRA-sim have no acknowledgements. No configuration can set this.
func unacknowledged(ctx context.Context, c *reference.Case) (engine.Input, error) {
	in, err := c.Input(ctx)
	for i := range in.Options.NICs {
		in.Options.NICs[i].Packet.Ack = 0
	}
	return in, err
}
