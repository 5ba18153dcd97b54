package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"netsim/infra/wait"
	"netsim/prove/history"
)

// check runs all checks. Each records what it finds as violations.
func (c *campaign) check(ctx context.Context) {
	checks := []struct {
		name string
		run  func(context.Context) error
	}{
		{"histories", c.checkHistories},
		{"resources", c.checkResources},
		{"feeds", c.checkFeeds},
		{"objects", c.checkObjects},
		{"books", c.checkBooks},
		{"leases", c.checkLeases},
		{"log", c.checkLog},
		{"public topics", c.checkPublic},
		{"dead letters", c.checkLetters},
		{"reactions", c.checkReactions},
		{"replay", c.checkReplay}, // last: it stops the service
	}
	for _, check := range checks {
		if c.found() {
			return
		}
		from, before := time.Now(), c.begin(check.name)
		if err := check.run(ctx); err != nil {
			c.violate("%s could not be checked: %v", check.name, err)
		}
		c.report.Checks = append(c.report.Checks, checked{check.name, len(c.violations) - before, time.Since(from)})
	}
}

// begin begins a check, and returns how many violations there were before it.
func (c *campaign) begin(check string) (before int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checking = check
	return len(c.violations)
}

// checkHistories compares what the clients saw with the log.
func (c *campaign) checkHistories(context.Context) error {
	c.report.Facts = c.facts.count()
	streams := c.facts.registers()
	order, errs := history.NewOrder(streams)
	for _, err := range errs {
		c.violate("%v", err)
	}
	ops := nameStreams(c.records.operations(), streams)
	alone := history.CheckStreams(order, ops, 20*time.Second)
	across := history.CheckAcross(order, ops)
	for _, v := range append(alone.Violations, across.Violations...) {
		c.violate("%s", v)
	}
	c.report.Streams, c.report.Undecided = alone.Streams, len(alone.Undecided)
	c.report.Judged, c.report.Across = alone.Operations, across.Operations
	return nil
}

// nameStreams finds the streams of creations whose answer was lost, and removes the
// creations that had no effect and sightings of what clients did not create.
func nameStreams(ops []history.Operation, streams map[string]history.Stream) []history.Operation {
	first := map[string]string{}
	for id, s := range streams {
		if len(s.Names) > 0 {
			first[s.Names[0]] = id
		}
	}
	var kept []history.Operation
	created := map[string]bool{}
	for _, op := range ops {
		if op.Kind == history.Create {
			if op.Stream == "" {
				op.Stream = first[op.Name]
			}
			if op.Stream == "" {
				continue
			}
			created[op.Stream] = true
		}
		kept = append(kept, op)
	}
	for i := range kept {
		var seen []history.Sight
		for _, s := range kept[i].Seen {
			if created[s.Stream] {
				seen = append(seen, s)
			}
		}
		kept[i].Seen = seen
	}
	return kept
}

// toolRuns is how often a tool of the service is run, until it succeeds. What a tool finds
// it finds each time; on a slow machine a server may not answer in time.
const toolRuns = 4

// repeat runs a tool of the service until it succeeds. The report has each failure.
func (c *campaign) repeat(ctx context.Context, args ...string) (out string, err error) {
	for run := range toolRuns {
		if run > 0 && wait.For(ctx, time.Duration(run)*5*time.Second) != nil {
			break
		}
		if out, err = c.cluster.Tool(ctx, args...); err == nil {
			break
		}
		c.report.Failures = append(c.report.Failures, fmt.Sprintf("%v: %s", err, short(out)))
	}
	return out, err
}

// tool runs a tool of the service that must succeed.
func (c *campaign) tool(ctx context.Context, args ...string) error {
	out, err := c.repeat(ctx, args...)
	if err != nil {
		c.violate("%v\n%s", err, strings.TrimSpace(out))
	}
	return nil
}

// checkLog verifies the chains, seals and books of the log, and rates every day again.
func (c *campaign) checkLog(ctx context.Context) error {
	if err := c.tool(ctx, "audit", "checkpoint", "--name", "end"); err != nil {
		return err
	}
	if err := c.tool(ctx, "audit", "verify"); err != nil {
		return err
	}
	return c.tool(ctx, "audit", "replay")
}

// checkPublic compares the public topics with the log, once they have caught up.
func (c *campaign) checkPublic(ctx context.Context) error {
	return c.tool(ctx, "audit", "public")
}

// checkLetters requires that no fact is parked or a dead letter.
func (c *campaign) checkLetters(ctx context.Context) error {
	var parked int
	if err := c.cluster.Query(ctx, `SELECT count(*) FROM readmodel.parked`, &parked); err != nil {
		return err
	}
	if parked > 0 {
		c.violate("%d facts are parked", parked)
	}
	out, err := c.repeat(ctx, "reactions", "dead")
	if err != nil {
		return err
	}
	c.report.Letters = strings.TrimSpace(out)
	if strings.Contains(out, "@") {
		c.violate("there are dead letters:\n%s", out)
	}
	return nil
}

// checkReplay stops the service, and compares the read model with a replay of the log.
func (c *campaign) checkReplay(ctx context.Context) error {
	for _, n := range c.cluster.Netsims {
		if err := n.Stop(); err != nil {
			c.violate("%v", err)
		}
	}
	if err := c.tool(ctx, "readmodel", "rebuild", "--once", "replayed"); err != nil {
		return err
	}
	return c.tool(ctx, "readmodel", "diff", "replayed")
}
