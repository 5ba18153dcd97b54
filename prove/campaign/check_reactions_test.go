package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// What has to be billed follows from the facts, and each difference is found.
func TestUsagesAreBilled(t *testing.T) {
	t.Parallel()
	stream := func(data string, types ...string) (facts []fact) {
		for _, name := range types {
			facts = append(facts, fact{Type: "netsim." + name + ".v1", Data: json.RawMessage(data)})
		}
		return facts
	}
	all := facts{
		"w1":  stream(`{"accountId":"a"}`, "workspace.created", "workspace.updated"),
		"w2":  stream(`{"accountId":"a"}`, "workspace.created", "workspace.deletion_requested"),
		"w3":  stream(`{"accountId":"a"}`, "workspace.created", "workspace.deletion_requested", "workspace.deleted"),
		"own": stream(`{}`, "workspace.created"),
		"s1":  stream(`{}`, "simulation.requested", "simulation.started", "simulation.results_published", "simulation.completed"),
		"s2":  stream(`{}`, "simulation.requested", "simulation.deleted"),
		"m1":  stream(`{}`, "mapping_file.created", "mapping_file.deleted"),
	}
	right := []item{
		{"workspace", "w1", false},
		{"workspace", "w2", false},
		{"workspace", "w3", true},
		{"simulation", "s1", true},
		{"results", "s1", false},
		{"mapping_file", "m1", true},
	}
	want := all.usages()
	if found := compareItems(want, right); len(want) != len(right) || len(found) > 0 {
		t.Errorf("%d usages, and %q; want %d and nothing", len(want), found, len(right))
	}
	if ids := all.unfinished(); len(ids) != 1 || ids[0] != "w2" {
		t.Errorf("unfinished are %v, want w2", ids)
	}
	for text, items := range map[string][]item{
		"workspace of w1 is not billed":                     right[1:],
		"mapping_file of m1 is billed twice":                append(append([]item{}, right...), right[5]),
		"workspace of w3 has ended, and is still billed":    append(append([]item{}, right[:2]...), append([]item{{"workspace", "w3", false}}, right[3:]...)...),
		"results of s1 goes on, and is not billed any more": append(append([]item{}, right[:4]...), item{"results", "s1", true}, right[5]),
		"simulation of s1 has ended, and is still billed":   append(append([]item{}, right[:3]...), item{"simulation", "s1", false}, right[4], right[5]),
	} {
		found := compareItems(want, items)
		if len(found) != 1 || !strings.Contains(found[0], text) {
			t.Errorf("found %q, want %q", found, text)
		}
	}
}
