package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"netsim/events"
	"netsim/infra/facts"
	"netsim/infra/health"
	"netsim/infra/telemetry"
	"netsim/stream/lake"
)

// lakeMergeAfter is the time after the end of an hour when its files are merged. Facts
// are written to the lake in seconds.
const lakeMergeAfter = 5 * time.Minute

// lake returns the writer of the lake. One process at a time writes it.
func (s *base) lake(partitions map[events.Family]int32) *lake.Lake {
	return lake.New(lake.Config{
		Pool: s.Pool, Objects: s.Objects, Bucket: s.config.S3Bucket, Facts: lakeFacts{s.facts, facts.NewFrameReader(s.EventLog, s.watcher), s.watcher.Next}, Judged: s.watcher.Next,
		EventLog: s.EventLog, Leases: &facts.Leases{Pool: s.Pool, Subscriber: lake.Subscriber, Process: s.Process, Shards: 1, Log: s.log},
		Partitions: partitions,
		Every:      s.config.LakeEvery, Bytes: s.config.LakeBytes,
		MergeAfter: lakeMergeAfter, DeleteAfter: s.config.LakeDeleteAfter,
		Now: time.Now, Log: s.log,
	})
}

// observeLake samples the writer of the lake.
func (s *base) observeLake(l *lake.Lake) {
	const (
		writing, behind, age     = "netsim_lake_writing", "netsim_lake_lag_facts", "netsim_lake_lag_seconds"
		commits, rows, files, ko = "netsim_lake_commits_total", "netsim_lake_facts_total", "netsim_lake_files_total", "netsim_lake_failures_total"
	)
	s.metrics.Sample(func(emit telemetry.Emit) {
		r := l.Report()
		writes := 0.0
		if r.Writing {
			writes = 1
		}
		emit(writing, writes)
		emit(behind, float64(r.Facts))
		emit(age, r.Behind.Seconds())
		emit(commits, float64(r.Commits))
		emit(rows, float64(r.Rows))
		emit(files, float64(r.Files), "committed")
		emit(files, float64(r.Merged), "merged")
		emit(files, float64(r.Deleted), "deleted")
		emit(ko, float64(r.Failures))
	}, writing, behind, age, commits, rows, files, ko)
}

// lakeStuck is how many intervals a fact may wait for the lake before its writer counts
// as stuck.
const lakeStuck = 6

// probeLake degrades while the lake cannot be written.
func (d *domain) probeLake(context.Context) health.State {
	r := d.lake.Report()
	switch {
	case errors.Is(r.Error, lake.ErrOtherLog): // for ever, whatever the log has meanwhile
		return health.State{Err: r.Error, Message: r.Error.Error()}
	case r.Error != nil && (r.Facts > 0 || !r.Writing): // without facts nothing shows that it is over
		return health.State{
			Err:     fmt.Errorf("the lake could not be written for %v: %w", time.Since(r.FailingSince).Round(time.Second), r.Error),
			Message: "the lake cannot be written",
		}
	case r.Ahead > 0:
		return health.State{Message: fmt.Sprintf("the lake has %d records that the log does not have", r.Ahead)}
	case r.Behind > lakeStuck*d.lake.Every:
		return health.State{Message: fmt.Sprintf("the lake is %v behind", r.Behind.Round(time.Second))}
	}
	return health.State{}
}

// farBehind is how many records the lake is behind from which it reads for itself. Nearer
// to the end it takes the facts that the reactions have decoded.
const farBehind = 4096

// lakeFacts reads facts for the lake, which needs no decoded data.
type lakeFacts struct {
	near, far *facts.Reader
	judged    func(family events.Family, partition int32) int64
}

// Next implements lake.Facts.
func (r lakeFacts) Next(ctx context.Context, family events.Family, partition int32, from int64) (facts.Batch, error) {
	if r.judged(family, partition)-from > farBehind {
		return r.far.Next(ctx, family, partition, from)
	}
	return r.near.Next(ctx, family, partition, from)
}
