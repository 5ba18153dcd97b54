package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/stream/publisher"
)

// publishing measures how fast a backlog of workspaces is published in Kafka
// transactions, while nothing else happens. The measurement begins when the first facts
// are published, so it leaves out the start of the process.
func (b *bench) publishing(ctx context.Context) (err error) {
	s, err := b.startStack(ctx, servers{sync: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if _, err := s.makeBacklog(ctx, b.published); err != nil {
		return err
	}
	j, err := s.openEventLog(ctx)
	if err != nil {
		return err
	}
	defer j.Close()
	produced, err := s.produceLimit(ctx, 4096, partitions, b.limit)
	if err != nil {
		return err
	}
	serving, err := s.serve(ctx, "publisher")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serving.stop()) }()
	name := fmt.Sprintf("publishing a backlog of %s in transactions", plural(b.published, "fact"))
	profiled := make(chan error, 1)
	go func() { profiled <- b.profile(ctx, serving.ops, name, b.run) }()
	first, _, err := awaitPosition(ctx, j, 1)
	if err != nil {
		return err
	}
	began, before := time.Now(), s.cpu(serving.process)
	last, at, err := awaitPosition(ctx, j, int64(b.published))
	if err := errors.Join(err, <-profiled); err != nil {
		return errors.Join(err, serving.complaint())
	}
	facts := int(last - first)
	b.report.add(figure{
		Name: name, Value: float64(facts) / at.Sub(began).Seconds(), Unit: "/s", CPU: s.since(before, facts, serving.process),
		Reach: "≥ 50,000/s",
	}, produced)
	return nil
}

// awaitPosition waits until at least so many records of workspaces are published, and
// returns how many are, and when.
func awaitPosition(ctx context.Context, j *eventlog.Kafka, least int64) (count int64, at time.Time, err error) {
	for {
		positions, err := j.GroupOffsets(ctx, publisher.Group(""), j.Topic(events.Workspaces), partitions)
		if err != nil {
			return 0, at, err
		}
		count = 0
		for _, p := range positions {
			count += p.Next
		}
		if at = time.Now(); count >= least {
			return count, at, nil
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return 0, at, ctx.Err()
		}
	}
}
