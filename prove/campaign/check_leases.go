package main

import (
	"context"
	"fmt"
	"time"

	"netsim/infra/wait"
)

// checkLeases requires that every shard is held by one process: all processes together
// say that they hold as many shards as there are, for each purpose. While nothing
// breaks, they agree within a few seconds.
func (c *campaign) checkLeases(ctx context.Context) error {
	var last string
	for deadline := time.Now().Add(stallTimeout); time.Now().Before(deadline); {
		held := map[string]int{}
		for _, n := range c.cluster.Netsims {
			of, err := n.Shards()
			if err != nil {
				return err
			}
			for subscriber, shards := range of {
				held[subscriber] += shards
			}
		}
		last = ""
		for subscriber, shards := range held {
			var leased int
			if err := c.cluster.Query(ctx, `SELECT count(*) FROM facts.leases WHERE expires_at > now() AND subscriber = '`+subscriber+`'`, &leased); err != nil {
				return err
			}
			if shards != leased {
				last = fmt.Sprintf("the processes hold %d shards for %s, but there are leases of %d", shards, subscriber, leased)
			}
		}
		if last == "" {
			c.report.Leases = held
			return nil
		}
		if err := wait.For(ctx, time.Second); err != nil {
			return err
		}
	}
	c.violate("%s", last)
	return nil
}
