package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// usage is a resource that has to be billed.
type usage struct{ kind, stream string }

// usages returns what has to be billed, and whether the usage has ended, from the facts
// alone. A usage is one kind of a stream: the run of a simulation and its stored results
// are two.
func (all facts) usages() map[usage]bool {
	ended := map[usage]bool{}
	for id, stream := range all {
		for _, f := range stream {
			switch strings.TrimSuffix(strings.TrimPrefix(f.Type, "netsim."), ".v1") {
			case "workspace.created":
				var d struct{ AccountID string }
				if json.Unmarshal(f.Data, &d) == nil && d.AccountID != "" { // else it is the service's own
					ended[usage{"workspace", id}] = false
				}
			case "workspace.deleted":
				ended[usage{"workspace", id}] = true
			case "simulation.started":
				ended[usage{"simulation", id}] = false
			case "simulation.completed", "simulation.failed", "simulation.terminated":
				end(ended, usage{"simulation", id})
			case "simulation.results_published":
				ended[usage{"results", id}] = false
			case "simulation.deleted":
				end(ended, usage{"results", id})
			case "mapping_file.created":
				ended[usage{"mapping_file", id}] = false
			case "mapping_file.deleted":
				ended[usage{"mapping_file", id}] = true
			}
		}
	}
	return ended
}

// end ends a usage that has begun.
func end(ended map[usage]bool, u usage) {
	if _, begun := ended[u]; begun {
		ended[u] = true
	}
}

// item is a billing item of the read model.
type item struct {
	Kind, Stream string
	Ended        bool
}

// compareItems returns what is not billed, billed although it has ended, or billed twice.
func compareItems(want map[usage]bool, items []item) (found []string) {
	count, active := map[usage]int{}, map[usage]bool{}
	for _, i := range items {
		u := usage{i.Kind, i.Stream}
		if count[u]++; count[u] == 2 {
			found = append(found, fmt.Sprintf("the %s of %s is billed twice", u.kind, u.stream))
		}
		active[u] = active[u] || !i.Ended
	}
	for u, ended := range want {
		switch {
		case count[u] == 0:
			found = append(found, fmt.Sprintf("the %s of %s is not billed", u.kind, u.stream))
		case active[u] && ended:
			found = append(found, fmt.Sprintf("the %s of %s has ended, and is still billed", u.kind, u.stream))
		case !active[u] && !ended:
			found = append(found, fmt.Sprintf("the %s of %s goes on, and is not billed any more", u.kind, u.stream))
		}
	}
	return found
}

// unfinished returns the streams whose deletion was requested, and not done.
func (all facts) unfinished() (ids []string) {
	for id, stream := range all {
		open := false
		for _, f := range stream {
			open = open && !strings.Contains(f.Type, ".deleted.") || strings.Contains(f.Type, ".deletion_requested.")
		}
		if open {
			ids = append(ids, id)
		}
	}
	return ids
}

// checkReactions requires that everything is billed once and as long as it is used, and
// that each requested deletion is done.
func (c *campaign) checkReactions(ctx context.Context) error {
	var text string
	if err := c.cluster.Query(ctx, `SELECT coalesce(json_agg(json_build_object('kind', resource_type, 'stream', resource_id, 'ended', ended_at IS NOT NULL)), '[]')::text
		FROM readmodel.billing_items`, &text); err != nil {
		return err
	}
	var items []item
	if err := json.Unmarshal([]byte(text), &items); err != nil {
		return err
	}
	want := c.facts.usages()
	c.report.Billed = len(want)
	for _, found := range compareItems(want, items) {
		c.violate("%s", found)
	}
	for _, id := range c.facts.unfinished() {
		c.violate("the deletion of %s was requested, and is not done", id)
	}
	return nil
}
