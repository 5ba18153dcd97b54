package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netsim/runs/studies/plan"
)

func axes(sizes ...int) (list []plan.Axis) {
	for i, n := range sizes {
		a := plan.Axis{Field: string(rune('a' + i))}
		for k := range n {
			a.Values = append(a.Values, string(rune('0'+k)))
		}
		list = append(list, a)
	}
	return list
}

func combinations(p *plan.Plan) (all []string) {
	for point := range p.Points() {
		all = append(all, strings.Join(p.Values(point), ""))
	}
	return all
}

func TestPlans(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method  string
		axes    []plan.Axis
		samples int64
		seed    uint64
		want    string
	}{
		{plan.Grid, axes(2, 3), 0, 0, "00 01 02 10 11 12"},
		{plan.Grid, axes(1), 0, 0, "0"},
		{plan.List, axes(3, 3), 0, 0, "00 11 22"},
		{plan.Sample, axes(2, 3), 4, 7, "02 00 12 10"},
		{plan.Sample, axes(2, 3), 4, 8, "10 11 00 02"},
	} {
		p, err := plan.New(c.axes, c.method, c.samples, c.seed)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(combinations(p), " "); got != c.want {
			t.Errorf("%s of %v with seed %d has the points %s, want %s", c.method, c.axes, c.seed, got, c.want)
		}
	}
}

// TestSamplesAreDifferent: a sample has as many points as asked for, each a combination of
// the grid and each once.
func TestSamplesAreDifferent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := axes(rapid.SliceOfN(rapid.IntRange(1, 6), 1, 4).Draw(t, "sizes")...)
		grid, err := plan.New(list, plan.Grid, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(1, grid.Points()).Draw(t, "samples")
		sample, err := plan.New(list, plan.Sample, int64(n), rapid.Uint64().Draw(t, "seed"))
		if err != nil {
			t.Fatal(err)
		}
		got := combinations(sample)
		slices.Sort(got)
		if len(slices.Compact(got)) != n {
			t.Errorf("%d samples have the points %v", n, combinations(sample))
		}
		for _, point := range got {
			if !slices.Contains(combinations(grid), point) {
				t.Errorf("%s is no point of the grid", point)
			}
		}
	})
}

// TestLargeAxesAreBounded: what a number cannot count is refused.
func TestLargeAxesAreBounded(t *testing.T) {
	t.Parallel()
	values := make([]string, 10_000)
	for i := range values {
		values[i] = string(rune(0x4e00 + i))
	}
	var list []plan.Axis
	for i := range 5 {
		list = append(list, plan.Axis{Field: string(rune('a' + i)), Values: values})
	}
	for method, want := range map[string]string{
		plan.Grid: "more than 10000 combinations", plan.Sample: "more than 9007199254740992 combinations", "walk": "method must be",
	} {
		if _, err := plan.New(list, method, 1, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", method, err, want)
		}
	}
	if p, err := plan.New(list[:3], plan.Sample, 10_000, 1); err != nil || p.Points() != 10_000 {
		t.Errorf("a sample of 10^12 combinations: %v", err)
	}
}

func TestFieldsAreSet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		field string
		want  any // the tree after it, or the error
	}{
		{"a", map[string]any{"a": 1, "list": []any{map[string]any{"x": 0}, 5}}},
		{"o.p.q", map[string]any{"o": map[string]any{"p": map[string]any{"q": 1}}, "list": []any{map[string]any{"x": 0}, 5}}},
		{"list[0].x", map[string]any{"list": []any{map[string]any{"x": 1}, 5}}},
		{"list[1]", map[string]any{"list": []any{map[string]any{"x": 0}, 1}}},
		{"list[2]", "the base has no such field"},
		{"list[name].x", "the base has no such field"},
		{"list[1].x", "the base has no such field"},
		{"list.x", "the base has no such field"},
		{"none[0]", "the base has no such field"},
	} {
		tree := map[string]any{"list": []any{map[string]any{"x": 0}, 5}}
		p, err := plan.New([]plan.Axis{{Field: c.field, Values: []string{"1"}}}, plan.Grid, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		var got any = tree
		if err := plan.FieldOf(p.Axes[0]).Set(tree, 1); err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.field, diff)
		}
	}
	for _, bad := range []string{"", ".", "a.", ".a", "a..b", "a[", "a[]", "a[0", "a]", "a[0]b", "a b", "1", strings.Repeat("a", 256)} {
		if _, err := plan.New([]plan.Axis{{Field: bad, Values: []string{"1"}}}, plan.Grid, 0, 0); err == nil || !strings.HasPrefix(err.Error(), "axes[0].field must be a path") {
			t.Errorf("the field %q gives %v", bad, err)
		}
	}
}
