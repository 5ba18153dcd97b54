package main

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"netsim/prove/bench/reference"
	"netsim/simulator/collective"
	"netsim/simulator/engine"
	"netsim/simulator/topology"
)

// engines measures the engine on one core. It measures CPU time, because other
// processes may run. The reference values were measured on another machine.
func (b *bench) engines(ctx context.Context) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, c := range []struct {
		name                 string
		ranks                int
		operation, algorithm string
		reach                string // the target, in seconds
	}{
		{"ring allReduce", 1024, collective.AllReduce, collective.Ring, "1"},
		{"ring allReduce", 8192, collective.AllReduce, collective.Ring, "10"},
		{"halving-doubling allReduce", 1024, collective.AllReduce, collective.RecursiveHalvingDoubling, ""},
		{"allToAll", 512, collective.AllToAll, collective.Interleaved, "2"},
	} {
		if c.ranks > 1024 && b.report.Quick {
			continue
		}
		for _, network := range []struct {
			name      string
			routing   engine.Routing
			transport engine.Transport
		}{
			{"hashed, lossless", engine.ECMP, engine.Lossless}, // that of the default NIC
			{"hashed, trimming", engine.ECMP, engine.Trimming},
			{"sprayed, trimming", engine.Spray, engine.Trimming},
		} {
			if c.ranks > 1024 && network.transport != engine.Lossless {
				continue
			}
			in, err := derived(c.ranks, collective.Phase{OperationType: c.operation, Algorithm: c.algorithm, DataSize: 64 << 20})
			if err != nil {
				return err
			}
			in.Options.Routing, in.Options.Transport = network.routing, network.transport
			spent, r, err := timed(ctx, in)
			if err != nil {
				return err
			}
			name := fmt.Sprintf("engine, %s, %s ranks, %s", c.name, number(float64(c.ranks)), network.name)
			reach := ""
			if c.reach != "" {
				reach = "at most " + c.reach + " s"
			}
			b.report.add(figure{Name: name, Value: milliseconds(spent), Unit: " ms CPU", Reach: reach})
			b.report.add(figure{Name: name + ", transfers", Value: float64(r.Sends) / spent.Seconds(), Unit: "/s", Reach: "ASTRA-sim 0.5 to 0.8 M"})
			b.report.add(figure{Name: name + ", events", Value: float64(r.Events) / spent.Seconds(), Unit: "/s"})
		}
	}
	if err := b.memoryOfFlow(ctx); err != nil {
		return err
	}
	return b.besidePackets(ctx)
}

// derived returns the engine's input for a phase of all ranks, on the fabric that netsim
// derives for this number of ranks.
func derived(ranks int, p collective.Phase) (engine.Input, error) {
	d, err := topology.Derive(topology.Constraints{SwitchRadix: "128x400G", SubscriptionRatio: "1:1"}, ranks)
	if err != nil {
		return engine.Input{}, err
	}
	fabric, err := topology.Build(d.Layout())
	if err != nil {
		return engine.Input{}, err
	}
	groups, err := collective.Resolve(nil, []collective.GroupSpec{{Count: 1, GroupSize: ranks, Phases: []collective.Phase{p}}}, true)
	return engine.Input{Fabric: fabric, Groups: groups}, err
}

// timed runs the engine and returns its CPU time and result.
func timed(ctx context.Context, in engine.Input) (time.Duration, *engine.Result, error) {
	runtime.GC()
	before := cpuSelf()
	r, err := engine.Run(ctx, in, engine.Observer{})
	if err == nil {
		err = ctx.Err()
	}
	return cpuSelf() - before, r, err
}

// memoryOfFlow measures the memory per transfer while the transfers of an allToAll are in
// flight.
func (b *bench) memoryOfFlow(ctx context.Context) error {
	in, err := derived(512, collective.Phase{OperationType: collective.AllToAll, Algorithm: collective.Interleaved, DataSize: 64 << 20})
	if err != nil {
		return err
	}
	heap := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	empty, full, flows := heap(), 0.0, int64(0)
	in.Options.ProgressEvents = 4096
	_, err = engine.Run(ctx, in, engine.Observer{Progress: func(p *engine.Progress) error {
		if flows == 0 && p.Events >= p.SendsTotal {
			flows, full = p.SendsTotal-p.Sends, heap()
		}
		return nil
	}})
	if err != nil {
		return err
	}
	b.report.add(figure{Name: fmt.Sprintf("engine, memory of a transfer of %s on their way", number(float64(flows))), Value: (full - empty) / float64(flows), Unit: " B"})
	return nil
}

// besidePackets measures how much faster the engine is than csg-htsim in the cases of
// 64 ranks. The reference has csg-htsim's wall-clock times on another machine. A
// second figure compares with the time that the same packets take at the highest
// published packet rate of csg-htsim.
func (b *bench) besidePackets(ctx context.Context) error {
	table, err := reference.Records(reference.Dir, "htsim_leafspine.csv")
	if err != nil {
		return err
	}
	const fastest = 335_000 // packets a second
	var measured, published []float64
	for _, row := range table {
		if row["ranks"] != "64" {
			continue
		}
		c, reason, err := reference.Packets(row)
		if err != nil {
			return err
		}
		if reason != "" {
			continue
		}
		in, err := c.Input(ctx)
		if err != nil {
			return err
		}
		v, err := row.Numbers("wall_s", "data_packets")
		if err != nil {
			return err
		}
		// A run takes a few milliseconds. The least time of several runs is the one
		// that other processes disturbed least.
		least := time.Duration(math.MaxInt64)
		for begin := time.Now(); least == math.MaxInt64 || time.Since(begin) < b.limit/10; {
			spent, _, err := timed(ctx, in)
			if err != nil {
				return err
			}
			least = min(least, spent)
		}
		each := max(least, time.Microsecond).Seconds()
		measured, published = append(measured, v[0]/each), append(published, v[1]/fastest/each)
	}
	if len(measured) == 0 {
		return nil
	}
	for _, c := range []struct {
		name   string
		factor []float64
		reach  string
	}{
		{"than csg-htsim took", measured, "at least 100"},
		{"than its packets take at 335 k/s", published, ""},
	} {
		slices.Sort(c.factor)
		name := fmt.Sprintf("engine, %d cases of 64 ranks, times faster %s", len(c.factor), c.name)
		b.report.add(figure{Name: name + ", median", Value: c.factor[len(c.factor)/2], Reach: c.reach})
		b.report.add(figure{Name: name + ", least", Value: c.factor[0], Reach: c.reach})
	}
	return nil
}
