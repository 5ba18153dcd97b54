package main

import (
	"context"
	"fmt"

	"netsim/prove/bench/reference"
	"netsim/simulator/collective"
	"netsim/simulator/engine"
)

// ackBytes is the size of an acknowledgement in the engine.
const ackBytes = 64

// formula is the closed form of an algorithm for n ranks and the data size s: its steps,
// which follow one another, and the messages that a rank sends one by one in each step.
type formula struct {
	operation, algorithm string
	steps                func(n, s int64) []step
}

// step is a number of messages of the same size that one rank sends at once.
type step struct{ messages, bytes int64 }

// each returns count steps of one message.
func each(count, bytes int64) []step {
	list := make([]step, count)
	for i := range list {
		list[i] = step{1, bytes}
	}
	return list
}

// halving returns the steps that send s/2, s/4 … s/n.
func halving(n, s int64) (list []step) {
	for part := int64(2); part <= n; part *= 2 {
		list = append(list, step{1, s / part})
	}
	return list
}

func formulas() []formula {
	return []formula{
		{collective.AllReduce, collective.Ring, func(n, s int64) []step { return each(2*(n-1), s/n) }},
		{collective.AllGather, collective.Ring, func(n, s int64) []step { return each(n-1, s) }},
		{collective.ReduceScatter, collective.Ring, func(n, s int64) []step { return each(n-1, s/n) }},
		{collective.ReduceScatter, collective.Halving, halving},
		{collective.AllReduce, collective.RecursiveHalvingDoubling, func(n, s int64) []step {
			return append(halving(n, s), halving(n, s)...) // the second half in reverse
		}},
		{collective.AllToAll, collective.Interleaved, func(n, s int64) []step { return []step{{n - 1, s / n}} }},
		{collective.AllToAll, collective.Sequential, func(n, s int64) []step { return each(n-1, s/n) }},
		{collective.Broadcast, collective.Interleaved, func(n, s int64) []step { return []step{{n - 1, s}} }},
		{collective.Broadcast, collective.Sequential, func(n, s int64) []step { return each(n-1, s) }},
		{collective.Scatter, collective.Direct, func(n, s int64) []step { return []step{{n - 1, s / n}} }},
	}
}

// time returns how long the steps take on one switch, in ns. On the links, each packet
// takes its payload, its header and its acknowledgement. A step takes the time of its
// packets, of one packet that the switch stores and forwards, and the delay of two links
// in both directions. The engine also knows that no acknowledgements are on the links in
// the first half of a round trip, so short messages are faster than the formula.
func (f formula) time(n reference.Network, s int64) float64 {
	perByte := 8e9 / float64(n.Rate) // ns
	var sum float64
	for _, x := range f.steps(int64(n.Hosts), s) {
		packets := max(1, (x.bytes+n.MSS-1)/n.MSS)
		wire := x.bytes + packets*(n.Header+ackBytes)
		stored := min(x.bytes, n.MSS) + n.Header
		sum += float64(x.messages*wire+stored)*perByte + 4*float64(n.Delay)/1000
	}
	return sum
}

// acknowledged compares every algorithm with its formula as the service runs it, with
// acknowledgements, over ranges of ranks, sizes and links.
func acknowledged(ctx context.Context, _ string) ([]section, error) {
	s := section{Name: "closed forms, with acknowledgements", Unit: "ns", Worst: 0.035, Listed: true}
	for _, n := range []reference.Network{
		{Rate: 100_000_000_000, Delay: 500_000, MSS: 1024, Header: 64},
		{Rate: 400_000_000_000, Delay: 100_000, MSS: 4096, Header: 58},
		{Rate: 800_000_000_000, Delay: 1_000_000, MSS: 8192, Header: 58},
	} {
		n.Racks = 1
		for _, n.Hosts = range []int{8, 64, 256} {
			for _, size := range []int64{64 << 10, 1 << 20, 1 << 30} {
				for _, f := range formulas() {
					if err := f.compare(ctx, &s, n, size); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	return []section{s}, nil
}

func (f formula) compare(ctx context.Context, s *section, n reference.Network, size int64) error {
	c, err := reference.OneGroup(n, collective.Phase{OperationType: f.operation, Algorithm: f.algorithm, DataSize: size})
	if err != nil {
		return err
	}
	in, err := c.Input(ctx)
	if err != nil {
		return err
	}
	r, err := engine.Run(ctx, in, engine.Observer{})
	if err != nil {
		return err
	}
	ns := float64(r.Time) / 1000
	name := fmt.Sprintf("%s %s, %d ranks, %d B, %d Gb/s", f.operation, f.algorithm, n.Hosts, size, n.Rate/1e9)
	s.Rows = append(s.Rows, row{name, ns, ns, f.time(n, size), settingOf(&c)})
	return nil
}
