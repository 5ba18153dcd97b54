package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// checkResources requires that everything acknowledged is there, or deleted if a client
// deleted it, and has reached its end: simulations have ended, and traces are read.
func (c *campaign) checkResources(ctx context.Context) error {
	paths := map[string]string{"simulation": "/api/v1/simulations/", "traceset": "/api/v1/tracesets/", "mapping file": "/api/v1/mapping-files/"}
	ended := map[string][]string{"simulation": {"completed", "failed", "terminated"}, "traceset": {"ready"}}
	counts := map[string]int{}
	for id, r := range c.made.all {
		reader, err := c.reader(r.account)
		if err != nil {
			return err
		}
		read := request{name: "read at the end", method: "GET", path: paths[r.kind] + id}
		got := reader.do(ctx, read)
		for tries := 1; got.unknown() && tries < 20 && reader.think(ctx, time.Second); tries++ {
			got = reader.do(ctx, read)
		}
		status := got.text("status")
		gone := got.status == http.StatusNotFound || got.status == http.StatusGone
		switch {
		case gone && (r.deleted || r.unsure):
			counts[r.kind+" deleted"]++
		case gone:
			c.violate("the %s %s was acknowledged, but it is not there", r.kind, id)
		case !got.ok():
			c.violate("the %s %s cannot be read at the end: %d %.200s", r.kind, id, got.status, got.body)
		case r.deleted:
			c.violate("the %s %s is there, although its deletion was acknowledged", r.kind, id)
		case ended[r.kind] != nil && !slices.Contains(ended[r.kind], status):
			c.violate("the %s %s is still %s: %.300s", r.kind, id, status, got.body)
		default:
			counts[r.kind+" "+status]++
			if reason := got.text("failureReason"); reason != "" {
				c.report.Failed = append(c.report.Failed, id+": "+reason)
			}
		}
	}
	c.report.Resources = counts
	return nil
}

// reader returns a client of an account for the checks.
func (c *campaign) reader(account string) (*client, error) {
	for _, f := range c.followers {
		if f.account == account {
			reader := c.newClient(0, account, f.token)
			reader.http.Timeout = time.Minute
			return reader, nil
		}
	}
	return nil, fmt.Errorf("there is no token of %s", account)
}
