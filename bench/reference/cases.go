package reference

import (
	"slices"
	"strconv"
	"strings"

	"netsim/simulator/collective"
	"netsim/simulator/engine"
	"netsim/simulator/program"
	"netsim/simulator/topology"
)

// Packets returns a row of csg-htsim's as ours, hashed, or why it cannot be one. Packets are 4,096
// B of payload in 4,160 B, acknowledgements 64 B: the time of a single flow in
// the table follows from them to the nanosecond.
func Packets(r Record) (engine.Input, string, error) {
	v, err := r.Numbers("ranks", "size_bytes")
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
		in, err = Grouped(fabric, ranks, collective.Phase{OperationType: collective.AllReduce, Algorithm: collective.Ring, DataSize: size})
	case workload == "halvingdoubling_allreduce":
		in, err = Grouped(fabric, ranks, collective.Phase{OperationType: collective.AllReduce, Algorithm: collective.RecursiveHalvingDoubling, DataSize: size})
	case workload == "alltoall_interleaved":
		in, err = Grouped(fabric, ranks, collective.Phase{OperationType: collective.AllToAll, Algorithm: collective.Interleaved, DataSize: size})
	case workload == "alltoall_sequential":
		in, err = Grouped(fabric, ranks, collective.Phase{OperationType: collective.AllToAll, Algorithm: collective.Sequential, DataSize: size})
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
	if err != nil { // such as an algorithm that takes other numbers of ranks
		return in, err.Error(), nil
	}
	in.Options.Packet = engine.Packet{MSS: mss, Header: 64, Ack: 64}
	return in, "", nil
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

// OneSwitch is a rack of hosts with one link each, of a rate in bit/s and a delay
// in ps.
func OneSwitch(hosts int, rate, delay int64) (*topology.Fabric, error) {
	server := topology.Server{Component: "server", NICs: []topology.NIC{{Component: "nic", Rate: rate, Delay: delay}}}
	return topology.Build(topology.Layout{Racks: []topology.Rack{{
		Switches: []topology.Switch{{Component: "switch", DownRate: rate}}, Servers: slices.Repeat([]topology.Server{server}, hosts),
	}}})
}

// Grouped is the phases of one group of ranks on the fabric.
func Grouped(f *topology.Fabric, ranks int, phases ...collective.Phase) (engine.Input, error) {
	groups, err := collective.Resolve(nil, []collective.GroupSpec{{Count: 1, GroupSize: ranks, Phases: phases}}, true)
	return engine.Input{Fabric: f, Groups: groups}, err
}
