package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"netsim/simulator/engine"
	"netsim/simulator/replay"
)

// TestAnyTrace: traces whose nodes can all run in some order run to their end with any
// parameters except Exclusive. Every operation runs once, and no rank ends before its
// longest chain of computations can.
func TestAnyTrace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		ranks := rapid.IntRange(1, 5).Draw(rt, "ranks")
		traces := make([][]node, ranks)
		critical := make([][]int64, ranks) // by node: the least time at which it can be over, ps
		add := func(rank int, n node, takes int64) {
			var begin int64
			for id := range traces[rank] {
				if rapid.IntRange(0, 2).Draw(rt, "needs") == 0 {
					n.data = append(n.data, id)
					begin = max(begin, critical[rank][id])
				}
			}
			n.id = fmt.Sprint(len(traces[rank]))
			traces[rank] = append(traces[rank], n)
			critical[rank] = append(critical[rank], begin+takes)
		}
		var messages, computations int64
		for range rapid.IntRange(1, 12).Draw(rt, "operations") {
			size := rapid.IntRange(1, 20_000).Draw(rt, "size")
			rank := rapid.IntRange(0, ranks-1).Draw(rt, "rank")
			switch rapid.IntRange(0, 2).Draw(rt, "kind") {
			case 0:
				n := compute(0, size)
				if rapid.Bool().Draw(rt, "host") {
					n.attrs = "is_cpu_op=1"
				}
				add(rank, n, int64(size)*1_000_000)
				computations++
			case 1:
				to, tag := rapid.IntRange(0, ranks-1).Draw(rt, "to"), rapid.IntRange(0, 1).Draw(rt, "tag")
				add(rank, send(0, to, tag, size), 0)
				add(to, receive(0, rank, tag, size), 0)
				if to != rank {
					messages++
				}
			case 2:
				kind := rapid.SampledFrom([]int{0, 1, 2, 3, 4, 5, 6, 7, 9}).Draw(rt, "collective")
				group := rapid.SampledFrom([]string{"", "even"}).Draw(rt, "group")
				for r := range ranks {
					if group == "" || r%2 == 0 {
						add(r, collect(0, kind, size, group), 0)
					}
				}
			}
		}
		seats := make([]engine.Seat, ranks)
		for i := range seats {
			seats[i] = engine.Seat{Domain: rapid.Int32Range(-1, 1).Draw(rt, "domain"), Subgroup: rapid.Uint32Range(0, 1).Draw(rt, "subgroup")}
		}
		in := engine.Input{
			Fabric: leafSpine(t, 8, 1), ScaleUp: scaleUp(100*gbps, 250_000, 5_500, seats...),
			Options: engine.Options{Routing: rapid.SampledFrom([]engine.Routing{engine.ECMP, engine.Spray, engine.Flowlet}).Draw(rt, "routing")},
			Replay: &engine.Replay{
				Schedule:    traced(t, replay.Options{Serialize: rapid.Bool().Draw(rt, "serialize")}, traces...),
				Synchronize: rapid.Bool().Draw(rt, "synchronize"),
			},
		}
		expected, bytes := in.Replay.Schedule.Transfers()
		if expected+computations == 0 {
			return
		}
		var plain, collectives int64
		r, err := engine.Run(t.Context(), in, engine.Observer{
			Transfer: func(tr *engine.Transfer) error {
				if tr.Acked <= tr.Start {
					rt.Fatalf("a transfer that starts at %d ps is acknowledged at %d ps", tr.Start, tr.Acked)
				}
				if tr.Collective.ID < 0 {
					plain++
				}
				return nil
			},
			Collective: func(c *engine.Collective) error {
				if !c.Finished || c.Start > c.End {
					rt.Fatalf("got collective %+v, want it finished after its start", *c)
				}
				collectives++
				return nil
			},
			Rank: func(k *engine.Rank) error {
				if len(traces[k.Rank]) > 0 && k.Time < slices.Max(critical[k.Rank]) {
					rt.Fatalf("rank %d ends at %d ps, want at least the %d ps of its computations", k.Rank, k.Time, slices.Max(critical[k.Rank]))
				}
				return nil
			},
		})
		if err != nil {
			rt.Fatal(err)
		}
		if r.End != engine.Finished || r.Sends != expected || r.Bytes != bytes || r.Computations != computations ||
			plain != messages || collectives != int64(len(in.Replay.Schedule.Collectives)) {
			rt.Fatalf("got %+v with %d messages and %d collectives, want the whole workload with %d and %d",
				*r, plain, collectives, messages, len(in.Replay.Schedule.Collectives))
		}
		if again, err := engine.Run(t.Context(), in, engine.Observer{}); err != nil || again.Progress != r.Progress {
			rt.Fatalf("the second run ends with %+v, %v, want %+v", again, err, r.Progress)
		}
	})
}

// TestHostileTraces: any nodes either are refused with an error that names a rank, run
// to their end, or end in a deadlock whose error names the waiting node.
func TestHostileTraces(t *testing.T) {
	t.Parallel()
	refused, ran, stuck := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		traces := make([][]node, 3)
		rank := rapid.IntRange(0, 2)
		rarely := func() bool { return rapid.IntRange(0, 29).Draw(rt, "rarely") == 0 }
		add := func(r int, n node) {
			if rarely() {
				return // leaves the node's counterpart without a match
			}
			n.id = fmt.Sprint(len(traces[r]))
			if len(traces[r]) > 0 && rapid.Bool().Draw(rt, "depends") {
				n.data = append(n.data, rapid.IntRange(0, len(traces[r])-1).Draw(rt, "needs"))
			}
			if rarely() {
				n.data = append(n.data, rapid.IntRange(0, 9).Draw(rt, "any"))
			}
			at := rapid.IntRange(0, len(traces[r])).Draw(rt, "at")
			traces[r] = slices.Insert(traces[r], at, n)
		}
		for range rapid.IntRange(1, 6).Draw(rt, "operations") {
			size := rapid.IntRange(0, 9).Draw(rt, "size")
			switch rapid.IntRange(0, 2).Draw(rt, "kind") {
			case 0:
				add(rank.Draw(rt, "rank"), compute(0, size))
			case 1:
				from, to := rank.Draw(rt, "from"), rank.Draw(rt, "to")
				add(from, send(0, to, 0, size))
				add(to, receive(0, from, 0, size))
			case 2:
				group := rapid.SampledFrom([]string{"a", "b", ""}).Draw(rt, "group")
				for r := range 3 {
					add(r, collect(0, rapid.SampledFrom([]int{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9}).Draw(rt, "collective"), size, group))
				}
			}
		}
		p, err := build(t, replay.Options{Serialize: rapid.Bool().Draw(rt, "serialize")}, traces...)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "rank ") {
				rt.Fatal(err)
			}
			refused++
			return
		}
		_, err = engine.Run(t.Context(), engine.Input{
			Fabric: oneSwitch(t, 3, 400*gbps, 500_000),
			Replay: &engine.Replay{Schedule: p, Synchronize: rapid.Bool().Draw(rt, "synchronize"), Exclusive: rapid.Bool().Draw(rt, "exclusive")},
		}, engine.Observer{})
		switch {
		case err == nil:
			ran++
		case strings.HasPrefix(err.Error(), "deadlock: ") && strings.Contains(err.Error(), " waits in node "):
			stuck++
		default:
			rt.Fatal(err)
		}
	})
	t.Logf("%d refused, %d ran, %d stuck", refused, ran, stuck)
}
