package main

import (
	"context"
	"fmt"
	"math"

	"netsim/bench/reference"
	"netsim/simulator/engine"
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
	table, err := reference.Records(dir, "htsim_leafspine.csv")
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
		theirs, err := r.Number("last_fct_us")
		if err != nil {
			return nil, err
		}
		c, reason, err := reference.Packets(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if reason != "" {
			s.leave(reason)
			continue
		}
		span, have := spreads[name]
		if s == &spray {
			span, err = spreadOf(ctx, c, 1)
		} else if !have {
			span, err = spreadOf(ctx, c, seeds)
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
func spreadOf(ctx context.Context, c reference.Case, seeds uint64) ([2]float64, error) {
	span := [2]float64{math.Inf(1), 0}
	for seed := range seeds {
		c.Seed = seed + 1
		in, err := c.Input(ctx)
		if err != nil {
			return span, err
		}
		r, err := engine.Run(ctx, in, engine.Observer{})
		if err != nil {
			return span, err
		}
		us := float64(r.Time) / 1e6
		span = [2]float64{min(span[0], us), max(span[1], us)}
	}
	return span, nil
}
