package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"netsim/infra/wait"
)

// catchUp waits until the public topics and the feeds have every fact, and the files of
// deleted simulations are removed. What stops before is found by the checks.
func (c *campaign) catchUp(ctx context.Context) error {
	all, err := c.readFacts(ctx)
	if err != nil {
		return err
	}
	c.facts = all
	timeout := stallTimeout
	if c.options.hunt {
		timeout = 30 * time.Second // a mutant may never catch up
	}
	progress, before := time.Now(), ""
	for time.Since(progress) < timeout {
		missing, events := 0, 0
		for _, f := range c.followers {
			missing += len(f.missing(all))
			events += f.received()
		}
		out, err := c.cluster.Tool(ctx, "audit", "public")
		if err == nil && missing == 0 && published(out) {
			return nil
		}
		if now := fmt.Sprint(events, out); now != before {
			progress, before = time.Now(), now
		}
		if err := wait.For(ctx, time.Second); err != nil {
			return err
		}
	}
	return nil
}

// published reports whether the table of "audit public" has no facts that are not
// published yet, its last column.
func published(table string) bool {
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) > 3 && strings.Contains(f[0], "public.") && f[len(f)-1] != "0" {
			return false
		}
	}
	return true
}
