package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netsim/simulator/collective"
	"netsim/simulator/engine"
	"netsim/simulator/replay"
	"netsim/simulator/snapshot"
	"netsim/simulator/topology"
)

// transcript has one line for each call of an observer.
type transcript struct {
	strings.Builder

	events int64 // of the run, at the last progress
}

func (s *transcript) observer() engine.Observer {
	line := func(kind string, v any) error {
		fmt.Fprintf(s, "%s %+v\n", kind, v)
		return nil
	}
	return engine.Observer{
		Transfer: func(t *engine.Transfer) error {
			c := *t
			c.Collective = nil
			return errors.Join(line("of", *t.Collective), line("transfer", c))
		},
		Collective: func(c *engine.Collective) error { return line("collective", *c) },
		Rank:       func(r *engine.Rank) error { return line("rank", *r) },
		Links:      func(l *engine.Links) error { return line("links", *l) },
		Beacon:     func(p *engine.Progress) error { return line("beacon", *p) },
		Progress: func(p *engine.Progress) error {
			s.events = p.Events
			return line("progress", *p)
		},
	}
}

// saved is the state of a run after some events, with the length of the transcript then.
type saved struct {
	state    []byte
	observed int
}

// record runs the input, from a state if there is one, and saves its state after the
// given numbers of events.
func record(ctx context.Context, in engine.Input, from []byte, at map[int64]bool) (*transcript, *engine.Result, map[int64]saved) {
	s, states := &transcript{}, map[int64]saved{}
	o := s.observer()
	o.Snapshot = func(save func(io.Writer) error) error {
		if !at[s.events] {
			return nil
		}
		var b bytes.Buffer
		err := save(&b)
		states[s.events] = saved{b.Bytes(), s.Len()}
		return err
	}
	var r *engine.Result
	var err error
	if from == nil {
		r, err = engine.Run(ctx, in, o)
	} else {
		r, err = engine.Resume(ctx, in, bytes.NewReader(from), o)
	}
	if err != nil { // the ranks of a random input may deadlock
		fmt.Fprintln(s, err)
	}
	return s, r, states
}

// TestResumes: a run of any kind can be resumed at any event. Its later observations,
// its result and its later states are those of the uninterrupted run.
func TestResumes(t *testing.T) {
	t.Parallel()
	kinds := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		in, kind := anyInput(t, rt)
		whole, result, _ := record(rt.Context(), in, nil, nil)
		at := map[int64]bool{}
		for range 4 {
			at[rapid.Int64Range(0, whole.events).Draw(rt, "event")] = true
		}
		_, _, states := record(rt.Context(), in, nil, at)
		for _, event := range slices.Sorted(maps.Keys(states)) {
			kinds[kind]++
			s, r, later := record(rt.Context(), in, states[event].state, at)
			if got, want := s.String(), whole.String()[states[event].observed:]; got != want {
				rt.Fatalf("%s resumed at event %d of %d observes (-want +got):\n%s", kind, event, whole.events, cmp.Diff(want, got))
			}
			if diff := cmp.Diff(result, r); diff != "" {
				rt.Fatalf("%s resumed at event %d returns (-want +got):\n%s", kind, event, diff)
			}
			for k, state := range later {
				if !bytes.Equal(state.state, states[k].state) {
					rt.Fatalf("%s resumed at event %d: the state at event %d differs from that of the uninterrupted run", kind, event, k)
				}
			}
		}
	})
	t.Log(kinds)
}

// anyInput draws an input of groups, traces or traffic, and returns which of them it is.
func anyInput(t *testing.T, rt *rapid.T) (engine.Input, string) {
	const hosts = 12
	o := engine.Options{
		Routing: rapid.SampledFrom([]engine.Routing{engine.ECMP, engine.Spray, engine.Flowlet}).Draw(rt, "routing"),

		Transport: rapid.SampledFrom([]engine.Transport{engine.Trimming, engine.Lossless, engine.Ideal}).Draw(rt, "transport"),
		Seed:      rapid.Uint64Range(0, 9).Draw(rt, "seed"),
		Interval:  7_000_000, Beacon: 11_000_000, ProgressEvents: 1,
		MaxReports:   rapid.Int64Range(0, 5).Draw(rt, "reports"),
		Start:        rapid.Int64Range(0, 1).Draw(rt, "start") * 1_000_000,
		CriticalPath: rapid.Bool().Draw(rt, "critical path"),
		Analytical:   rapid.IntRange(0, 9).Draw(rt, "analytical") == 0,
		NICs:         []engine.NIC{{Packet: engine.Packet{MSS: 1000, Header: 58, Ack: 64}}},
	}
	for _, component := range []string{"leaf", "spine"} {
		if rapid.Bool().Draw(rt, "method") {
			o.Switches = append(o.Switches, engine.Switch{
				Component: component, Hash: engine.Hash(rapid.IntRange(0, 3).Draw(rt, "hash")), Gap: 100_000,
				Routing:  rapid.SampledFrom([]engine.Routing{engine.ECMP, engine.Spray, engine.Flowlet}).Draw(rt, "method of "+component),
				Capacity: rapid.SampledFrom([]int64{0, 500 * gbps}).Draw(rt, "capacity"),
			})
		}
	}
	in := engine.Input{Fabric: anyFabric(t, rt, hosts), Options: o}
	placed := rapid.Permutation(everyHost(hosts))
	switch rapid.IntRange(0, 2).Draw(rt, "kind") {
	case 0:
		in.Groups, in.Hosts = anyGroups(t, rt), placed.Draw(rt, "hosts")
		in.ScaleUp = anySeats(rt, collective.Ranks(in.Groups))
		in.Options.Limit = rapid.SampledFrom([]int64{0, 0, 30_000_000}).Draw(rt, "limit")
		return in, "groups"
	case 1:
		in.Replay, in.Hosts = anyReplay(t, rt), placed.Draw(rt, "hosts")
		in.ScaleUp = anySeats(rt, len(in.Replay.Schedule.Ranks))
		return in, "replay"
	default:
		for range rapid.IntRange(1, 2).Draw(rt, "applications") {
			in.Traffic = append(in.Traffic, traffic(engine.Pattern(rapid.IntRange(0, 2).Draw(rt, "pattern")), hosts,
				rapid.Int64Range(1, 30_000).Draw(rt, "message"), rapid.Int64Range(wholeLoad/10, 2*wholeLoad).Draw(rt, "load")))
		}
		in.Options.WarmUp, in.Options.CoolDown = 1_000_000, 1_000_000
		in.Options.Limit = in.Options.Start + 10_000_000
		return in, "traffic"
	}
}

// anyFabric draws a leaf-spine fabric whose servers have one NIC, or two of different
// rates.
func anyFabric(t *testing.T, rt *rapid.T, hosts int) *topology.Fabric {
	s := topology.Server{Component: "server", NICs: []topology.NIC{{Component: "nic", Rate: 400 * gbps, Delay: 500_000}}}
	if rapid.Bool().Draw(rt, "two NICs") {
		s.NICs = append(s.NICs, topology.NIC{Component: "slow", Rate: 100 * gbps, Delay: 500_000})
	}
	pod := topology.Pod{Switches: slices.Repeat([]topology.Switch{{Component: "spine", DownRate: 400 * gbps}}, 2)}
	for range hosts / 4 {
		pod.Racks = append(pod.Racks, topology.Rack{
			Switches: slices.Repeat([]topology.Switch{{
				Component: "leaf", UpLinks: 2, UpRate: 400 * gbps, DownRate: 400 * gbps, UpLinkDelay: 500_000,
			}}, rapid.IntRange(1, 2).Draw(rt, "leaves")),
			Servers: slices.Repeat([]topology.Server{s}, 4),
		})
	}
	f, err := topology.Build(topology.Layout{Pods: []topology.Pod{pod}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func anyGroups(t *testing.T, rt *rapid.T) []collective.GroupSpec {
	var specs []collective.GroupSpec
	for _, size := range []int{4, 8} {
		spec := collective.GroupSpec{Count: 1, GroupSize: size}
		for range rapid.IntRange(1, 3).Draw(rt, "phases") {
			entry := rapid.SampledFrom(collective.Matrix()).Draw(rt, "operation")
			spec.Phases = append(spec.Phases, phase(entry.OperationType,
				rapid.SampledFrom(entry.AllowedAlgorithms).Draw(rt, "algorithm"), rapid.Int64Range(1, 300_000).Draw(rt, "size")))
		}
		specs = append(specs, spec)
	}
	groups, err := collective.Resolve(nil, specs, true)
	if err != nil {
		t.Fatal(err)
	}
	return groups
}

func anyReplay(t *testing.T, rt *rapid.T) *engine.Replay {
	traces := make([][]node, rapid.IntRange(2, 6).Draw(rt, "ranks"))
	add := func(rank int, n node) {
		for id := range traces[rank] {
			if rapid.IntRange(0, 2).Draw(rt, "needs") == 0 {
				n.data = append(n.data, id)
			}
		}
		n.id = fmt.Sprint(len(traces[rank]))
		traces[rank] = append(traces[rank], n)
	}
	add(0, send(0, 1, 7, 5000)) // the workload is never empty
	add(1, receive(0, 0, 7, 5000))
	rank := rapid.IntRange(0, len(traces)-1)
	for range rapid.IntRange(1, 20).Draw(rt, "operations") {
		size := rapid.IntRange(1, 40_000).Draw(rt, "size")
		switch from, to := rank.Draw(rt, "rank"), rank.Draw(rt, "to"); rapid.IntRange(0, 2).Draw(rt, "kind") {
		case 0:
			n := compute(0, 1+size%20)
			if size%2 == 0 {
				n.attrs = "is_cpu_op=1"
			}
			add(from, n)
		case 1:
			add(from, send(0, to, 0, size))
			add(to, receive(0, from, 0, size))
		case 2:
			kind := rapid.SampledFrom([]int{0, 1, 2, 3, 4, 5, 6, 7, 9}).Draw(rt, "collective")
			for r := range traces {
				add(r, collect(0, kind, size, ""))
			}
		}
	}
	return &engine.Replay{
		Schedule:    traced(t, replay.Options{}, traces...),
		Synchronize: rapid.Bool().Draw(rt, "synchronize"), Exclusive: rapid.Bool().Draw(rt, "exclusive"),
	}
}

func anySeats(rt *rapid.T, ranks int) *engine.ScaleUp {
	if rapid.Bool().Draw(rt, "no scale-up") {
		return nil
	}
	seats := make([]engine.Seat, ranks)
	for i := range seats {
		seats[i] = engine.Seat{Domain: rapid.Int32Range(-1, 1).Draw(rt, "domain"), Subgroup: rapid.Uint32Range(0, 1).Draw(rt, "subgroup")}
	}
	return scaleUp(800*gbps, 250_000, 5_500, seats...)
}

// TestRefusesStates: a missing, damaged or truncated state and one of another input
// are refused before anything is observed.
func TestRefusesStates(t *testing.T) {
	t.Parallel()
	in := engine.Input{
		Fabric: leafSpine(t, 16, 1), Groups: workload(t, 16, phase("allToAll", "interleaved", 1<<20)),
		Options: engine.Options{ProgressEvents: 64},
	}
	var state []byte
	run(t, in, engine.Observer{Snapshot: func(save func(io.Writer) error) error {
		var b bytes.Buffer
		err := save(&b)
		state = b.Bytes()
		return err
	}})
	other, larger := in, in
	other.Options.Seed = 2
	larger.Groups = workload(t, 16, phase("allToAll", "interleaved", 2<<20))
	for what, c := range map[string]struct {
		in    engine.Input
		state []byte
	}{
		"another seed":      {other, state},
		"another workload":  {larger, state},
		"no state":          {in, nil},
		"a truncated state": {in, state[:len(state)-1]},
		"a damaged state":   {in, append(slices.Clone(state[:len(state)/2]), append([]byte{state[len(state)/2] ^ 1}, state[len(state)/2+1:]...)...)},
	} {
		nothing := engine.Observer{Progress: func(*engine.Progress) error { return errors.New("observed") }}
		if _, err := engine.Resume(t.Context(), c.in, bytes.NewReader(c.state), nothing); !errors.Is(err, snapshot.ErrRefused) {
			t.Errorf("%s: got error %v, want %v", what, err, snapshot.ErrRefused)
		}
	}
	in.Options.MaxFlows, in.Options.ProgressEvents = 1000, 1 // may differ between machines
	if _, err := engine.Resume(t.Context(), in, bytes.NewReader(state), engine.Observer{}); err != nil {
		t.Error(err)
	}
}

// BenchmarkSnapshot measures how long it takes to save the state in the middle of a
// run.
func BenchmarkSnapshot(b *testing.B) {
	for _, ranks := range []int{1024, 8192} {
		for _, p := range []collective.Phase{phase("allReduce", "ring", 64<<20), phase("allToAll", "sequential", 64<<20)} {
			b.Run(fmt.Sprintf("%s/%d", p.OperationType, ranks), func(b *testing.B) {
				in := engine.Input{Fabric: derived(b, "128x400G", "1:1", ranks), Groups: workload(b, ranks, p)}
				enough := errors.New("saved")
				calls := 0
				_, err := engine.Run(b.Context(), in, engine.Observer{Snapshot: func(save func(io.Writer) error) error {
					if calls++; calls < 8 {
						return nil
					}
					var state bytes.Buffer
					for b.Loop() {
						state.Reset()
						if err := save(&state); err != nil {
							return err
						}
					}
					b.ReportMetric(float64(state.Len())/1e6, "MB")
					return enough
				}})
				if !errors.Is(err, enough) {
					b.Fatal(err)
				}
			})
		}
	}
}
