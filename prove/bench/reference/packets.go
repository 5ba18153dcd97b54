package reference

import (
	"fmt"
	"strconv"
	"strings"

	"netsim/simulator/collective"
)

// Packets converts a row of csg-htsim to a case, or returns why netsim cannot run it.
// The row's transport decides whether the case is hashed or sprayed. Packets have the
// payload in the column mtu, by default 4,096 B, and a header of 64 B.
// Acknowledgements have 64 B. With these sizes the time of a single flow in the table
// is exact to the nanosecond.
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
	link := map[string]int64{"gbps": 400, "delay_ns": 500}
	for column := range link {
		if r[column] == "" {
			continue
		}
		if link[column], err = strconv.ParseInt(r[column], 10, 64); err != nil {
			return Case{}, "", fmt.Errorf("column %s: %w", column, err)
		}
	}
	n := Network{
		Racks: ranks / hostsPerLeaf, Hosts: hostsPerLeaf, Spines: hostsPerLeaf / over, Rate: link["gbps"] * 1e9, Delay: link["delay_ns"] * 1000,
		MSS: mss, Header: 64, Spray: strings.HasSuffix(r["transport"], "_spray"), Trimming: strings.HasPrefix(r["transport"], "ndp_"),
	}
	workload, _, _ := strings.Cut(r["workload"], "_n")
	// csg-htsim sends only full packets, so a message size that is not a multiple of
	// the payload is rounded up. Messages of halving-doubling have different sizes.
	if whole := int64(ranks) * mss; strings.Contains(workload, "all") && size%whole != 0 {
		if workload == "halvingdoubling_allreduce" {
			return Case{}, "messages of parts of a packet, which csg-htsim fills up", nil
		}
		size += whole - size%whole
	}
	if p, found := collectives[workload]; found {
		p.DataSize = size
		c, err := OneGroup(n, p)
		if err != nil { // for example, the algorithm does not support this number of ranks
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

// hostsPerLeaf is the number of hosts of a leaf in the reference. Each leaf has one
// link to each of hostsPerLeaf/oversubscription spines.
const hostsPerLeaf = 8

var collectives = map[string]collective.Phase{
	"ring_allreduce":            {OperationType: collective.AllReduce, Algorithm: collective.Ring},
	"halvingdoubling_allreduce": {OperationType: collective.AllReduce, Algorithm: collective.RecursiveHalvingDoubling},
	"alltoall_interleaved":      {OperationType: collective.AllToAll, Algorithm: collective.Interleaved},
	"alltoall_sequential":       {OperationType: collective.AllToAll, Algorithm: collective.Sequential},
}

// receivers returns the function from a sending rank r to its receiver in a workload,
// or nil for an unknown workload: incast sends to 0, shiftK_permutation to r+K,
// stride3_permutation to 3r+1, and stride5_permutation to 5r+3, modulo the number of
// ranks.
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
