package engine_test

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netsim/simulator/collective"
	"netsim/simulator/engine"
	"netsim/simulator/replay"
	"netsim/simulator/topology"
)

// rings is a workload of ring all-reduces, one after another.
type rings struct {
	fabric    *topology.Fabric
	ranks     int
	sizes     []int   // bytes, by collective
	late      [][]int // us, by collective and rank: what the rank computes before it; nil for nothing
	algorithm string  // of the traces, if not the ring
}

// when is the start and the acknowledgement of a transfer, in ps.
type when struct{ start, acked int64 }

// hop is a message of one rank to the next one.
type hop struct{ collective, from, step int }

// traces returns the rings as traces.
func (w *rings) traces(t testing.TB, synchronize bool) engine.Input {
	traces := make([][]node, w.ranks)
	for c, size := range w.sizes {
		for r := range traces {
			first := compute(2*c, w.late[c][r])
			if c > 0 {
				first.data = []int{2*c - 1}
			}
			traces[r] = append(traces[r], first, collect(2*c+1, 0, size, "", 2*c))
		}
	}
	o := replay.Options{Algorithms: map[string]string{collective.AllReduce: cmp.Or(w.algorithm, collective.Ring)}}
	return engine.Input{
		Fabric: w.fabric, Replay: &engine.Replay{Schedule: traced(t, o, traces...), Synchronize: synchronize},
		Options: engine.Options{CriticalPath: true},
	}
}

// groups returns the rings as phases.
func (w *rings) groups(t testing.TB, synchronize bool) engine.Input {
	var phases []collective.Phase
	for _, size := range w.sizes {
		phases = append(phases, phase(collective.AllReduce, "ring", int64(size)))
	}
	return engine.Input{
		Fabric: w.fabric, Groups: workload(t, w.ranks, phases...), Synchronize: synchronize,
		Options: engine.Options{CriticalPath: true},
	}
}

// alone returns how long a message of a rank to the next one drains, and how long it takes, if
// there is no other; ps.
func (w *rings) alone(t testing.TB, from, bytes int) (drains, takes int64) {
	traces := make([][]node, w.ranks)
	to := (from + 1) % w.ranks
	traces[from], traces[to] = []node{send(0, to, 0, bytes)}, []node{receive(0, from, 0, bytes)}
	r := run(t, engine.Input{
		Fabric: w.fabric, Replay: &engine.Replay{Schedule: traced(t, replay.Options{}, traces...)}, Options: engine.Options{CriticalPath: true},
	}, engine.Observer{})
	for _, l := range r.Limits { // each limits one flow
		drains = max(drains, int64(l.FlowTime.Lo))
	}
	return drains, r.Time
}

// expected returns when each message starts and is acknowledged without synchronization. A
// message starts when its rank has reached the collective, has received the one that it
// forwards, and has sent the one before.
func (w *rings) expected(t testing.TB) map[hop]when {
	all, steps := map[hop]when{}, 2*(w.ranks-1)
	ready := make([]int64, w.ranks)
	for c, size := range w.sizes {
		drains, takes := make([]int64, w.ranks), make([]int64, w.ranks)
		for r := range w.ranks {
			drains[r], takes[r] = w.alone(t, r, (size+w.ranks-1)/w.ranks)
			if w.late != nil {
				ready[r] += int64(w.late[c][r]) * 1_000_000
			}
		}
		ends := make([]int64, w.ranks)
		for step := range steps {
			for r := range w.ranks {
				start := ready[r]
				if step > 0 {
					start = max(start, all[hop{c, (r + w.ranks - 1) % w.ranks, step - 1}].acked, all[hop{c, r, step - 1}].start+drains[r])
				}
				acked := start + takes[r]
				all[hop{c, r, step}] = when{start, acked}
				next := (r + 1) % w.ranks
				ends[r], ends[next] = max(ends[r], acked), max(ends[next], acked)
			}
		}
		copy(ready, ends)
	}
	return all
}

// observed runs the input and returns when each message starts and is acknowledged.
func observed(t testing.TB, in engine.Input) (map[hop]when, *engine.Result) {
	all := map[hop]when{}
	r := run(t, in, engine.Observer{Transfer: func(t *engine.Transfer) error {
		all[hop{int(t.Collective.ID), int(t.From), int(t.Step)}] = when{t.Start, t.Acked}
		return nil
	}})
	return all, r
}

// TestLateRank: in the second of two rings of four ranks, rank 0 is late by d. It has received
// three messages then, and sends its four first ones one after another. The run takes as long
// as with synchronization.
func TestLateRank(t *testing.T) {
	t.Parallel()
	const d = 100 // us
	w := rings{oneSwitch(t, 4, 400*gbps, 500_000), 4, []int{4 << 20, 4 << 20}, [][]int{{0, 0, 0, 0}, {d, 0, 0, 0}}, ""}
	drains, takes := w.alone(t, 0, 1<<20)
	off, r := observed(t, w.traces(t, false))
	_, on := observed(t, w.traces(t, true))
	begins := 6*takes + d*1_000_000
	if want := begins + 6*takes; on.Time != want || r.Time != want {
		t.Errorf("the rings take %d ps with synchronization and %d ps without, want %d", on.Time, r.Time, want)
	}
	for step := range 4 {
		want := begins + int64(step)*drains
		if got := off[hop{1, 0, step}]; got.start != want || got.acked != want+takes {
			t.Errorf("message %d of rank 0 starts at %d ps and takes %d ps, want %d and %d", step, got.start, got.acked-got.start, want, takes)
		}
	}
}

// anyRings draws rings of servers with NICs of different rates.
func anyRings(t testing.TB, rt *rapid.T) rings {
	w := rings{ranks: rapid.IntRange(2, 6).Draw(rt, "ranks")}
	var servers []topology.Server
	for range w.ranks {
		rate := rapid.SampledFrom([]int64{50, 100, 400}).Draw(rt, "rate") * gbps
		s := server(fmt.Sprintf("at%d", rate), rate)
		s.NICs[0].Delay = rapid.SampledFrom([]int64{0, 500_000}).Draw(rt, "delay")
		servers = append(servers, s)
	}
	w.fabric = rackOf(t, servers...)
	for range rapid.IntRange(1, 3).Draw(rt, "collectives") {
		w.sizes = append(w.sizes, rapid.IntRange(1, 2_000_000).Draw(rt, "size"))
		late := make([]int, w.ranks)
		for r := range late {
			late[r] = rapid.SampledFrom([]int{0, 0, 1, 7, 30, 200}).Draw(rt, "late")
		}
		w.late = append(w.late, late)
	}
	return w
}

// TestMessagesFollow: without synchronization, each message of any rings starts and ends at the
// instants of the closed form, in traces and in simple workloads. They never take longer than
// with synchronization.
func TestMessagesFollow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := anyRings(t, rt)
		check := func(what string, input func(testing.TB, bool) engine.Input) {
			got, off := observed(t, input(t, false))
			if diff := gocmp.Diff(w.expected(t), got, gocmp.AllowUnexported(hop{}, when{})); diff != "" {
				rt.Fatalf("%s (-want +got):\n%s", what, diff)
			}
			_, on := observed(t, input(t, true))
			if off.Time > on.Time {
				rt.Fatalf("%s take %d ps, and %d ps with synchronization", what, off.Time, on.Time)
			}
			checkFollowing(rt, off)
		}
		check("traces", w.traces)
		w.late = nil
		check("phases", w.groups)
	})
}

// checkFollowing checks that the steps of a critical path account for the whole run, and that
// a step without latency is followed by the next message of the same pair.
func checkFollowing(t rapid.TB, r *engine.Result) (waited int) {
	var at int64
	for i, s := range r.Path {
		if s.Start != at {
			t.Fatalf("step %d starts at %d ps, want %d", i, s.Start, at)
		}
		at += s.Time()
		if i+1 == len(r.Path) || s.To < 0 {
			continue
		}
		next := &r.Path[i+1]
		if same := next.Rank == s.Rank && next.To == s.To; s.Latency == 0 && !same || s.Latency > 0 && next.Rank != s.Rank && next.Rank != s.To {
			t.Fatalf("step %d is %+v after %+v", i+1, *next, s)
		}
		if follows(s) {
			waited++
		}
	}
	if at != r.Time {
		t.Fatalf("the path takes %d ps of %d", at, r.Time)
	}
	return waited
}

// TestLateRankExchanges: in a halving-doubling of two ranks, the rank that is late by d has
// received the first message of the other one then, which releases its second message. That
// one starts when its first one is sent.
func TestLateRankExchanges(t *testing.T) {
	t.Parallel()
	const d = 100 // us
	w := rings{oneSwitch(t, 2, 400*gbps, 500_000), 2, []int{4 << 20}, [][]int{{0, d}}, collective.RecursiveHalvingDoubling}
	drains, takes := w.alone(t, 1, 2<<20)
	got, _ := observed(t, w.traces(t, false))
	const begins = d * 1_000_000
	want := map[hop]when{
		{0, 0, 0}: {0, takes}, {0, 1, 0}: {begins, begins + takes},
		{0, 1, 1}: {begins + drains, begins + drains + takes}, {0, 0, 1}: {begins + takes, begins + 2*takes},
	}
	if diff := gocmp.Diff(want, got, gocmp.AllowUnexported(hop{}, when{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestStripesFollow: a message over two NICs starts when both parts of the one before are sent.
func TestStripesFollow(t *testing.T) {
	t.Parallel()
	w := rings{
		fabric: rackOf(t, server("even", 400*gbps, 400*gbps), server("uneven", 400*gbps, 25*gbps)), ranks: 2,
		sizes: []int{4 << 20}, late: [][]int{{1000, 0}},
	}
	got, _ := observed(t, w.traces(t, false))
	if diff := gocmp.Diff(w.expected(t), got, gocmp.AllowUnexported(hop{}, when{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSlowSenderIsOnThePath: the messages of the rank with a slow NIC, each of which waits for
// the one before, are consecutive steps of the critical path, and only the last has latency.
func TestSlowSenderIsOnThePath(t *testing.T) {
	t.Parallel()
	servers := slices.Repeat([]topology.Server{server("fast", 400*gbps)}, 4)
	servers[2] = server("slow", 25*gbps)
	w := rings{fabric: rackOf(t, servers...), ranks: 4, sizes: []int{4 << 20}}
	drains, _ := w.alone(t, 2, 1<<20)
	_, r := observed(t, w.groups(t, false))
	if n := checkFollowing(t, r); n < 4 {
		t.Errorf("%d steps wait for the one before, want at least 4: %+v", n, r.Path)
	}
	for _, s := range r.Path {
		if s.Latency == 0 && (s.Rank != 2 && s.Rank != 1 || s.Sending+s.Contention != drains) {
			t.Errorf("step %+v, want a message from or to rank 2 that takes %d ps", s, drains)
		}
	}
}

// TestResumesWaitingMessages: a run is the same if it is resumed while messages wait, with one
// NIC or two, of traces and of phases.
func TestResumesWaitingMessages(t *testing.T) {
	t.Parallel()
	for name, servers := range map[string][]topology.Server{
		"one NIC":  {server("a", 400*gbps), server("a", 400*gbps), server("b", 25*gbps), server("a", 400*gbps)},
		"two NICs": {server("a", 400*gbps, 100*gbps), server("a", 400*gbps, 100*gbps), server("b", 25*gbps, 100*gbps), server("a", 400*gbps, 100*gbps)},
	} {
		w := rings{rackOf(t, servers...), 4, []int{1 << 20, 2 << 20}, [][]int{{0, 0, 0, 0}, {300, 0, 0, 0}}, ""}
		for kind, in := range map[string]engine.Input{"traces": w.traces(t, false), "phases": w.groups(t, false)} {
			in.Options.ProgressEvents = 1
			whole, result, _ := record(t.Context(), in, nil, nil)
			every := map[int64]bool{}
			for event := range whole.events {
				every[event] = true
			}
			_, _, states := record(t.Context(), in, nil, every)
			if len(states) < 50 || !slices.ContainsFunc(result.Path, follows) {
				t.Errorf("%s, %s: %d states, want at least 50, and the path %+v, want messages that wait", name, kind, len(states), result.Path)
			}
			for event, s := range states {
				later, r, rest := record(t.Context(), in, s.state, every)
				if diff := gocmp.Diff(whole.String()[s.observed:], later.String()); diff != "" {
					t.Fatalf("%s, %s: resumed at event %d, the run observes (-want +got):\n%s", name, kind, event, diff)
				}
				if diff := gocmp.Diff(result, r); diff != "" {
					t.Fatalf("%s, %s: resumed at event %d, the run returns (-want +got):\n%s", name, kind, event, diff)
				}
				for k, state := range rest {
					if !bytes.Equal(state.state, states[k].state) {
						t.Fatalf("%s, %s: resumed at event %d, the state at event %d differs", name, kind, event, k)
					}
				}
			}
		}
	}
}

// follows reports whether the next step of a path waited only until this one was sent.
func follows(s engine.PathStep) bool { return s.To >= 0 && s.Latency == 0 }
