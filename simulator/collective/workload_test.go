package collective_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/simulator/collective"
)

func workload(ranks int, phases ...collective.Phase) *collective.Workload {
	return &collective.Workload{Ranks: ranks, Phases: phases}
}

func phase(operation, algorithm string, size int64) collective.Phase {
	return collective.Phase{OperationType: operation, Algorithm: algorithm, DataSize: size}
}

func TestMatrix(t *testing.T) {
	t.Parallel()
	want := []collective.Compatibility{
		{"allReduce", []string{"ring", "recursiveHalvingDoubling"}, "ring", []string{"recursiveHalvingDoubling"}},
		{"allGather", []string{"ring"}, "ring", []string{}},
		{"reduceScatter", []string{"ring", "halving"}, "ring", []string{"halving"}},
		{"allToAll", []string{"sequential", "interleaved"}, "interleaved", []string{}},
		{"broadcast", []string{"sequential", "interleaved"}, "interleaved", []string{}},
		{"scatter", []string{"direct"}, "direct", []string{}},
	}
	if diff := cmp.Diff(want, collective.Matrix()); diff != "" {
		t.Error(diff)
	}
}

func TestResolveFillsDefaults(t *testing.T) {
	t.Parallel()
	got, err := collective.Resolve(workload(64,
		phase("allReduce", "", 1), phase("allToAll", "", 2), phase("scatter", "direct", 1<<40)), nil, false)
	if err != nil {
		t.Fatal(err)
	}
	want := []collective.GroupSpec{{Count: 1, GroupSize: 64, Phases: []collective.Phase{
		phase("allReduce", "ring", 1), phase("allToAll", "interleaved", 2), phase("scatter", "direct", 1<<40),
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if collective.Ranks(got) != 64 {
		t.Errorf("%d ranks, want 64", collective.Ranks(got))
	}
}

func TestResolveRefuses(t *testing.T) {
	t.Parallel()
	ok := phase("allReduce", "", 1)
	groups := func(count, size int, phases ...collective.Phase) []collective.GroupSpec {
		return []collective.GroupSpec{{Count: 1, GroupSize: 1, Phases: []collective.Phase{ok}}, {Count: count, GroupSize: size, Phases: phases}}
	}
	for _, c := range []struct {
		when        string
		workload    *collective.Workload
		groups      []collective.GroupSpec
		constrained bool
		want        string
	}{
		{when: "neither", want: "exactly one of workload and groups is required"},
		{when: "both", workload: workload(8, ok), groups: groups(1, 8, ok), want: "exactly one of workload and groups is required"},
		{when: "rank set", workload: workload(9, ok), want: "ranks must be one of [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096], got 9"},
		{when: "rank set of groups", groups: groups(1, 8, ok), want: "ranks must be one of [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096], got 9"},
		{when: "no ranks", workload: workload(0, ok), constrained: true, want: "workload.ranks must be between 1 and 65536, got 0"},
		{when: "too many ranks", groups: groups(2, 65536, ok), constrained: true, want: "ranks must be between 1 and 65536, got 131073"},
		{when: "count", groups: groups(0, 8, ok), want: "groups[1].count must be between 1 and 65536, got 0"},
		{when: "group size", groups: groups(1, -1, ok), want: "groups[1].groupSize must be between 1 and 65536, got -1"},
		{when: "no phases", workload: workload(8), want: "workload.phases length must be between 1 and 1000, got 0"},
		{when: "data size", workload: workload(8, phase("allReduce", "", 0)), want: "workload.phases[0].dataSize must be between 1 and 1099511627776, got 0"},
		{when: "data size above", groups: groups(1, 7, ok, phase("allReduce", "", 1<<40+1)), want: "groups[1].phases[1].dataSize must be between 1 and 1099511627776, got 1099511627777"},
		{when: "operation", workload: workload(8, phase("allreduce", "", 1)), want: "operationType 'allreduce' is unknown; known operations: allReduce, allGather, reduceScatter, allToAll, broadcast, scatter"},
		{when: "algorithm", workload: workload(8, phase("allGather", "direct", 1)), want: "algorithm 'direct' is not compatible with operation 'allGather'; allowed algorithms: ring"},
		{when: "two allowed", workload: workload(8, phase("allReduce", "halving", 1)), want: "algorithm 'halving' is not compatible with operation 'allReduce'; allowed algorithms: ring, recursiveHalvingDoubling"},
		{when: "power of two", workload: workload(12, phase("reduceScatter", "halving", 1)), constrained: true, want: "algorithm 'halving' requires a power-of-two group size, got 12"},
		{when: "power of two of a group", groups: groups(1, 7, phase("allReduce", "recursiveHalvingDoubling", 1)), want: "algorithm 'recursiveHalvingDoubling' requires a power-of-two group size, got 7"},
	} {
		_, err := collective.Resolve(c.workload, c.groups, c.constrained)
		if fmt.Sprint(err) != c.want {
			t.Errorf("%s: got error %v, want %s", c.when, err, c.want)
		}
	}
}
