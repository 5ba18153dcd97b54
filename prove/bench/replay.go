package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"netsim/simulator/chakra"
	"netsim/simulator/engine"
	"netsim/simulator/replay"
	"netsim/simulator/schedule"
	"netsim/simulator/topology"
)

// replays measures the cost of Chakra traces on one core: reading them, building a
// schedule from them, and running the schedule. The traces are generated. Each step of
// a rank is a computation, an all-reduce of 1 MiB in a group of eight, and a message
// to the rank at the same position in the next group.
func (b *bench) replays(ctx context.Context) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if err := b.readTrace(ctx); err != nil {
		return err
	}
	many, few := 4096, 1024
	if b.report.Quick {
		many, few = 1024, 256
	}
	if _, err := b.makeSchedule(many, 250); err != nil {
		return err
	}
	p, err := b.makeSchedule(few, 20)
	if err != nil {
		return err
	}
	return b.runSchedule(ctx, p)
}

// readTrace measures how fast one large trace file is read.
func (b *bench) readTrace(ctx context.Context) error {
	file := filepath.Join(b.dir, "trace.0.et")
	if err := os.WriteFile(file, trace(0, 8, 250_000), 0o600); err != nil {
		return err
	}
	nodes := 0
	parsed, err := throughput(ctx, b.run, file, func(f io.Reader) error {
		r, err := chakra.NewReader(f, chakra.Limits{})
		for err == nil {
			if _, err = r.Next(); err == nil {
				nodes++
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	buffer := make([]byte, 64<<10)
	raw, err := throughput(ctx, b.limit, file, func(f io.Reader) error {
		_, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, buffer)
		return err
	})
	if err != nil {
		return err
	}
	b.report.add(figure{Name: "trace read, one core", Value: parsed.megabytes(), Unit: " MB/s"}, limit{Name: "the file read alone, MB", Value: raw.megabytes()})
	b.report.add(figure{Name: "nodes of a trace read, one core", Value: float64(nodes) / parsed.spent.Seconds(), Unit: "/s"})
	return nil
}

type moved struct {
	bytes int64
	spent time.Duration
}

func (m moved) megabytes() float64 { return float64(m.bytes) / 1e6 / m.spent.Seconds() }

// throughput reads a file repeatedly for the duration d.
func throughput(ctx context.Context, d time.Duration, name string, read func(io.Reader) error) (moved, error) {
	var m moved
	begin := time.Now()
	for m.spent < d && ctx.Err() == nil {
		f, err := os.Open(name)
		if err != nil {
			return m, err
		}
		info, err := f.Stat()
		if err == nil {
			m.bytes += info.Size()
			err = read(f)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return m, err
		}
		m.spent = time.Since(begin)
	}
	return m, ctx.Err()
}

// makeSchedule measures building a schedule from the traces of all ranks, and returns
// the schedule.
func (b *bench) makeSchedule(ranks, steps int) (*schedule.Schedule, error) {
	groups := chakra.Groups{}
	for r := range ranks {
		groups[group(r)] = append(groups[group(r)], r)
	}
	builder := replay.New(ranks, replay.Options{Groups: groups, Serialize: true})
	var spent time.Duration
	for rank := range ranks {
		content := trace(rank, ranks, steps)
		begin := time.Now()
		r, err := chakra.NewReader(bytes.NewReader(content), chakra.Limits{})
		if err == nil {
			err = builder.Add(rank, r)
		}
		if err != nil {
			return nil, err
		}
		spent += time.Since(begin)
	}
	begin := time.Now()
	p, err := builder.Schedule()
	spent += time.Since(begin)
	if err != nil {
		return nil, err
	}
	nodes := 4 * ranks * steps
	name := fmt.Sprintf("nodes read and ordered for replay, %d ranks, one core", ranks)
	b.report.add(figure{Name: name, Value: float64(nodes) / spent.Seconds(), Unit: "/s"})
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	b.report.add(figure{Name: fmt.Sprintf("memory of a node in a schedule of %d", nodes), Value: float64(memory.HeapAlloc) / float64(nodes), Unit: " B"})
	return p, nil
}

// runSchedule measures the replay of the schedule on a fabric with two tiers.
func (b *bench) runSchedule(ctx context.Context, p *schedule.Schedule) error {
	ranks := len(p.Ranks)
	derived, err := topology.Derive(topology.Constraints{SwitchRadix: "128x400G", SubscriptionRatio: "1:1"}, ranks)
	if err != nil {
		return err
	}
	fabric, err := topology.Build(derived.Layout())
	if err != nil {
		return err
	}
	begin := time.Now()
	r, err := engine.Run(ctx, engine.Input{Fabric: fabric, Replay: &engine.Replay{Schedule: p, Synchronize: true}}, engine.Observer{})
	if err != nil {
		return err
	}
	seconds := time.Since(begin).Seconds()
	b.report.add(figure{Name: fmt.Sprintf("engine events of a replay, %d ranks, one core", ranks), Value: float64(r.Events) / seconds, Unit: "/s"})
	b.report.add(figure{
		Name: fmt.Sprintf("transfers of a replay, %d ranks, one core", ranks), Value: float64(r.Sends) / seconds, Unit: "/s",
		Reach: "ASTRA-sim 0.5 to 0.8 M",
	})
	return nil
}
