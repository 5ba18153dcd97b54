package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/internal/wait"
	"netsim/prove/cluster"
)

// Bounds of what a healed cluster may take. They are far above what it takes, because
// a machine may be slow.
const (
	readyPatience  = 6 * time.Minute
	settlePatience = 6 * time.Minute
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
	p := c.cluster.Primary()
	if !p.Running() {
		if err := p.Start(); err != nil {
			return err
		}
	}
	if err := p.Await(ctx, time.Minute); err != nil {
		return err
	}
	if err := c.cluster.AwaitReplicas(ctx, readyPatience); err != nil {
		return fmt.Errorf("the brokers do not recover: %w", err)
	}
	if err := c.restartEnded(); err != nil {
		return err
	}
	if err := c.cluster.AwaitReady(ctx, readyPatience); err != nil {
		c.violate("the service is not ready after the faults have ended: %v", err)
	}
	c.report.Healed = time.Since(c.began) - from
	return nil
}

// settle waits until the log has not grown for three seconds, all its records are
// judged, and no job waits. Then nothing happens any more.
func (c *campaign) settle(ctx context.Context) error {
	c.say("settling")
	from := time.Now()
	quiet, before := time.Now(), int64(-1)
	for time.Since(quiet) < 3*time.Second {
		var end, judged, jobs int64
		var asked errgroup.Group
		asked.Go(func() (err error) { end, err = c.cluster.LogEnd(ctx); return err })
		asked.Go(func() error {
			return c.cluster.Query(ctx, `SELECT coalesce(sum(next), 0)::bigint FROM readmodel.offsets`, &judged)
		})
		asked.Go(func() error {
			return c.cluster.Query(ctx, `SELECT count(*) FROM jobs.river_job WHERE state IN ('available', 'running', 'retryable', 'pending')`, &jobs)
		})
		if err := asked.Wait(); err != nil || end != judged || end != before || jobs > 0 {
			quiet = time.Now()
			if time.Since(from) > settlePatience {
				c.violate("the service does not come to rest: %d records, %d of them judged, %d jobs wait (%v)", end, judged, jobs, err)
				return nil
			}
		}
		before = end
		if err := wait.For(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	c.report.Records = before
	return nil
}
