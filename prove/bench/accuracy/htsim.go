package main

import (
	"context"
	"fmt"
	"math"

	"netsim/prove/bench/reference"
	"netsim/simulator/engine"
)

// seeds is the number of seeds in a spread.
const seeds = 20

// htsim compares the completion time of the last flow with csg-htsim's packet
// simulation. Rows with sprayed packets have one time. Rows with one path for each
// flow depend on csg-htsim's hash and seed, which the engine does not have. The time
// of these rows must lie in the spread of the engine's seeds, or near it: a fluid model
// is not exact, and if the choice of paths does not matter, the spread is one time. NDP
// trims packets and RoCE pauses senders. The engine's transport trims.
func htsim(ctx context.Context, dir string) ([]section, error) {
	sections := map[string]*section{
		"ndp_spray":  {Name: "csg-htsim NDP, packets sprayed", Unit: "us", Median: 0.01, Worst: 0.045},
		"ndp_ecmp1":  {Name: "csg-htsim NDP, a path a flow", Unit: "us", Near: 0.02, Worst: 0.035},
		"roce_ecmp1": {Name: "csg-htsim RoCE, a path a flow", Unit: "us", Near: 0.02, Worst: 0.07},
	}
	table, err := reference.Records(dir, "htsim_leafspine.csv")
	if err == nil {
		err = packets(ctx, table, func(r reference.Record) *section { return sections[r["transport"]] })
	}
	return []section{*sections["ndp_spray"], *sections["ndp_ecmp1"], *sections["roce_ecmp1"]}, err
}

// ownRows compares the rows of prove/bench/reference in the same way.
func ownRows(ctx context.Context, _ string) ([]section, error) {
	sections := map[string]*section{
		"fitted":   {Name: "csg-htsim NDP, own rows, sprayed, fitted", Unit: "us", Median: 0.0085, Worst: 0.19, Listed: true},
		"held out": {Name: "csg-htsim NDP, own rows, sprayed, held out", Unit: "us", Median: 0.01, Worst: 0.175, Listed: true},
		"":         {Name: "csg-htsim NDP, own rows, a path a flow", Unit: "us", Near: 0.02, Worst: 0.095, Listed: true},
	}
	for _, name := range []string{reference.Sprayed, reference.Hashed} {
		table, err := reference.Own(name)
		if err == nil {
			err = packets(ctx, table, func(r reference.Record) *section { return sections[r["use"]] })
		}
		if err != nil {
			return nil, err
		}
	}
	return []section{*sections["fitted"], *sections["held out"], *sections[""]}, nil
}

// packets compares rows of csg-htsim and adds each row to the section that the
// function section returns.
func packets(ctx context.Context, table []reference.Record, section func(reference.Record) *section) error {
	spreads := map[string][2]float64{} // of hashed cases, which NDP and RoCE rows share
	for _, r := range table {
		s := section(r)
		if s == nil {
			return fmt.Errorf("csg-htsim: transport %s is not known", r["transport"])
		}
		name := fmt.Sprintf("%s, %s ranks, %s", r["workload"], r["ranks"], r["oversub"])
		theirs, err := r.Number("last_fct_us")
		if err != nil {
			return err
		}
		c, reason, err := reference.Packets(r)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if reason != "" {
			s.leave(reason)
			continue
		}
		span, have := spreads[name]
		if c.Spray {
			span, err = spreadOf(ctx, c, 1)
		} else if !have {
			span, err = spreadOf(ctx, c, seeds)
			spreads[name] = span
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		s.Rows = append(s.Rows, row{name, span[0], span[1], theirs, settingOf(&c)})
	}
	return nil
}

// spreadOf returns the least and the greatest time of the runs with this many seeds,
// in µs.
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
