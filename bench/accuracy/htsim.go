package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"netsim/simulator/collective"
	"netsim/simulator/engine"
	"netsim/simulator/program"
	"netsim/simulator/topology"
)

// seeds is how many of them make a spread.
const seeds = 20

// htsim compares the last completion with that of csg-htsim's packets. Sprayed
// packets are one number. With a path a flow, its hash and seed are not ours, so
// its time is to lie in the spread of our seeds, to the percentage that holds
// for the median of the sprayed rows: a fluid is not exact either, and some rows
// have no choice of paths that matters.
func htsim(ctx context.Context, dir string) ([]section, error) {
	const median, worst = 0.04, 0.12
	spray := section{Name: "csg-htsim NDP, packets sprayed", Unit: "us", Median: median, Worst: worst}
	ndp := section{Name: "csg-htsim NDP, a path a flow", Unit: "us", Near: median, Worst: worst}
	roce := section{Name: "csg-htsim RoCE, a path a flow", Unit: "us", Near: median, Worst: worst}
	table, err := records(dir, "htsim_leafspine.csv")
	if err != nil {
		return nil, err
	}
	known := map[string]*section{"ndp_spray": &spray, "ndp_ecmp1": &ndp, "roce_ecmp1": &roce}
	spreads := map[string][2]float64{} // of hashed cases, which two transports have in common
	for _, r := range table {
		s := known[r["transport"]]
		if s == nil {
			return nil, fmt.Errorf("htsim_leafspine.csv: transport %s is not known", r["transport"])
		}
		name := fmt.Sprintf("%s, %s ranks, %s", r["workload"], r["ranks"], r["oversub"])
		theirs, err := r.number("last_fct_us")
		if err != nil {
			return nil, err
		}
		in, reason, err := htsimCase(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if reason != "" {
			s.leave(reason)
			continue
		}
		span, have := spreads[name]
		if s == &spray {
			in.Options.Routing = engine.Spray
			span, err = spreadOf(ctx, in, 1)
		} else if !have {
			span, err = spreadOf(ctx, in, seeds)
			spreads[name] = span
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		s.Rows = append(s.Rows, row{name, span[0], span[1], theirs})
	}
	return []section{spray, ndp, roce}, nil
}

// spreadOf is the least and the most time of so many seeds, in µs.
func spreadOf(ctx context.Context, in engine.Input, seeds uint64) ([2]float64, error) {
	span := [2]float64{math.Inf(1), 0}
	for seed := range seeds {
		in.Options.Seed = seed + 1
		r, err := engine.Run(ctx, in, engine.Observer{})
		if err != nil {
			return span, err
		}
		us := float64(r.Time) / 1e6
		span = [2]float64{min(span[0], us), max(span[1], us)}
	}
	return span, nil
}

// htsimCase returns the row as ours, or why it cannot be one. Packets are 4,096
// B of payload in 4,160 B, acknowledgements 64 B: the time of a single flow in
// the table follows from them to the nanosecond.
func htsimCase(r record) (engine.Input, string, error) {
	v, err := r.numbers("ranks", "size_bytes")
	if err != nil {
		return engine.Input{}, "", err
	}
	ranks, size := int(v[0]), int64(v[1])
	over, err := strconv.Atoi(strings.TrimSuffix(r["oversub"], ":1"))
	if err != nil {
		return engine.Input{}, "", err
	}
	if over < 1 || hostsPerLeaf%over != 0 || ranks%hostsPerLeaf != 0 {
		return engine.Input{}, "leaves of another size", nil
	}
	fabric, err := leafSpine(ranks, over)
	if err != nil {
		return engine.Input{}, "", err
	}
	workload, _, _ := strings.Cut(r["workload"], "_n")
	// Its packets are always whole, so messages are made so, where one size does.
	if whole := int64(ranks) * mss; strings.Contains(workload, "all") && size%whole != 0 {
		if workload == "halvingdoubling_allreduce" {
			return engine.Input{}, "messages of parts of a packet, which csg-htsim fills up", nil
		}
		size += whole - size%whole
	}
	var in engine.Input
	switch {
	case workload == "ring_allreduce":
		in, err = grouped(fabric, ranks, collective.Phase{OperationType: collective.AllReduce, Algorithm: collective.Ring, DataSize: size})
	case workload == "halvingdoubling_allreduce":
		in, err = grouped(fabric, ranks, collective.Phase{OperationType: collective.AllReduce, Algorithm: collective.RecursiveHalvingDoubling, DataSize: size})
	case workload == "alltoall_interleaved":
		in, err = grouped(fabric, ranks, collective.Phase{OperationType: collective.AllToAll, Algorithm: collective.Interleaved, DataSize: size})
	case workload == "alltoall_sequential":
		in, err = grouped(fabric, ranks, collective.Phase{OperationType: collective.AllToAll, Algorithm: collective.Sequential, DataSize: size})
	case workload == "incast":
		in = messages(fabric, ranks, size, func(int) int { return 0 })
	case strings.HasPrefix(workload, "shift") && strings.HasSuffix(workload, "_permutation"):
		by, notNumber := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(workload, "shift"), "_permutation"))
		if notNumber != nil {
			return in, "workload " + workload, nil
		}
		in = messages(fabric, ranks, size, func(rank int) int { return (rank + by) % ranks })
	default:
		return in, "workload " + workload, nil
	}
	in.Options.Packet = engine.Packet{MSS: mss, Header: 64, Ack: 64}
	return in, "", err
}

const (
	hostsPerLeaf = 8
	mss          = 4096 // bytes
)

// leafSpine is the reference's fabric: 400 Gb/s and 500 ns a link, one link
// from each leaf to each spine, as many of these as the oversubscription
// leaves.
func leafSpine(hosts, oversubscription int) (*topology.Fabric, error) {
	const rate, delay = 400_000_000_000, 500_000
	server := topology.Server{Component: "server", NICs: []topology.NIC{{Component: "nic", Rate: rate, Delay: delay}}}
	spines := hostsPerLeaf / oversubscription
	leaf := topology.Rack{
		Switches: []topology.Switch{{Component: "leaf", UpLinks: spines, UpRate: rate, DownRate: rate, UpLinkDelay: delay}},
		Servers:  slices.Repeat([]topology.Server{server}, hostsPerLeaf),
	}
	return topology.Build(topology.Layout{Pods: []topology.Pod{{
		Switches: slices.Repeat([]topology.Switch{{Component: "spine", DownRate: rate}}, spines),
		Racks:    slices.Repeat([]topology.Rack{leaf}, hosts/hostsPerLeaf),
	}}})
}

// messages has every rank send one message, all at once; a rank that would send
// to itself does not.
func messages(f *topology.Fabric, ranks int, size int64, to func(int) int) engine.Input {
	p := &program.Program{Ranks: make([]program.Rank, ranks)}
	add := func(rank int, n program.Node) int32 {
		r := &p.Ranks[rank]
		r.Nodes = append(r.Nodes, n)
		return int32(len(r.Nodes) - 1)
	}
	for from := range ranks {
		if to(from) == from {
			continue
		}
		arg := int32(len(p.Messages))
		p.Messages = append(p.Messages, program.Message{
			From: int32(from), To: int32(to(from)),
			Send:    add(from, program.Node{Value: size, Arg: arg, Op: program.Send}),
			Receive: add(to(from), program.Node{Value: size, Arg: arg, Op: program.Receive}),
		})
	}
	for i := range p.Ranks {
		p.Ranks[i].First = make([]int32, len(p.Ranks[i].Nodes)+1)
	}
	return engine.Input{Fabric: f, Replay: &engine.Replay{Program: p}}
}
