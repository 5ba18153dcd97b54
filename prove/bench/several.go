package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/events"
)

const (
	severalClients = 64
	// spreadWithin is the time that new processes get to take over their shards.
	spreadWithin = 5 * time.Second
	// retryAfter is the pause of a client whose write was refused.
	retryAfter = 20 * time.Millisecond
	// takeoverLimit is how long a takeover may take before it fails the run.
	takeoverLimit = 2 * time.Minute
)

// kafkaJars returns the directory of Apache Kafka's jars, which the tests fetch, or ""
// if there are none or there is no Java.
func kafkaJars(root string) string {
	jars := filepath.Join(root, ".cache", "kafka")
	found, _ := filepath.Glob(filepath.Join(jars, "kafka_*.jar")) //nolint:errcheck // the pattern is right
	if _, err := exec.LookPath("java"); err != nil || len(found) == 0 {
		return ""
	}
	return jars
}

// growing are the numbers of processes that are measured.
func growing() []int { return []int{1, 2, 3, 6} }

// severalShards are the numbers of partitions on which processes are measured, on the
// embedded broker. Apache Kafka has the first number only.
func severalShards() []int { return []int{12, 24} }

// several measures processes on each number of shards, and on Apache Kafka if its jars
// are there.
func (b *bench) several(ctx context.Context) error {
	for _, shards := range severalShards() {
		if err := b.processes(ctx, servers{sync: true, shards: shards}, fmt.Sprintf("%d shards, embedded broker", shards)); err != nil {
			return err
		}
	}
	jars := kafkaJars(b.root)
	if jars == "" {
		say("several processes: without Apache Kafka, because its jars or Java are not here")
		return nil
	}
	shards := severalShards()[0]
	return b.processes(ctx, servers{sync: true, kafka: jars, shards: shards}, fmt.Sprintf("%d shards, Apache Kafka", shards))
}

// processes measures one process and then more, with all roles, on the same servers, and
// then how fast the others take over the work of a killed one.
func (b *bench) processes(ctx context.Context, how servers, on string) (err error) {
	s, err := b.startStack(ctx, how)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	var all services
	defer func() { err = errors.Join(err, all.stop()) }()
	made, one, reach := 0, "", ""
	for _, processes := range growing() {
		for len(all) < processes {
			another, err := s.serve(ctx, allRoles)
			if err != nil {
				return err
			}
			all = append(all, another)
		}
		time.Sleep(spreadWithin)
		name := fmt.Sprintf("%s, %s, %s", plural(processes, "process"), on, plural(severalClients, "client"))
		more, err := b.createsBy(ctx, s, all, name, reach, one)
		if err != nil {
			return err
		}
		if made += more; one == "" {
			one, reach = name, "no slower than one process, CPU ≤ 1.2 of it"
		}
		if err := s.countWorkspaces(ctx, made); err != nil {
			return err
		}
	}
	took, err := b.takeover(ctx, all, how.shards)
	if err != nil {
		return err
	}
	b.report.add(figure{Name: fmt.Sprintf("takeover after kill -9 of one of %d processes, %s", len(all), on), Value: took.Seconds(), Unit: " s", Reach: "≤ 5 s"})
	return nil
}

// createsBy measures creates that are spread over the services, and returns their number.
// The figure is compared with the figures in beside. The warm-up and the run are longer
// than for other figures, because Apache Kafka is slow until its code is compiled.
func (b *bench) createsBy(ctx context.Context, s *stack, all services, name, reach string, beside ...string) (int, error) {
	conns, hangUp, err := all.dial(severalClients)
	if err != nil {
		return 0, err
	}
	defer hangUp()
	if _, err := s.drain(ctx); err != nil {
		return 0, fmt.Errorf("before %s: %w", name, err)
	}
	before, err := all.counts(ctx)
	if err != nil {
		return 0, err
	}
	got, costs, err := b.under(ctx, s, all, name, plan{warm: 5 * b.warm, run: 2 * b.run}, each(conns, createWorkspaces))
	if err != nil {
		return 0, err
	}
	after, err := all.counts(ctx)
	if err != nil {
		return 0, err
	}
	f := of(name, got, reach)
	f.CPU, f.Counts, f.beside = costs, after.since(before, got.Total), beside
	b.report.add(f)
	return got.Total, nil
}

// takeover kills the first service while clients write to every partition through the
// others. It returns the time from the kill until every partition has a successful write
// that began after the kill.
func (b *bench) takeover(ctx context.Context, all services, shards int) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, takeoverLimit)
	defer cancel()
	conns, hangUp, err := all[1:].dial(severalClients)
	if err != nil {
		return 0, err
	}
	defer hangUp()
	written, err := oneWorkspaceEach(conns, shards)
	if err != nil {
		return 0, err
	}
	writes := &takeover{shards: shards, back: map[int32]time.Duration{}}
	group, ctx := errgroup.WithContext(ctx)
	for n, c := range conns {
		group.Go(func() error { return writes.write(ctx, n, c, written[n]) })
	}
	time.Sleep(b.warm)
	err = all[0].kill()
	writes.killed(time.Now())
	err = errors.Join(err, group.Wait())
	for _, after := range writes.back {
		took = max(took, after)
	}
	return took, err
}

// oneWorkspaceEach creates a workspace for each connection, such that every partition has
// one. It returns their ids.
func oneWorkspaceEach(conns []*conn, shards int) ([]string, error) {
	ids, left := make([]string, len(conns)), len(conns)
	for count := 0; left > 0; count++ {
		reply, err := conns[0].want(http.StatusCreated, "POST", "/api/v1/workspaces", workspaceBody(0, count))
		if err != nil {
			return nil, err
		}
		var made struct{ ID string }
		if err := json.Unmarshal(reply, &made); err != nil {
			return nil, err
		}
		for n := int(events.PartitionOf(made.ID, int32(shards))); n < len(ids); n += shards {
			if ids[n] == "" {
				ids[n] = made.ID
				left--
				break
			}
		}
	}
	return ids, nil
}

// takeover records which partitions have been written to since the kill.
type takeover struct {
	mu     sync.Mutex
	shards int
	at     time.Time               // time of the kill; zero before it
	back   map[int32]time.Duration // by partition, the time from the kill to the end of its first write
}

func (t *takeover) killed(at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at = at
}

// succeeded notes a write that began at a time and has succeeded now. It reports
// whether every partition has one since the kill.
func (t *takeover) succeeded(partition int32, began time.Time) (done bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, is := t.back[partition]; !is && !t.at.IsZero() && began.After(t.at) {
		t.back[partition] = time.Since(t.at)
	}
	return len(t.back) == t.shards
}

// write changes a workspace repeatedly, until every partition has been written to after
// the kill. It tries again when a write is refused with 503 or its result is unknown.
func (t *takeover) write(ctx context.Context, n int, c *conn, id string) error {
	partition := events.PartitionOf(id, int32(t.shards))
	for count := 0; ctx.Err() == nil; count++ {
		began := time.Now()
		status, answer, err := c.do("PATCH", "/api/v1/workspaces/"+id, workspaceBody(n, count))
		switch {
		case err != nil:
			return err
		case status == http.StatusServiceUnavailable:
			time.Sleep(retryAfter)
		case status != http.StatusOK:
			return fmt.Errorf("a write to partition %d beside a takeover: status %d: %.300s", partition, status, answer)
		case t.succeeded(partition, began):
			return nil
		}
	}
	return fmt.Errorf("partition %d: %w", partition, ctx.Err())
}
