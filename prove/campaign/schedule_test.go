package main

import (
	"encoding/json"
	"testing"
	"time"

	"netsim/prove/history"
)

// A fault is a function of the seed and its number, and every kind happens.
func TestTheScheduleFollowsFromTheSeed(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for n := range 2000 {
		f := planned(7, n, nil)
		if f != planned(7, n, nil) {
			t.Fatalf("fault %d differs when it is planned again", n)
		}
		if f.Lasts <= 0 || f.Lasts > 10*time.Second || f.Pause <= 0 || f.Pause > 5*time.Second {
			t.Errorf("fault %d lasts %v, with a pause of %v", n, f.Lasts, f.Pause)
		}
		seen[f.Kind]++
	}
	for _, k := range kinds() {
		if seen[k.name] == 0 {
			t.Errorf("none of 2000 faults is a %s", k.name)
		}
	}
	if planned(7, 0, nil) == planned(8, 0, nil) {
		t.Error("two seeds have the same first fault")
	}
	if f := planned(7, 3, []string{"broker-kill"}); f.Kind != "broker-kill" {
		t.Errorf("the only kind is broker-kill, but the fault is a %s", f.Kind)
	}
}

// A schedule with each kind once has every kind once, in another order for another seed.
func TestEachKindHappensOnce(t *testing.T) {
	t.Parallel()
	orders := map[string]bool{}
	for seed := range uint64(3) {
		seen := map[string]bool{}
		var order string
		for n := range kinds() {
			f := once(seed, n)
			if f.Lasts <= 0 || f.Lasts > 4*time.Second {
				t.Errorf("fault %d lasts %v", n, f.Lasts)
			}
			seen[f.Kind] = true
			order += f.Kind + " "
		}
		if len(seen) != len(kinds()) {
			t.Errorf("seed %d has %d kinds of %d", seed, len(seen), len(kinds()))
		}
		orders[order] = true
	}
	if len(orders) != 3 {
		t.Errorf("three seeds have %d orders", len(orders))
	}
}

// The names of a register are those that its facts set, once for each change.
func TestNamesOfRegisters(t *testing.T) {
	t.Parallel()
	all := facts{
		"workspace_1": {
			{Type: "netsim.workspace.created.v1", Data: json.RawMessage(`{"name":"a"}`)},
			{Type: "netsim.workspace.updated.v1", Data: json.RawMessage(`{"name":"b"}`)},
			{Type: "netsim.workspace.updated.v1", Data: json.RawMessage(`{"name":"b","description":"other"}`)},
			{Type: "netsim.workspace.deleted.v1", Data: json.RawMessage(`{}`)},
		},
		"sim_1": {{Type: "netsim.simulation.created.v1", Data: json.RawMessage(`{"name":"s"}`)}},
	}
	got := all.registers()
	if len(got) != 1 || len(got["workspace_1"].Names) != 2 || !got["workspace_1"].Deleted {
		t.Errorf("got %+v, want workspace_1 with a, b and its deletion", got)
	}
}

// A creation without an answer is found by its name, or had no effect.
func TestCreationsWithoutAnswer(t *testing.T) {
	t.Parallel()
	create := func(name string) history.Operation {
		return history.Operation{Kind: history.Create, Outcome: history.Unknown, Name: name}
	}
	list := history.Operation{Kind: history.List, Outcome: history.Done, Seen: []history.Sight{{Stream: "w", Name: "a"}, {Stream: "foreign", Name: "x"}}}
	ops := nameStreams([]history.Operation{create("a"), create("lost"), list}, map[string]history.Stream{"w": {Names: []string{"a"}}})
	if len(ops) != 2 || ops[0].Stream != "w" || len(ops[1].Seen) != 1 {
		t.Errorf("got %+v, want the creation of w, and a list of w alone", ops)
	}
}

func TestPublishedReadsTheTable(t *testing.T) {
	t.Parallel()
	const head = "TOPIC  SAME FACTS  EXPIRED  NOT PUBLISHED YET\n"
	for table, want := range map[string]bool{
		head + "netsim.public.workspaces  7  0  0\n":                                       true,
		head + "netsim.public.workspaces  7  0  0\nnetsim.public.simulations    3  0  2\n": false,
	} {
		if got := published(table); got != want {
			t.Errorf("published(%q) is %v, want %v", table, got, want)
		}
	}
}
