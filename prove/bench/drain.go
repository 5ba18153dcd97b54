package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/IBM/sarama"

	"netsim/infra/broker"
)

// backlog is the work that the service has not done yet.
type backlog struct {
	records   int64 // records that the projector has not judged
	reactions int64 // facts that a handler has not processed, summed over the handlers
	jobs      int64 // jobs that wait or run
}

func (b backlog) String() string {
	return fmt.Sprintf("%d records to project, %d reactions, %d jobs", b.records, b.reactions, b.jobs)
}

const (
	drainPoll  = 250 * time.Millisecond // each poll costs the broker and the clients CPU time, which the figures include
	drainLimit = 5 * time.Minute
)

// drain waits until the service has no work left, and returns how long that took. So the
// next figure includes only its own work.
func (s *stack) drain(ctx context.Context) (time.Duration, error) {
	c := sarama.NewConfig()
	(&broker.Connector{}).Configure(c)
	c.Version = sarama.V2_8_0_0
	c.Metadata.AllowAutoTopicCreation = false
	client, err := sarama.NewClient(s.brokers(), c)
	if err != nil {
		return 0, err
	}
	defer client.Close() //nolint:errcheck // nothing was written
	admin, err := sarama.NewClusterAdminFromClient(client)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, drainLimit)
	defer cancel()
	return untilEmpty(ctx, drainPoll, func() (backlog, error) { return s.backlog(ctx, client, admin) })
}

// untilEmpty polls until the backlog is empty twice in a row, because one part can
// create work for a part that was polled before. It returns the time from its start
// to the first of the two polls.
func untilEmpty(ctx context.Context, every time.Duration, poll func() (backlog, error)) (time.Duration, error) {
	began, tick := time.Now(), time.NewTicker(every)
	defer tick.Stop()
	for empty := time.Duration(-1); ; {
		took := time.Since(began)
		left, err := poll()
		switch {
		case err != nil:
			return 0, err
		case left != backlog{}:
			empty = -1
		case empty >= 0:
			return empty, nil
		default:
			empty = took
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, errors.Join(fmt.Errorf("%s are left", left), ctx.Err())
		}
	}
}

func (s *stack) backlog(ctx context.Context, client sarama.Client, admin sarama.ClusterAdmin) (left backlog, err error) {
	ends, topics, err := s.ends(ctx, client)
	if err != nil {
		return left, err
	}
	judged, err := s.judged(ctx)
	if err != nil {
		return left, err
	}
	for _, parts := range ends {
		for _, end := range parts {
			left.records += end
		}
	}
	left.records -= judged
	groups, err := admin.ListConsumerGroups()
	if err != nil {
		return left, err
	}
	for group := range groups {
		if !strings.HasPrefix(group, "netsim-reactor.") {
			continue
		}
		at, err := admin.ListConsumerGroupOffsets(group, topics)
		if err != nil {
			return left, err
		}
		for topic, parts := range at.Blocks {
			if !strings.HasSuffix(group, strings.TrimPrefix(topic, "netsim")) {
				continue // this topic belongs to another handler
			}
			for part, block := range parts {
				left.reactions += ends[topic][part] - max(block.Offset, 0)
			}
		}
	}
	err = s.pool.QueryRow(ctx, `
		SELECT count(*) FROM jobs.river_job
		WHERE state IN ('available', 'running', 'pending', 'retryable') OR state = 'scheduled' AND scheduled_at < now() + interval '10 seconds'`).Scan(&left.jobs)
	return left, err
}

// ends returns the end offset of each partition of the event topics by topic, and the
// partitions by topic.
func (s *stack) ends(ctx context.Context, client sarama.Client) (map[string]map[int32]int64, map[string][]int32, error) {
	rows, err := s.pool.Query(ctx, `SELECT family, partition FROM offsets`)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	ends, topics := map[string]map[int32]int64{}, map[string][]int32{}
	for rows.Next() {
		var family string
		var part int32
		if err := rows.Scan(&family, &part); err != nil {
			return nil, nil, err
		}
		topic := "netsim." + family
		if ends[topic] == nil {
			ends[topic] = map[int32]int64{}
		}
		topics[topic] = append(topics[topic], part)
		if ends[topic][part], err = client.GetOffset(topic, part, sarama.OffsetNewest); err != nil {
			return nil, nil, err
		}
	}
	return ends, topics, rows.Err()
}
