package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"netsim/simulator/collective"
	"netsim/simulator/engine"
	"netsim/simulator/replay"
)

// TestCriticalPath: for any input, the steps of the critical path follow one another from
// the start of the run to its end, each with times that are not negative. Its transfers are
// a chain: each begins at the sender or the receiver of the one before it, or waited for the
// last of several ranks. The path changes nothing else about the run.
func TestCriticalPath(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		in, kind := anyInput(t, rt)
		in.Options.CriticalPath = false
		plain, want, _ := record(rt.Context(), in, nil, nil)
		in.Options.CriticalPath = true
		followed, r, _ := record(rt.Context(), in, nil, nil)
		if plain.String() != followed.String() {
			rt.Fatal("a run with a critical path observes something else")
		}
		if r == nil || r.End != engine.Finished {
			return
		}
		if kind == "traffic" {
			if len(want.Path)+len(r.Path) > 0 {
				rt.Fatalf("traffic has the path %v, want none", r.Path)
			}
			return
		}
		at := in.Options.Start
		for i, s := range r.Path {
			if s.Compute < 0 || s.Sending < 0 || s.Contention < 0 || s.Latency < 0 || s.Activities != 1 || s.To < 0 != (s.Compute == s.Time()) && s.Time() > 0 {
				rt.Fatalf("step %d is %+v", i, s)
			}
			at += s.Time()
		}
		if at != r.Time && r.Sends+r.Computations > 0 {
			rt.Fatalf("the path of %d steps ends at %d ps, want the end of the run at %d: %+v", len(r.Path), at, r.Time, r.Path)
		}
	})
}

// TestStragglerIsOnThePath: the computation of the rank that computes three times longer is
// on the critical path, before the collective that waits for it.
func TestStragglerIsOnThePath(t *testing.T) {
	t.Parallel()
	traces := make([][]node, 8)
	for rank := range traces {
		us := 1000
		if rank == 3 {
			us = 3000
		}
		traces[rank] = []node{compute(0, us), collect(1, 0, 1<<20, "", 0)}
	}
	r := run(t, engine.Input{
		Fabric: oneSwitch(t, 8, 400*gbps, 500_000), Options: engine.Options{CriticalPath: true},
		Replay: &engine.Replay{Schedule: traced(t, replay.Options{}, traces...), Synchronize: true},
	}, engine.Observer{})
	first := r.Path[0]
	if first.Rank != 3 || first.To != -1 || first.Compute != 3_000_000_000 {
		t.Errorf("the path begins with %+v, want the computation of rank 3", first)
	}
	for i, s := range r.Path[1:] {
		if s.Operation != "allReduce" || s.Collective != 0 || s.To != (s.Rank+1)%8 || i > 0 && s.Rank != r.Path[i].To {
			t.Errorf("step %d is %+v after %+v, want a chain of transfers around the ring", i+1, s, r.Path[i])
		}
	}
	if len(r.Path) != 15 {
		t.Errorf("%d steps, want a computation and 14 transfers", len(r.Path))
	}
}

// TestSlowLinkIsOnThePath: three senders share the link of rank 0, which limits the transfers
// of the path; two thirds of their time is contention.
func TestSlowLinkIsOnThePath(t *testing.T) {
	t.Parallel()
	traces := make([][]node, 4)
	for rank := 1; rank < 4; rank++ {
		traces[rank] = []node{send(0, 0, rank, 30<<20)}
		traces[0] = append(traces[0], receive(rank, rank, rank, 30<<20))
	}
	in := engine.Input{
		Fabric: oneSwitch(t, 4, 400*gbps, 500_000), Options: engine.Options{CriticalPath: true},
		Replay: &engine.Replay{Schedule: traced(t, replay.Options{}, traces...)},
	}
	r := run(t, in, engine.Observer{})
	if len(r.Path) != 1 {
		t.Fatalf("the path is %+v, want one transfer", r.Path)
	}
	s := r.Path[0]
	host := in.Fabric.Links[s.Limit.Links[0]].Lower
	if s.To != 0 || !s.Limit.Down || host != in.Fabric.Hosts[0].NICs[0] || s.Operation != "send" || s.Collective != -1 {
		t.Errorf("got %+v limited by %+v, want a message to rank 0 limited by its link", s, s.Limit)
	}
	if ratio := float64(s.Contention) / float64(s.Sending); ratio < 1.99 || ratio > 2.01 {
		t.Errorf("contention is %.3f of the time of sending, want twice", ratio)
	}
}

// TestLongPathIsMerged: a ring whose causes do not fit has the same times with fewer steps.
func TestLongPathIsMerged(t *testing.T) {
	t.Parallel()
	const ranks = 512
	r := run(t, engine.Input{
		Fabric: oneSwitch(t, ranks, 400*gbps, 500_000), Groups: workload(t, ranks, phase(collective.AllReduce, "ring", 1<<20), phase(collective.AllReduce, "ring", 2<<20)),
		Options: engine.Options{CriticalPath: true}, Synchronize: true,
	}, engine.Observer{})
	var time, activities int64
	var order []int64
	for _, s := range r.Path {
		time += s.Time()
		activities += s.Activities
		if n := len(order); n == 0 || order[n-1] != s.Collective {
			order = append(order, s.Collective)
		}
	}
	if time != r.Time || activities != 2*2*(ranks-1) || int64(len(r.Path)) >= activities || fmt.Sprint(order) != "[0 1]" {
		t.Errorf("%d steps of %d activities take %d ps in collectives %v, want fewer steps than %d activities and %d ps",
			len(r.Path), activities, time, order, 2*2*(ranks-1), r.Time)
	}
	if !slices.ContainsFunc(r.Path, func(s engine.PathStep) bool { return s.Activities > 1 }) {
		t.Error("nothing was merged")
	}
}
