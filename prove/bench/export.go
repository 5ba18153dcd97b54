package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/infra/devissuer"
	"netsim/infra/eventlog"
	"netsim/infra/facts"
	"netsim/infra/projector"
	"netsim/infra/wait"
	"netsim/stream/export"
)

// exports measures "netsim events export" of a log of simulations and billing, which a
// read model has judged, to each format. The service does not run.
func (b *bench) exports(ctx context.Context) (err error) {
	s, err := b.startStack(ctx, servers{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	j, count, err := b.judgedHistory(ctx, s)
	if err != nil {
		return err
	}
	defer j.Close()
	read, err := b.readLimit(ctx, j)
	if err != nil {
		return err
	}
	judged, err := s.judgedLimit(ctx, j)
	if err != nil {
		return err
	}
	for _, format := range []string{export.Parquet, export.NDJSON, export.CSV} {
		if err := b.exportTo(ctx, s, format, count, read, judged); err != nil {
			return err
		}
	}
	return nil
}

// judgedHistory fills the log with simulations and billing, and judges it. It returns the
// log, which the caller closes, and the number of facts.
func (b *bench) judgedHistory(ctx context.Context, s *stack) (j *eventlog.Kafka, count int, err error) {
	if j, err = s.openEventLog(ctx); err != nil {
		return nil, 0, err
	}
	defer func() {
		if err != nil {
			j.Close()
		}
	}()
	if err := j.Ensure(ctx); err != nil {
		return nil, 0, err
	}
	simulations, days := 5*b.burst*10/24, 5*b.burst/4000 // as many facts of billing as of simulations
	say("appending the facts of %d simulations and of %d days of billing", simulations, days)
	count, err = appendAll(ctx, j, newHistory(devissuer.DefaultAccount, simulations).facts())
	if err != nil {
		return nil, 0, err
	}
	billed, err := appendAll(ctx, j, billingDays(100, days))
	if err != nil {
		return nil, 0, err
	}
	count += billed
	say("projecting them")
	for _, args := range [][]string{{"readmodel", "rebuild", "--once", rebuiltModel}, {"readmodel", "promote", rebuiltModel}} {
		if err := s.tool(ctx, args...).Run(); err != nil {
			return nil, 0, fmt.Errorf("netsim %s %s: %w", args[0], args[1], err)
		}
	}
	return j, count, nil
}

// exportTo measures an export in a format.
func (b *bench) exportTo(ctx context.Context, s *stack, format string, count int, limits ...limit) error {
	to := filepath.Join(s.dir, "export-"+format)
	tool := &process{cmd: s.tool(ctx, "events", "export", "--format", format, "--to", to)}
	said, err := os.Create(to + ".log")
	if err != nil {
		return err
	}
	defer said.Close() //nolint:errcheck // the bench reads it by name
	tool.cmd.Stderr, tool.said = said, said.Name()
	began, used := time.Now(), s.cpu(tool)
	if err := tool.cmd.Run(); err != nil {
		return errors.Join(fmt.Errorf("netsim events export: %w", err), tool.complaint())
	}
	took := time.Since(began)
	text, err := os.ReadFile(filepath.Join(to, export.ManifestName))
	if err != nil {
		return err
	}
	var m export.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	if !m.Complete || m.Rows() != int64(count) {
		return fmt.Errorf("%d of %d facts were exported", m.Rows(), count)
	}
	size := int64(0)
	for _, f := range m.Files {
		size += f.Bytes
	}
	reach := ""
	if format == export.Parquet {
		reach = "≥ 200,000 facts/s"
	}
	name := fmt.Sprintf("export to %s, %s, %d cores", format, plural(count, "fact"), runtime.NumCPU())
	b.report.add(figure{Name: name, Value: float64(count) / took.Seconds(), Unit: " facts/s", Reach: reach, CPU: s.since(used, count, tool)}, limits...)
	b.report.add(figure{Name: "size of a fact in " + format, Value: float64(size) / float64(count), Unit: " B"})
	memory := tool.cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	b.report.add(figure{Name: "memory of the export to " + format, Value: float64(memory) / 1024, Unit: " MB"})
	return nil
}

// judgedLimit measures how many facts per second are read with their verdicts and frames
// and without anything else, in two partitions at a time.
func (s *stack) judgedLimit(ctx context.Context, j *eventlog.Kafka) (limit, error) {
	log, err := j.Describe(ctx)
	if err != nil {
		return limit{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watcher := projector.NewWatcher(s.pool, slog.New(slog.DiscardHandler))
	go watcher.Run(ctx) //nolint:errcheck // ends with the context
	for _, topic := range log.Topics {
		for n, part := range topic.Partitions {
			for watcher.Next(topic.Family, int32(n)) < part.End {
				if err := wait.For(ctx, time.Millisecond); err != nil {
					return limit{}, err
				}
			}
		}
	}
	reader := facts.NewFrameReader(j, watcher)
	group, reading := errgroup.WithContext(ctx)
	group.SetLimit(runtime.NumCPU())
	began, count := time.Now(), make([]int, len(log.Topics)*partitions)
	for i, topic := range log.Topics {
		for n, part := range topic.Partitions {
			group.Go(func() error {
				for from := int64(0); from < part.End; {
					batch, err := reader.Next(reading, topic.Family, int32(n), from)
					if err != nil {
						return err
					}
					count[i*partitions+n] += len(batch.Facts)
					from = batch.To
				}
				return nil
			})
		}
	}
	if err := group.Wait(); err != nil {
		return limit{}, err
	}
	took, all := time.Since(began), 0
	for _, n := range count {
		all += n
	}
	return limit{Name: "facts read with their verdicts", Value: float64(all) / took.Seconds()}, nil
}
