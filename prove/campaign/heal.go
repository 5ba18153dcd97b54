package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/infra/wait"
	"netsim/prove/cluster"
)

// Bounds of what a healed cluster may take. They are far above what it takes, because
// a machine may be slow. What can be seen to progress is bounded by the time without
// progress.
const (
	readyTimeout = 10 * time.Minute
	stallTimeout = 5 * time.Minute
)

// heal ends every fault, starts what does not run, and waits until the service is ready.
// A service that does not become ready by itself is a violation.
func (c *campaign) heal(ctx context.Context) error {
	from := time.Since(c.began)
	for _, l := range c.cluster.Links() {
		if err := l.Heal(); err != nil {
			return err
		}
	}
	for _, n := range c.cluster.Netsims {
		n.Front.Set(cluster.FrontFaults{})
		n.Resume()
	}
	for _, b := range c.cluster.Brokers {
		b.Resume()
		if !b.Running() {
			if err := b.Start(); err != nil {
				return err
			}
		}
	}
	if err := c.cluster.Primary().Revive(ctx, readyTimeout); err != nil {
		return err
	}
	if err := c.recoverBrokers(ctx); err != nil {
		return err
	}
	if err := c.cluster.AwaitReady(ctx, readyTimeout); err != nil {
		c.violate("the service is not ready after the faults have ended: %v", err)
	}
	c.report.Healed = time.Since(c.began) - from
	return nil
}

// recoverBrokers waits until all replicas are in sync. It restarts what ends meanwhile.
func (c *campaign) recoverBrokers(ctx context.Context) error {
	for from := time.Now(); ; {
		err := c.cluster.AwaitReplicas(ctx, 10*time.Second)
		if restarted := c.restartEnded(); restarted != nil {
			return restarted
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
		if time.Since(from) > readyTimeout {
			return fmt.Errorf("the brokers do not recover: %w", err)
		}
	}
}

// awaitWrites waits until the load has a number of acknowledged writes, and for a time
// at least. It restarts what ends meanwhile. While nothing breaks, some write must be acknowledged within stallTimeout.
func (c *campaign) awaitWrites(ctx context.Context, count int, atLeast time.Duration) error {
	began, progress, before := time.Now(), time.Now(), -1
	for {
		n := c.tally.acknowledged()
		if n >= count && time.Since(began) >= atLeast {
			return nil
		}
		if n > before {
			progress, before = time.Now(), n
		}
		if err := c.restartEnded(); err != nil {
			return err
		}
		if time.Since(progress) > stallTimeout {
			c.violate("no write was acknowledged for %v although no fault is in progress", stallTimeout)
			return nil
		}
		if err := wait.For(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// work is what the service still has to do. Reactions are only counted when all else is done.
type work struct{ end, judged, jobs, reactions int64 }

// remaining reads how many records the log has, how many of them are judged, and how
// many jobs wait.
func (c *campaign) remaining(ctx context.Context) (w work, err error) {
	var asked errgroup.Group
	asked.Go(func() (err error) { w.end, err = c.cluster.LogEnd(ctx); return err })
	asked.Go(func() error {
		return c.cluster.Query(ctx, `SELECT coalesce(sum(next), 0)::bigint FROM readmodel.offsets`, &w.judged)
	})
	asked.Go(func() error {
		return c.cluster.Query(ctx, `SELECT count(*) FROM jobs.river_job WHERE state IN ('available', 'running', 'retryable', 'pending')`, &w.jobs)
	})
	return w, asked.Wait()
}

// settle waits until the log has not grown for three seconds, all its records are
// judged, every fact has been reacted to, and no job waits. Then nothing happens any more.
func (c *campaign) settle(ctx context.Context) error {
	c.say("settling")
	quiet, progress := time.Now(), time.Now()
	var before work
	for {
		now, err := c.remaining(ctx)
		if err != nil || now.end != now.judged || now.end != before.end || now.jobs > 0 {
			quiet = time.Now()
		}
		rests := time.Since(quiet) >= 3*time.Second
		if rests {
			now.reactions, err = c.unreacted(ctx)
		}
		if rests && err == nil && now.reactions == 0 {
			c.report.Records = now.end
			return nil
		}
		if err == nil && now != before {
			progress, before = time.Now(), now
		}
		if time.Since(progress) > stallTimeout {
			c.violate("the service does not come to rest: %d records, %d of them judged, %d facts to react to, %d jobs wait, and nothing changes (%v)",
				now.end, now.judged, now.reactions, now.jobs, err)
			return nil
		}
		if err := wait.For(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// unreacted returns how many facts handlers have still to react to.
func (c *campaign) unreacted(ctx context.Context) (n int64, err error) {
	out, err := c.cluster.Tool(ctx, "reactions", "status", "--json", "--limit", "100000")
	if err != nil {
		return 0, err
	}
	var status struct{ Items []struct{ LagRecords int64 } }
	if err := json.Unmarshal([]byte(out), &status); err != nil {
		return 0, fmt.Errorf("read the status of reactions: %w", err)
	}
	for _, handler := range status.Items {
		n += handler.LagRecords
	}
	return n, nil
}
