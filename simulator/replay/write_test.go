package replay_test

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"testing"

	"netsim/simulator/chakra"
	"netsim/simulator/collective"
	"netsim/simulator/engine"
	"netsim/simulator/replay"
	"netsim/simulator/topology"
)

type trace struct{ bytes.Buffer }

func (*trace) Close() error { return nil }

// scheduleOf returns the schedule of a workload's traces, as a worker reads them.
func scheduleOf(t *testing.T, groups []collective.GroupSpec) *engine.Replay {
	t.Helper()
	var traces []*trace
	if _, err := replay.WriteTraces(groups, func(rank int) (io.WriteCloser, error) {
		if rank != len(traces) {
			return nil, fmt.Errorf("rank %d comes after %d", rank, len(traces)-1)
		}
		traces = append(traces, &trace{})
		return traces[rank], nil
	}); err != nil {
		t.Fatal(err)
	}
	options := replay.Options{Algorithms: map[string]string{}, Abort: true}
	for _, p := range groups[0].Phases {
		options.Algorithms[p.OperationType] = p.Algorithm
	}
	text, needed, err := replay.GroupsFile(groups)
	if err != nil {
		t.Fatal(err)
	}
	if needed {
		if options.Groups, err = chakra.ReadGroups(bytes.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	b := replay.New(len(traces), options)
	for rank, written := range traces {
		r, err := chakra.NewReader(written, chakra.Limits{})
		if err == nil {
			err = b.Add(rank, r)
		}
		if err != nil {
			t.Fatalf("rank %d: %v", rank, err)
		}
	}
	p, err := b.Schedule()
	if err != nil {
		t.Fatal(err)
	}
	return &engine.Replay{Schedule: p, Synchronize: true}
}

// TestTracesTakeAsLong: the traces of a workload take the simulated time of the workload,
// when the configuration has the algorithms of its phases.
func TestTracesTakeAsLong(t *testing.T) {
	t.Parallel()
	phases := []collective.Phase{
		{OperationType: "allReduce", Algorithm: "recursiveHalvingDoubling", DataSize: 1 << 20}, {OperationType: "allGather", Algorithm: "ring", DataSize: 4096},
		{OperationType: "reduceScatter", Algorithm: "halving", DataSize: 1 << 19}, {OperationType: "allToAll", Algorithm: "sequential", DataSize: 1 << 18},
		{OperationType: "broadcast", Algorithm: "interleaved", DataSize: 1 << 17}, {OperationType: "scatter", Algorithm: "direct", DataSize: 1 << 16},
	}
	backward := slices.Clone(phases)
	slices.Reverse(backward)
	derived, err := topology.Derive(topology.Constraints{}, 16)
	if err != nil {
		t.Fatal(err)
	}
	fabric, err := topology.Build(derived.Layout())
	if err != nil {
		t.Fatal(err)
	}
	for name, groups := range map[string][]collective.GroupSpec{
		"one group":      {{Count: 1, GroupSize: 16, Phases: phases}},
		"several groups": {{Count: 2, GroupSize: 4, Phases: phases}, {Count: 1, GroupSize: 8, Phases: backward}},
	} {
		run := func(in engine.Input) *engine.Result {
			in.Fabric = fabric
			r, err := engine.Run(t.Context(), in, engine.Observer{})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		want, got := run(engine.Input{Groups: groups, Synchronize: true}), run(engine.Input{Replay: scheduleOf(t, groups)})
		if got.Time != want.Time || got.Sends != want.Sends || got.Bytes != want.Bytes || got.Collectives != want.Collectives {
			t.Errorf("%s: the traces take %d ps for %d collectives with %d transfers of %d bytes, the workload %d, %d, %d and %d",
				name, got.Time, got.Collectives, got.Sends, got.Bytes, want.Time, want.Collectives, want.Sends, want.Bytes)
		}
	}
}
