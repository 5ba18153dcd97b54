package main

import (
	"context"
	"fmt"
	"slices"

	"netsim/prove/bench/reference"
	"netsim/simulator/collective"
	"netsim/simulator/engine"
)

// fluidChunks is the number of concurrent chunks from which ASTRA-sim's
// store-and-forward model is within 1 % of a fluid model.
const fluidChunks = 64

// astraSim compares the engine with ASTRA-sim's analytical backends.
//
// The congestion-unaware backend corresponds to the engine's analytical mode. The
// congestion-aware backend sends each message of a collective as one packet that
// every hop stores. The engine does the same if its MSS is at least a message.
// Networks and algorithms that netsim does not have are compared message by message,
// if there is no contention.
//
// ASTRA-sim has no acknowledgements. Outside its analytical mode the engine waits for
// them, so netsim's links get half the latency. With very many concurrent chunks both
// simulators behave like fluids and hide the latency of all steps but one.
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

// astraRow is one case of ASTRA-sim.
type astraRow struct {
	name   string
	phases []collective.Phase
	chain  [][]message // used instead of phases
	ranks  int
	rate   int64 // bit/s
	delay  int64 // ps, of each of the two links between a pair; in a chain, of a hop
	mss    int64 // bytes
	// analytical selects the engine's mode for comparisons, which no configuration
	// selects.
	analytical bool
	fluid      bool
	adds       float64 // ns that ASTRA-sim adds to the time of the transfers
	theirs     float64 // ns
}

// astraCase converts a row of ASTRA-sim, or returns why netsim cannot run it.
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
	if r["topology"] != "Switch" { // each pair has one hop, on a separate link
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

// phasesOf converts a collective of ASTRA-sim to phases of netsim that make the same
// transfers. It returns nil if there are none. ASTRA-sim's all-gather and all-to-all
// over a ring have the same chains as netsim's. "Direct" starts all transfers at
// once, and doubling is halving in reverse.
func phasesOf(operation, algorithm string, size int64, n int) []collective.Phase {
	total := int64(n) * size // of an all-gather, where size is the contribution of each rank
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
	if err != nil { // for example, the algorithm does not support this number of ranks
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
	s.Rows = append(s.Rows, row{c.name, ns, ns, c.theirs, nil})
	return nil
}
