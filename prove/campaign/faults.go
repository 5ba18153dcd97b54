package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"netsim/infra/wait"
	"netsim/prove/cluster"
)

// faultKind is a kind of fault.
type faultKind struct {
	name   string
	weight int
	// hit causes the fault, waits as long as it lasts, and heals it. It returns what it
	// did, for the report, or "" if the fault is not possible now.
	hit func(c *campaign, ctx context.Context, f fault) (did string, err error)
}

// kinds are all kinds of faults. The order and the weights are part of what a seed means.
func kinds() []faultKind {
	return []faultKind{
		{"netsim-kill", 6, killNetsim},
		{"netsim-pause", 6, pauseNetsim},
		{"netsim-kill-all", 1, killAllNetsims},
		{"netsim-restart", 2, restartNetsim},
		{"broker-kill", 5, killBroker},
		{"broker-pause", 4, pauseBroker},
		{"two-brokers-kill", 2, killTwoBrokers},
		{"broker-restart", 2, restartBroker},
		{"broker-loses-unflushed", 4, loseUnflushed},
		{"postgres-kill", 4, killPostgres},
		{"postgres-failover", 4, failOver},
		{"link-kafka", 6, disturb("netsim-", "kafka-")},
		{"link-peers", 3, disturb("peers", "kafka-")},
		{"link-postgres", 5, disturb("netsim-", "postgres")},
		{"link-objects", 3, disturb("netsim-", "objects")},
		{"store-errors", 4, storeErrors},
		{"leader-election", 3, electLeaders},
		{"clock-jump", 3, jumpClock},
		{"disk-full-kafka", 2, fillBroker},
		{"disk-full-postgres", 2, fillPostgres},
		{"disk-full-objects", 2, fillObjects},
		{"netsim-kill-busy", 4, killBusyNetsim},
	}
}

// breakThings causes faults until the campaign's time is over, or each kind once.
func (c *campaign) breakThings(ctx context.Context) error {
	c.say("faults: %s", c.options.schedule())
	defer func() { c.report.Duration = time.Since(c.began) }()
	for number := 0; !c.options.over(number, time.Since(c.began)) && !c.found(); number++ {
		f := c.options.fault(number)
		if err := c.cause(ctx, f); err != nil {
			return fmt.Errorf("fault %d, %s: %w", f.Number, f.Kind, err)
		}
		if err := wait.For(ctx, f.Pause); err != nil {
			return err
		}
		if err := c.restartEnded(); err != nil {
			return err
		}
		if c.options.each { // so that every fault meets a service that works
			if err := c.awaitWrites(ctx, c.tally.acknowledged()+writesBetween, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// writesBetween is how many writes are acknowledged between two faults of a schedule
// that has each kind once.
const writesBetween = 20

// restartEnded starts what has ended by itself, as systemd or Kubernetes does.
func (c *campaign) restartEnded() error {
	if p := c.cluster.Primary(); !p.Running() {
		c.report.Ended = append(c.report.Ended, fmt.Sprintf("%s at %v", p.Name(), time.Since(c.began).Round(time.Second)))
		if err := p.Start(); err != nil {
			return err
		}
	}
	for _, b := range c.cluster.Brokers {
		if b.Running() {
			continue
		}
		c.report.Ended = append(c.report.Ended, fmt.Sprintf("%s at %v", b.Name(), time.Since(c.began).Round(time.Second)))
		if err := b.Start(); err != nil {
			return err
		}
	}
	for _, n := range c.cluster.Netsims {
		if n.Running() {
			continue
		}
		why := n.LastLine()
		c.report.Ended = append(c.report.Ended, fmt.Sprintf("%s at %v: %s", n.Name(), time.Since(c.began).Round(time.Second), why))
		if strings.Contains(why, "panic") || strings.Contains(why, "DATA RACE") || strings.Contains(why, "fatal error") {
			c.violate("%s ended: %s", n.Name(), why)
		}
		if err := n.Start(); err != nil {
			return err
		}
	}
	return nil
}

func (c *campaign) cause(ctx context.Context, f fault) error {
	for _, k := range kinds() {
		if k.name != f.Kind {
			continue
		}
		from := time.Since(c.began)
		did, err := k.hit(c, ctx, f)
		if err != nil {
			return err
		}
		done := happened{fault: f, Did: did, From: from, To: time.Since(c.began)}
		c.report.Faults = append(c.report.Faults, done)
		if c.options.verbose {
			c.say("fault %d %s: %s (%v)", f.Number, f.Kind, did, (done.To - done.From).Round(time.Millisecond))
		}
	}
	return ctx.Err()
}

func (c *campaign) netsim(f fault) *cluster.Netsim {
	return c.cluster.Netsims[f.Target%len(c.cluster.Netsims)]
}

func (c *campaign) broker(f fault) *cluster.Broker {
	return c.cluster.Brokers[f.Target%len(c.cluster.Brokers)]
}

func killNetsim(c *campaign, ctx context.Context, f fault) (string, error) {
	n := c.netsim(f)
	n.Kill()
	return n.Name(), firstError(wait.For(ctx, f.Lasts), n.Start)
}

// killBusyNetsim makes a process's link to PostgreSQL slow, so that much is under way in
// the process, and then kills it. It has committed positions meanwhile, which are in Kafka.
func killBusyNetsim(c *campaign, ctx context.Context, f fault) (string, error) {
	n := c.netsim(f)
	l := c.linksBetween(n.Name(), "postgres")[0]
	err := l.Disturb(cluster.Slow)
	if errors.Is(err, cluster.ErrNotDisturbed) {
		return "", l.Heal()
	}
	err = firstError(err, func() error { return wait.For(ctx, 2*time.Second+f.Lasts/2) })
	n.Kill()
	return n.Name(), firstError(err, l.Heal, n.Start)
}

func killAllNetsims(c *campaign, ctx context.Context, f fault) (string, error) {
	for _, n := range c.cluster.Netsims {
		n.Kill()
	}
	if err := wait.For(ctx, f.Lasts/4); err != nil {
		return "", err
	}
	for _, n := range c.cluster.Netsims {
		if err := n.Start(); err != nil {
			return "", err
		}
	}
	return "all", nil
}

func pauseNetsim(c *campaign, ctx context.Context, f fault) (string, error) {
	n := c.netsim(f)
	n.Pause()
	// Some pauses are longer than a lease, so that another process takes its shards.
	err := wait.For(ctx, f.Lasts*time.Duration(1+f.Detail%3))
	n.Resume()
	return n.Name(), err
}

func restartNetsim(c *campaign, _ context.Context, f fault) (string, error) {
	n := c.netsim(f)
	err := n.Stop()
	if err != nil {
		c.violate("%v", err)
	}
	return n.Name(), n.Start()
}

func killBroker(c *campaign, ctx context.Context, f fault) (string, error) {
	b := c.broker(f)
	b.Kill()
	return b.Name(), firstError(wait.For(ctx, f.Lasts), b.Start)
}

func pauseBroker(c *campaign, ctx context.Context, f fault) (string, error) {
	b := c.broker(f)
	b.Pause()
	err := wait.For(ctx, f.Lasts*time.Duration(1+f.Detail%3))
	b.Resume()
	return b.Name(), err
}

// killTwoBrokers leaves neither a quorum nor enough replicas.
func killTwoBrokers(c *campaign, ctx context.Context, f fault) (string, error) {
	other := f
	other.Target++
	a, b := c.broker(f), c.broker(other)
	a.Kill()
	b.Kill()
	return a.Name() + " and " + b.Name(), firstError(wait.For(ctx, f.Lasts/2), a.Start, b.Start)
}

// restartBroker shuts a broker down in order, which elects other leaders. The brokers
// give it its leaders back ten seconds later.
func restartBroker(c *campaign, _ context.Context, f fault) (string, error) {
	b := c.broker(f)
	if err := b.Stop(20 * time.Second); err != nil {
		return b.Name() + ", killed", b.Start()
	}
	return b.Name(), b.Start()
}

// loseUnflushed kills a broker and removes what it had not flushed. Kafka promises to
// keep acknowledged records as long as one replica in sync survives, so the others must
// have them: it waits until all replicas are in sync.
func loseUnflushed(c *campaign, ctx context.Context, f fault) (string, error) {
	if err := c.cluster.AwaitReplicas(ctx, 90*time.Second); err != nil {
		return "", nil //nolint:nilerr // it is not possible now
	}
	b := c.broker(f)
	b.Kill()
	lost, err := b.LoseUnflushed()
	c.report.Unflushed.Records += lost.Records
	c.report.Unflushed.Bytes += lost.Bytes
	if err := firstError(firstError(err, b.Start)); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s lost %d records of %d partitions", b.Name(), lost.Records, lost.Partitions), wait.For(ctx, f.Lasts)
}

func killPostgres(c *campaign, ctx context.Context, f fault) (string, error) {
	p := c.cluster.Primary()
	p.Kill()
	return p.Name(), firstError(wait.For(ctx, f.Lasts/2), func() error { return p.Revive(ctx, readyTimeout) })
}

// failOver promotes a standby that lacks the last transactions.
func failOver(c *campaign, ctx context.Context, f fault) (string, error) {
	if err := c.cluster.CutStandby(); err != nil {
		return "", err
	}
	if err := wait.For(ctx, f.Lasts/2); err != nil {
		return "", err
	}
	lacks, err := c.cluster.Failover(ctx)
	if err != nil {
		return "", err
	}
	c.report.LostWAL += lacks
	return fmt.Sprintf("%s lacks %d bytes of the write-ahead log", c.cluster.Primary().Name(), lacks), c.cluster.MakeStandby(ctx)
}

// disturb returns a fault of the links between two parts.
func disturb(from, to string) func(*campaign, context.Context, fault) (string, error) {
	return func(c *campaign, ctx context.Context, f fault) (string, error) {
		links := c.linksBetween(from, to)
		l := links[f.Target%len(links)]
		all := cluster.Troubles()
		trouble := all[f.Detail%len(all)]
		err := l.Disturb(trouble)
		if errors.Is(err, cluster.ErrNotDisturbed) {
			return "", l.Heal()
		}
		if err != nil {
			return "", err
		}
		err = wait.For(ctx, f.Lasts)
		return fmt.Sprintf("%s from %s to %s", trouble, l.From, l.To), firstError(err, l.Heal)
	}
}

// storeErrors makes the object store answer one process with errors, or late.
func storeErrors(c *campaign, ctx context.Context, f fault) (string, error) {
	front := c.netsim(f).Front
	variants := []cluster.FrontFaults{
		{Refused: 1}, {Refused: 0.3}, {Lost: 0.3}, {Late: 1, Delay: 2 * time.Second}, {Refused: 0.2, Lost: 0.2, Late: 0.3, Delay: time.Second},
	}
	v := variants[f.Detail%len(variants)]
	front.Set(v)
	err := wait.For(ctx, f.Lasts)
	front.Set(cluster.FrontFaults{})
	return fmt.Sprintf("%s: %.0f %% refused, %.0f %% lost, %.0f %% late by %v", c.netsim(f).Name(), 100*v.Refused, 100*v.Lost, 100*v.Late, v.Delay), err
}

func firstError(err error, then ...func() error) error {
	for _, f := range then {
		if err != nil {
			return err
		}
		err = f()
	}
	return err
}

// electLeaders moves the leader of every partition to another broker, in order.
func electLeaders(c *campaign, ctx context.Context, f fault) (string, error) {
	count, err := c.cluster.ElectLeaders(ctx, f.Detail)
	if err != nil {
		return "", nil //nolint:nilerr // it is not possible now
	}
	return fmt.Sprintf("%d partitions", count), nil
}

// jumpClock moves the clock of the primary, which decides when leases end, for a while.
func jumpClock(c *campaign, ctx context.Context, f fault) (string, error) {
	jumps := []time.Duration{time.Minute, -time.Minute, 10 * time.Minute, 3 * time.Second, -3 * time.Second}
	by := jumps[f.Detail%len(jumps)]
	p := c.cluster.Primary()
	if !p.CanJump() {
		return "", nil
	}
	if err := p.Jump(by); err != nil {
		return "", err
	}
	err := wait.For(ctx, f.Lasts)
	return fmt.Sprintf("%s by %v", p.Name(), by), firstError(err, func() error { return p.Jump(0) })
}

func (c *campaign) linksBetween(from, to string) (found []*cluster.Link) {
	for _, l := range c.cluster.Links() {
		if strings.HasPrefix(l.From, from) && strings.HasPrefix(l.To, to) {
			found = append(found, l)
		}
	}
	return found
}
