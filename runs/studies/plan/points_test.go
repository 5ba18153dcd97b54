package plan_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netsim/runs/studies/plan"
)

// TestKinds: an axis is of the workload, of the seed, or of the design.
func TestKinds(t *testing.T) {
	t.Parallel()
	for kind, fields := range map[string][]string{
		plan.Workload: {
			"workload", "workload.ranks", "workload.phases[0].algorithm", "groups", "groups[1].count", plan.Traceset,
			"applications", "applications[0].typedParameters.ChakraConfiguration.AllReduceAlgorithm.value", "applications[workload]",
		},
		plan.Seed: {seed, "globalParameters.SimulationParameters.RandomSeed"},
		plan.Design: {
			"topologyConstraints", "topologyConstraints.switchRadix", plan.Template, plan.MappingFile, plan.Duration, "components[leaf].name",
			"topology", "workloads", "globalParameters", "globalParameters.SimulationParameters.Mtu.value",
		},
	} {
		for _, field := range fields {
			if got := plan.Kind(field); got != kind {
				t.Errorf("%s is of the %s, want %s", field, got, kind)
			}
		}
	}
}

// TestReplicatesAreInARow: the replicates of a point follow one another, and have its values.
func TestReplicatesAreInARow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := axes(rapid.SliceOfN(rapid.IntRange(1, 4), 1, 3).Draw(t, "sizes")...)
		n := rapid.IntRange(1, plan.MaxReplicates).Draw(t, "replicates")
		one, err := plan.New(list, plan.Grid, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.New(list, plan.Grid, 0, 0)
		if err == nil {
			err = p.Repeat(int64(n))
		}
		if err != nil || p.Points() != n*one.Points() || p.Replicates() != n {
			t.Fatalf("%d points %d times are %d (%v)", one.Points(), n, p.Points(), err)
		}
		for point := range p.Points() {
			if diff := cmp.Diff(one.Values(point/n), p.Values(point)); diff != "" {
				t.Fatalf("point %d (-want +got):\n%s", point, diff)
			}
		}
	})
	many, err := plan.New(axes(10_000), plan.Grid, 0, 0)
	if err != nil || many.Repeat(2) == nil || many.Repeat(1) != nil {
		t.Errorf("10,000 points are repeated (%v)", err)
	}
	seeds, err := plan.New([]plan.Axis{{Field: seed, Values: []string{"1", "2"}}}, plan.Grid, 0, 0)
	if err != nil || seeds.Repeat(2) == nil {
		t.Errorf("an axis of seeds is repeated (%v)", err)
	}
}

// TestReplicatesHaveOtherSeeds: and nothing else.
func TestReplicatesHaveOtherSeeds(t *testing.T) {
	t.Parallel()
	p, err := plan.New([]plan.Axis{axis("topology.components[0].count", 1)}, plan.Grid, 0, 0)
	if err == nil {
		err = p.Repeat(3)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := sources(t)
	var seeds []uint64
	var texts []string
	for point := range p.Points() {
		c, err := s.Configured(p, point)
		if err != nil {
			t.Fatal(err)
		}
		options, err := c.Document.Options(c.Duration)
		if err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, options.Seed)
		c.Document.AddToSeed(int64(-point))
		texts = append(texts, text(t, c.Document))
	}
	if diff := cmp.Diff([]uint64{1, 2, 3}, seeds); diff != "" || len(slices.Compact(texts)) != 1 {
		t.Errorf("the seeds (-want +got):\n%s", diff)
	}
	const base = `{"workload":{"ranks":8,"phases":[{"operationType":"allReduce","dataSize":1}]}}`
	simple, err := plan.New([]plan.Axis{axis("workload.ranks", 8)}, plan.Grid, 0, 0)
	if err == nil {
		err = simple.Repeat(3)
	}
	if err != nil {
		t.Fatal(err)
	}
	seeds = nil
	for point := range simple.Points() {
		submission, err := plan.Simple(base, simple, point, nil)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := submission.Document()
		if err != nil {
			t.Fatal(err)
		}
		options, err := doc.Options(1)
		if err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, options.Seed)
	}
	if diff := cmp.Diff([]uint64{1, 2, 3}, seeds); diff != "" {
		t.Errorf("the seeds of a submission (-want +got):\n%s", diff)
	}
}

// TestKeys: two points have the same key if and only if the values of these axes are equal,
// also those of a list, which may have a value twice.
func TestKeys(t *testing.T) {
	t.Parallel()
	list := []plan.Axis{axis("workload.ranks", 8, 8, 16, 8), axis("topologyConstraints.switchRadix", "a", "b", "a", "a")}
	p, err := plan.New(list, plan.List, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for a := range p.Points() {
		for b := range p.Points() {
			for i, kind := range []string{plan.Workload, plan.Design} {
				equal := p.Values(a)[i] == p.Values(b)[i]
				if got := p.Key(a, kind) == p.Key(b, kind); got != equal {
					t.Errorf("the %s of points %d and %d is equal: %t, want %t", kind, a, b, got, equal)
				}
			}
		}
	}
}

// TestEachEndsWithItsContext: a walk says how many points it has done.
func TestEachEndsWithItsContext(t *testing.T) {
	t.Parallel()
	p, err := plan.New(axes(5), plan.Grid, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err = p.Each(ctx, func(point int) error {
		if point == 2 {
			cancel()
		}
		return nil
	})
	if late, ok := errors.AsType[plan.OutOfTime](err); !ok || late.Done != 3 || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end after 3 points", err)
	}
}

// TestApart: of two axes, neither changes what the other changes, however it is written.
func TestApart(t *testing.T) {
	t.Parallel()
	const base = `{"o":{"p":1},"list":[{"name":"a","x":1},{"name":"b","x":1}]}`
	for fields, want := range map[[2]string]string{
		{"o", "o.p"}: "axes[1].field must not be a part of that of axes[0], o; got o.p", {"o.p", "o"}: "axes[0].field must not be a part of that of axes[1], o; got o.p",
		{"list", "list[0]"}: "axes[1]", {"list[0]", "list"}: "axes[0]", {"list[0]", "list[a].x"}: "axes[1]", {"list[a]", "list[00].x"}: "axes[1]",
		{"list[0].x", "list[a].x"}: "axes[1]", {"none.x", "none.x.y"}: "axes[1]",
		{"o.p", "o.q"}: "", {"list[0].x", "list[1].x"}: "", {"list[0].x", "list[b].x"}: "", {"list[0]", "list[1]"}: "", {"o", "op"}: "", {"none[0]", "none[1]"}: "",
	} {
		p, err := plan.New([]plan.Axis{axis(fields[0], 1), axis(fields[1], 2)}, plan.Grid, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := p.Apart(base); err != nil {
			got = err.Error()
		}
		if (want == "") != (got == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%v: got %q, want %q", fields, got, want)
		}
	}
}
