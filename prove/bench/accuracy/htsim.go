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
// is not exact, and if the choice of paths does not matter, the spread is one time. Rows of
// NDP are compared with NICs whose transport trims, rows of RoCE with lossless ones.
func htsim(ctx context.Context, dir string) ([]section, error) {
	sections := map[string]*section{
		"ndp_spray":  {Name: "csg-htsim NDP, packets sprayed", Unit: "us", Median: 0.007, Worst: 0.05},
		"ndp_ecmp1":  {Name: "csg-htsim NDP, a path a flow", Unit: "us", Near: 0.02, Worst: 0.02},
		"roce_ecmp1": {Name: "csg-htsim RoCE, a path a flow", Unit: "us", Near: 0.02, Worst: 0.03},
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
		"fitted":   {Name: "csg-htsim NDP, own rows, sprayed, fitted", Unit: "us", Median: 0.0075, Worst: 0.165, Listed: true},
		"held out": {Name: "csg-htsim NDP, own rows, sprayed, held out", Unit: "us", Median: 0.0105, Worst: 0.175, Listed: true},
		// Rows of Later. Where control fills much of a link, the model is far off; see
		// docs/engine.md.
		"seen":          {Name: "csg-htsim NDP, small packets, sprayed, seen", Unit: "us", Median: 0.009, Worst: 0.11, Listed: true},
		"seen, hashed":  {Name: "csg-htsim NDP, small packets, a path a flow, seen", Unit: "us", Near: 0.02, Worst: 0.02, Longest: 1.5, Listed: true},
		"later":         {Name: "csg-htsim NDP, held out of engine 1.11, sprayed", Unit: "us", Median: 0.0075, Worst: 0.15, Listed: true},
		"later, hashed": {Name: "csg-htsim NDP, held out of engine 1.11, a path a flow", Unit: "us", Worst: 0.25, Longest: 1.1, Listed: true},
		"":              {Name: "csg-htsim NDP, own rows, a path a flow", Unit: "us", Near: 0.02, Worst: 0.05, Longest: 1.3, Listed: true},
		// Rows of Transports by their transport. Their times are medians of up to 20 seeds.
		"ndp_spray":  {Name: "csg-htsim NDP, other parameters, sprayed", Unit: "us", Median: 0.006, Worst: 0.035, Listed: true},
		"ndp_ecmp1":  {Name: "csg-htsim NDP, other parameters, a path a flow", Unit: "us", Near: 0.02, Worst: 0.02, Longest: 1.35, Listed: true},
		"roce_ecmp1": {Name: "csg-htsim RoCE, other parameters, a path a flow", Unit: "us", Near: 0.02, Worst: 0.02, Longest: 1.15, Listed: true},
	}
	for _, name := range []string{reference.Sprayed, reference.Hashed, reference.Transports, reference.Later} {
		table, err := reference.Own(name)
		key := func(r reference.Record) string { return r["use"] }
		switch name {
		case reference.Transports:
			key = func(r reference.Record) string { return r["transport"] }
		case reference.Later:
			key = func(r reference.Record) string {
				use := map[string]string{"seen": "seen", "held out": "later"}[r["use"]]
				if r["transport"] == "ndp_ecmp1" {
					use += ", hashed"
				}
				return use
			}
		}
		if err == nil {
			err = packets(ctx, table, func(r reference.Record) *section { return sections[key(r)] })
		}
		if err != nil {
			return nil, err
		}
	}
	var list []section
	for _, name := range []string{"fitted", "held out", "", "ndp_spray", "ndp_ecmp1", "roce_ecmp1", "seen", "seen, hashed", "later", "later, hashed"} {
		list = append(list, *sections[name])
	}
	return list, nil
}

// packets compares rows of csg-htsim and adds each row to the section that the
// function section returns.
func packets(ctx context.Context, table []reference.Record, section func(reference.Record) *section) error {
	for _, r := range table {
		s := section(r)
		if s == nil {
			return fmt.Errorf("csg-htsim: transport %s is not known", r["transport"])
		}
		name := fmt.Sprintf("%s, %s ranks, %s", r["workload"], r["ranks"], r["oversub"])
		if r["gbps"] != "" {
			name = fmt.Sprintf("%s, MSS %s B, %s Gb/s, %s ns, %s", r["workload"], r["mtu"], r["gbps"], r["delay_ns"], r["oversub"])
		}
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
		paths := uint64(seeds)
		if c.Spray {
			paths = 1
		}
		span, err := spreadOf(ctx, c, paths)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if !c.Spray && r["least_us"] != "" {
			least, most, err := spreadIn(r)
			if err != nil {
				return err
			}
			s.longest = max(s.longest, span[1]/most)
			if span[0] == span[1] {
				// No path is chosen. The engine has one time, which is compared with those of
				// the reference's seeds: which packets a queue trims is random.
				theirs = max(least, min(span[0], most))
			}
		}
		s.Rows = append(s.Rows, row{name, span[0], span[1], theirs, settingOf(&c)})
	}
	return nil
}

// spreadIn returns the least and the greatest time of a row's seeds, in µs.
func spreadIn(r reference.Record) (least, most float64, err error) {
	v, err := r.Numbers("least_us", "most_us")
	if err != nil {
		return 0, 0, err
	}
	return v[0], v[1], nil
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
