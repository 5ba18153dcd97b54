package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"netsim/infra/wait"
)

// lakes measures how far the lake is behind under load, how fast it catches up with a
// log, and how many files are left after a merge.
func (b *bench) lakes(ctx context.Context) error {
	if err := b.lakeUnderLoad(ctx); err != nil {
		return err
	}
	return b.lakeFromBacklog(ctx)
}

// The load of the lake.
const (
	lakeClients   = 64
	lakePerSecond = 2000
	lakeRun       = 30 * time.Second // three intervals
)

// lakeUnderLoad measures how many seconds the lake is behind under commands of 64 clients.
// The lake runs in the service that answers them.
func (b *bench) lakeUnderLoad(ctx context.Context) (err error) {
	s, err := b.startStack(ctx, servers{sync: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	serving, err := s.serve(ctx, allRoles+",lake")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serving.stop()) }()
	conns, hangUp, err := serving.dial(lakeClients)
	if err != nil {
		return err
	}
	defer hangUp()
	name := fmt.Sprintf("lake beside %d clients, at most %d commands/s", lakeClients, lakePerSecond)
	watching, stop := context.WithCancel(ctx)
	defer stop()
	var behind atomic.Int64 // ms
	watched := make(chan error, 1)
	go func() { watched <- watchLake(watching, serving.ops, &behind) }()
	got, cost, err := b.under(ctx, s, services{serving}, name, plan{warm: b.warm, run: lakeRun, perSecond: lakePerSecond}, each(conns, createWorkspaces))
	if err != nil {
		return err
	}
	if err := s.awaitLake(ctx); err != nil {
		return err
	}
	stop()
	if err := <-watched; err != nil {
		return err
	}
	b.report.add(figure{Name: name + ": behind at most", Value: float64(behind.Load()) / 1000, Unit: " s", Reach: "≤ 15 s"})
	b.report.add(figure{Name: name + ": commands", Value: got.PerSecond, Unit: "/s", P50: milliseconds(got.P50), P99: milliseconds(got.P99), CPU: cost})
	return b.lakeMerged(ctx, s)
}

// watchLake keeps the most that the lake was behind, in ms.
func watchLake(ctx context.Context, ops string, behind *atomic.Int64) error {
	for wait.For(ctx, 200*time.Millisecond) == nil {
		text, err := get(ctx, "http://"+ops+"/metrics")
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		for line := range strings.Lines(text) {
			value, found := strings.CutPrefix(line, "netsim_lake_lag_seconds ")
			if !found {
				continue
			}
			seconds, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				return fmt.Errorf("read the lag of the lake: %w", err)
			}
			behind.Store(max(behind.Load(), int64(seconds*1000)))
		}
	}
	return nil
}

func get(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close() //nolint:errcheck // read to the end
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

// lakeFromBacklog measures how fast a process with the roles projector and lake writes
// the facts of a log that is judged, its CPU time, and the files after a merge.
func (b *bench) lakeFromBacklog(ctx context.Context) (err error) {
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
	used := s.cpu()
	serving, err := s.serve(ctx, "projector,lake")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serving.stop()) }()
	if err := s.awaitLake(ctx); err != nil {
		return errors.Join(err, serving.complaint())
	}
	var rows, size int64
	var seconds float64
	err = s.pool.QueryRow(ctx, `SELECT sum(record_count)::bigint, sum(file_size_bytes)::bigint,
		(SELECT extract(epoch FROM max(snapshot_time) - min(snapshot_time)) FROM lake.ducklake_snapshot)::float8 FROM lake.ducklake_data_file`).
		Scan(&rows, &size, &seconds)
	if err != nil {
		return err
	}
	if rows < int64(count) {
		return fmt.Errorf("the lake has %d of %d facts", rows, count)
	}
	name := fmt.Sprintf("lake from a backlog of %s, %d cores", plural(count, "fact"), runtime.NumCPU())
	b.report.add(figure{Name: name, Value: float64(rows) / seconds, Unit: " facts/s", CPU: s.since(used, count, serving.process)}, read)
	b.report.add(figure{Name: "size of a fact in the lake", Value: float64(size) / float64(rows), Unit: " B"})
	return nil
}

// lakeMerged makes the snapshots two hours older, waits for the merge, and counts the
// files of an hour and table.
func (b *bench) lakeMerged(ctx context.Context, s *stack) error {
	var before int64
	if err := s.pool.QueryRow(ctx, `SELECT count(*) FROM lake.ducklake_data_file`).Scan(&before); err != nil {
		return err
	}
	if _, err := s.pool.Exec(ctx, `UPDATE lake.ducklake_snapshot SET snapshot_time = snapshot_time - interval '2 hours'`); err != nil {
		return err
	}
	say("waiting for the merge of %d files", before)
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	for {
		var most, files int64
		err := s.pool.QueryRow(ctx, `SELECT coalesce(max(n), 0), coalesce(sum(n), 0)::bigint FROM (
			SELECT count(*) AS n FROM lake.ducklake_data_file f JOIN lake.ducklake_snapshot s ON s.snapshot_id = f.begin_snapshot
			GROUP BY table_id, date_trunc('hour', snapshot_time)) AS hours`).Scan(&most, &files)
		if err != nil {
			return err
		}
		if most == 1 {
			b.report.add(figure{Name: fmt.Sprintf("files of an hour and table in the lake, %d files merged to %d", before, files), Value: float64(most), Unit: "", Reach: "1"})
			return nil
		}
		if err := wait.For(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("an hour and table has %d files: %w", most, err)
		}
	}
}

// awaitLake waits until the lake has every record that is judged.
func (s *stack) awaitLake(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	for {
		var behind int64
		err := s.pool.QueryRow(ctx, `SELECT coalesce(sum(o.next - coalesce(p.next, 0)), 0)::bigint FROM readmodel.offsets o
			LEFT JOIN lake.netsim_position p ON p.family = o.family AND p.partition = o.partition`).Scan(&behind)
		if err == nil && behind == 0 {
			return nil
		}
		if waiting := wait.For(ctx, 50*time.Millisecond); waiting != nil {
			return fmt.Errorf("the lake is %d records behind: %w", behind, errors.Join(err, waiting))
		}
	}
}
