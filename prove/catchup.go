package main

import (
	"context"
	"strings"
	"time"

	"netsim/internal/wait"
)

// catchUp waits until the public topics and the feeds have every fact, and the files of
// deleted simulations are removed. What does not catch up is found by the checks.
func (c *campaign) catchUp(ctx context.Context) error {
	all, err := c.readFacts(ctx)
	if err != nil {
		return err
	}
	c.facts = all
	patience := settlePatience
	if c.options.hunt {
		patience = time.Minute // a mutant may never catch up
	}
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		behind := false
		for _, f := range c.followers {
			behind = behind || len(f.missing(all)) > 0
		}
		out, err := c.cluster.Tool(ctx, "audit", "public")
		if err == nil && !behind && published(out) {
			return nil
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
