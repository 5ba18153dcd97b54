package reference

import (
	"fmt"
	"strconv"
	"strings"

	"netsim/simulator/collective"
)

// Packets returns a row of csg-htsim's as a case, hashed or sprayed as its
// transport is, or why it cannot be one. Packets have the payload of the column
// mtu, else 4,096 B, and a header of 64 B; acknowledgements have 64 B: the time of
// a single flow in the table follows from them to the nanosecond.
func Packets(r Record) (Case, string, error) {
	v, err := r.Numbers("ranks", "size_bytes")
	if err != nil {
		return Case{}, "", err
	}
	ranks, size := int(v[0]), int64(v[1])
	over, err := strconv.Atoi(strings.TrimSuffix(r["oversub"], ":1"))
	if err != nil {
		return Case{}, "", err
	}
	if over < 1 || hostsPerLeaf%over != 0 || ranks%hostsPerLeaf != 0 {
		return Case{}, "leaves of another size", nil
	}
	mss := int64(4096)
	if r["mtu"] != "" {
		if mss, err = strconv.ParseInt(r["mtu"], 10, 64); err != nil {
			return Case{}, "", fmt.Errorf("column mtu: %w", err)
		}
	}
	n := Network{
		Racks: ranks / hostsPerLeaf, Hosts: hostsPerLeaf, Spines: hostsPerLeaf / over, Rate: 400_000_000_000, Delay: 500_000,
		MSS: mss, Header: 64, Spray: strings.HasSuffix(r["transport"], "_spray"),
	}
	workload, _, _ := strings.Cut(r["workload"], "_n")
	// Its packets are always whole, so messages are made so, where one size does.
	if whole := int64(ranks) * mss; strings.Contains(workload, "all") && size%whole != 0 {
		if workload == "halvingdoubling_allreduce" {
			return Case{}, "messages of parts of a packet, which csg-htsim fills up", nil
		}
		size += whole - size%whole
	}
	if p, found := collectives[workload]; found {
		p.DataSize = size
		c, err := OneGroup(n, p)
		if err != nil { // such as an algorithm that takes other numbers of ranks
			return Case{}, err.Error(), nil
		}
		return c, "", nil
	}
	to := receivers(workload, ranks)
	if to == nil {
		return Case{}, "workload " + workload, nil
	}
	c := Case{Network: n}
	for from := range ranks {
		if to(from) != from {
			c.Messages = append(c.Messages, Message{from, to(from), size})
		}
	}
	return c, "", nil
}

// hostsPerLeaf is the reference's. A link leads from each leaf to each spine,
// and there are as many of these as the oversubscription leaves.
const hostsPerLeaf = 8

var collectives = map[string]collective.Phase{
	"ring_allreduce":            {OperationType: collective.AllReduce, Algorithm: collective.Ring},
	"halvingdoubling_allreduce": {OperationType: collective.AllReduce, Algorithm: collective.RecursiveHalvingDoubling},
	"alltoall_interleaved":      {OperationType: collective.AllToAll, Algorithm: collective.Interleaved},
	"alltoall_sequential":       {OperationType: collective.AllToAll, Algorithm: collective.Sequential},
}

// receivers says to whom each rank sends one message in a workload, nil of an
// unknown one: incast all to the first, shift7_permutation to the rank 7 above,
// stride3_permutation to 3 times the own number and 1, stride5_permutation to 5
// times it and 3, modulo the ranks.
func receivers(workload string, ranks int) func(int) int {
	if workload == "incast" {
		return func(int) int { return 0 }
	}
	kind, permutation := strings.CutSuffix(workload, "_permutation")
	if by, err := strconv.Atoi(strings.TrimPrefix(kind, "shift")); err == nil && permutation {
		return func(rank int) int { return (rank + by) % ranks }
	}
	switch {
	case kind == "stride3" && permutation:
		return func(rank int) int { return (3*rank + 1) % ranks }
	case kind == "stride5" && permutation:
		return func(rank int) int { return (5*rank + 3) % ranks }
	}
	return nil
}
