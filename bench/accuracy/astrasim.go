package main

import (
	"context"
	"fmt"
	"slices"

	"netsim/bench/reference"
	"netsim/simulator/collective"
	"netsim/simulator/engine"
)

// fluidChunks is how many chunks at once make ASTRA-sim's store-and-forward a
// fluid within a percent.
const fluidChunks = 64

// astraSim compares with ASTRA-sim's analytical backends.
//
// Unaware is the engine's analytical mode. Aware sends a message of the
// collective as one packet that every hop stores; so does the engine when its
// MSS is as large. Networks and algorithms that netsim does not have are
// compared message by message, where there is no contention. ASTRA-sim has no acknowledgements, whose way back the engine
// always waits for, so its links get half the latency each way. With very many
// chunks at once both are fluids, and hide the latency of all steps but one.
func astraSim(ctx context.Context, dir string) ([]section, error) {
	unaware := section{Name: "ASTRA-sim, congestion-unaware", Unit: "ns", Exact: true}
	aware := section{Name: "ASTRA-sim, congestion-aware, whole messages", Unit: "ns", Worst: 0.01}
	fluid := section{Name: fmt.Sprintf("ASTRA-sim, congestion-aware, %d chunks and more", fluidChunks), Unit: "ns", Worst: 0.01}
	for _, name := range []string{"astrasim_1d.csv", "astrasim_switch_chunk_convergence.csv"} {
		table, err := reference.Records(dir, name)
		if err != nil {
			return nil, err
		}
		for _, r := range table {
			s := &unaware
			if r["backend"] == "aware" {
				s = &aware
			}
			c, reason, err := astraCase(r)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if c.fluid {
				s = &fluid
			}
			if reason != "" {
				s.leave(reason)
				continue
			}
			if err := c.compare(ctx, s); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", name, c.name, err)
			}
		}
	}
	return []section{unaware, aware, fluid}, nil
}

// astraRow is one of its cases.
type astraRow struct {
	name   string
	phases []collective.Phase
	chain  [][]message // instead of phases
	ranks  int
	rate   int64 // bit/s
	delay  int64 // ps, of each of the two links between a pair; of a chain, a hop
	mss    int64 // bytes
	// analytical is the engine's mode for comparisons, which no configuration asks
	// for.
	analytical bool
	fluid      bool
	adds       float64 // ns, beyond the chain of messages
	theirs     float64 // ns
}

// astraCase returns the row as ours, or why it cannot be one.
func astraCase(r reference.Record) (astraRow, string, error) {
	v, err := r.Numbers("npus", "size_bytes", "bw_GiBps", "latency_ns", "splits", "active_chunks", "finish_max_ns")
	if err != nil {
		return astraRow{}, "", err
	}
	size, splits, active := int64(v[1]), int(v[4]), int(v[5])
	c := astraRow{
		name:  fmt.Sprintf("%s %s, %s of %s, %s B in %d", r["collective"], r["algorithm"], r["topology"], r["npus"], r["size_bytes"], splits),
		ranks: int(v[0]), rate: int64(v[2] * (8 << 30)), delay: int64(v[3] * 1000), mss: 4096, theirs: v[6],
	}
	aware := r["backend"] == "aware"
	switch {
	case active > 1 && splits < fluidChunks:
		return c, "chunks at once, too few to be a fluid", nil
	case active > 1 && !aware:
		return c, "chunks at once without contention", nil
	}
	foreign := r["topology"] == "Ring" && r["algorithm"] != "ring" || r["algorithm"] == "doubleBinaryTree"
	if foreign && !aware {
		c.analytical, c.adds = true, float64(splits)
		c.chain = chainOf(r["topology"], r["collective"], r["algorithm"], size/int64(max(1, splits)), c.ranks, splits)
		if c.chain != nil {
			return c, "", nil
		}
	}
	phases := phasesOf(r["collective"], r["algorithm"], size/int64(max(1, splits)), c.ranks)
	switch {
	case r["topology"] == "Ring" && r["algorithm"] != "ring":
		return c, "a ring network, beyond neighbours", nil
	case phases == nil:
		return c, "algorithm " + r["algorithm"], nil
	}
	if r["topology"] != "Switch" { // one hop between the pair, on a link of its own
		c.delay /= 2
		aware = false
	}
	switch {
	case active > 1:
		c.phases, c.fluid, c.delay = phasesOf(r["collective"], r["algorithm"], size, c.ranks), true, 0
		c.analytical, c.mss = r["topology"] != "Switch", 1
	case aware:
		c.delay /= 2
		c.mss = 1 << 40
	default:
		c.analytical = true
		c.adds = float64(splits)
	}
	if !c.fluid {
		c.phases = slices.Repeat(phases, splits)
	}
	return c, "", nil
}

// phasesOf is a collective of ASTRA-sim as phases of ours that make the same
// transfers, nil for none. Its all-gather and its all-to-all by a ring have the
// same chains as ours; "direct" is everything at once, and doubling is halving
// backwards.
func phasesOf(operation, algorithm string, size int64, n int) []collective.Phase {
	total := int64(n) * size // of an all-gather, where size is what each contributes
	phase := func(operation, algorithm string, size int64) []collective.Phase {
		return []collective.Phase{{OperationType: operation, Algorithm: algorithm, DataSize: size}}
	}
	direct := phase(collective.AllToAll, collective.Interleaved, size)
	switch operation + " " + algorithm {
	case "all_reduce ring":
		return phase(collective.AllReduce, collective.Ring, size)
	case "all_reduce halvingDoubling":
		return phase(collective.AllReduce, collective.RecursiveHalvingDoubling, size)
	case "all_reduce direct":
		return slices.Repeat(direct, 2)
	case "all_gather ring":
		return phase(collective.AllGather, collective.Ring, size)
	case "all_gather halvingDoubling":
		return phase(collective.ReduceScatter, collective.Halving, total)
	case "all_gather direct":
		return phase(collective.AllToAll, collective.Interleaved, total)
	case "reduce_scatter ring":
		return phase(collective.ReduceScatter, collective.Ring, size)
	case "reduce_scatter halvingDoubling":
		return phase(collective.ReduceScatter, collective.Halving, size)
	case "reduce_scatter direct", "all_to_all direct":
		return direct
	case "all_to_all ring":
		if n%2 == 0 { // n/2 rounds of n-1 steps
			return slices.Repeat(phase(collective.AllGather, collective.Ring, size/int64(n)), n/2)
		}
	}
	return nil
}

func (c *astraRow) compare(ctx context.Context, s *section) error {
	if c.chain != nil {
		return c.compareChain(ctx, s)
	}
	n := reference.Network{Racks: 1, Hosts: c.ranks, Rate: c.rate, Delay: c.delay, MSS: c.mss}
	rack, err := reference.OneGroup(n, c.phases...)
	if err != nil { // such as an algorithm that takes other numbers of ranks
		s.leave(err.Error())
		return nil
	}
	in, err := unacknowledged(ctx, &rack)
	if err != nil {
		return err
	}
	in.Options.Analytical = c.analytical
	r, err := engine.Run(ctx, in, engine.Observer{})
	if err != nil {
		return err
	}
	ns := float64(r.Time)/1000 + c.adds
	s.Rows = append(s.Rows, row{c.name, ns, ns, c.theirs})
	return nil
}
