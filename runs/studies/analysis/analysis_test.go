package analysis_test

import (
	"math"
	"slices"
	"testing"

	"github.com/cockroachdb/apd/v3"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"netsim/runs/studies/analysis"
)

// grid returns the points of a grid of 3 by 4 values, some of them missing, with times and
// prices from small ranges, so that many are equal.
func grid(t *rapid.T) (points []analysis.Point) {
	for i := range 12 {
		if !rapid.Bool().Draw(t, "completed") {
			continue
		}
		p := analysis.Point{Number: i, At: []int{i / 4, i % 4}, TimePs: rapid.Int64Range(1, 6).Draw(t, "time")}
		if price := rapid.Int64Range(0, 5).Draw(t, "price"); price > 0 {
			p.Price = apd.New(price, -1)
		}
		points = append(points, p)
	}
	return points
}

// TestFront: the front has exactly the points that no other point dominates, by the
// definition; every other priced point is dominated by one of the front.
func TestFront(t *testing.T) {
	t.Parallel()
	dominates := func(a, b *analysis.Point) bool {
		cheaper := a.Price.Cmp(b.Price)
		return a.TimePs <= b.TimePs && cheaper <= 0 && (a.TimePs < b.TimePs || cheaper < 0)
	}
	rapid.Check(t, func(t *rapid.T) {
		points := grid(t)
		front := analysis.Front(points)
		for i := range points {
			p := &points[i]
			beaten, byFront := p.Price == nil, p.Price == nil
			for j := range points {
				if q := &points[j]; p.Price != nil && q.Price != nil && dominates(q, p) {
					beaten = true
					byFront = byFront || slices.Contains(front, q.Number)
				}
			}
			if slices.Contains(front, p.Number) == beaten || beaten != byFront {
				t.Fatalf("the front of %v is %v; point %d is dominated: %v, by the front: %v", points, front, p.Number, beaten, byFront)
			}
		}
		shuffled := rapid.Permutation(points).Draw(t, "order")
		if diff := cmp.Diff(front, analysis.Front(shuffled)); diff != "" {
			t.Fatalf("in another order (-want +got):\n%s", diff)
		}
	})
}

// TestSensitivity: the ratios are those of the definition, computed group by group; they
// depend neither on the order of the points nor on the unit of time.
func TestSensitivity(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		points := grid(t)
		got := analysis.Time(points, 1, 4)
		want := analysis.Sensitivity{Values: make([]analysis.Value, 4)}
		for row := range 3 {
			times := map[int]int64{}
			for _, p := range points {
				if p.At[0] == row {
					times[p.At[1]] = p.TimePs
				}
			}
			if len(times) < 2 {
				continue
			}
			least, most := int64(math.MaxInt64), int64(0)
			for _, v := range times {
				least, most = min(least, v), max(most, v)
			}
			want.Groups++
			want.MeanRatio += float64(most) / float64(least)
			want.MaxRatio = max(want.MaxRatio, float64(most)/float64(least))
			for value, v := range times {
				want.Values[value].Groups++
				want.Values[value].Mean += float64(v) / float64(least)
				if v == least {
					want.Values[value].Best++
				}
			}
		}
		want.MeanRatio /= max(1, float64(want.Groups))
		for i := range want.Values {
			want.Values[i].Mean /= max(1, float64(want.Values[i].Groups))
		}
		nearly := cmpopts.EquateApprox(1e-12, 0)
		if diff := cmp.Diff(want, got, nearly); diff != "" {
			t.Fatalf("%v (-want +got):\n%s", points, diff)
		}
		other := slices.Clone(rapid.Permutation(points).Draw(t, "order"))
		for i := range other {
			other[i].TimePs *= 1_000_000
		}
		if diff := cmp.Diff(got, analysis.Time(other, 1, 4), nearly); diff != "" {
			t.Fatalf("in another order and unit (-want +got):\n%s", diff)
		}
	})
}

// TestSensitivityOfAFactor: an axis that multiplies the time by 1, 2 and 8 has the ratio 8,
// whatever the other axis does, and the other axis has its own.
func TestSensitivityOfAFactor(t *testing.T) {
	t.Parallel()
	var points []analysis.Point
	for i := range 6 {
		points = append(points, analysis.Point{
			Number: i, At: []int{i / 2, i % 2},
			TimePs: []int64{1, 2, 8}[i/2] * []int64{10, 15}[i%2], Price: apd.New(int64(100*(1+i%2)), 0),
		})
	}
	first, second, price := analysis.Time(points, 0, 3), analysis.Time(points, 1, 2), analysis.Price(points, 1, 2)
	want := analysis.Sensitivity{Groups: 2, MeanRatio: 8, MaxRatio: 8, Values: []analysis.Value{{2, 1, 2}, {2, 2, 0}, {2, 8, 0}}}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("the first axis (-want +got):\n%s", diff)
	}
	if second.Groups != 3 || second.MeanRatio != 1.5 || price.MeanRatio != 2 || analysis.Price(points, 0, 3).MaxRatio != 1 {
		t.Errorf("the second axis has %v, and the prices %v", second, price)
	}
	if none := analysis.Time(points[:1], 0, 3); none.Groups != 0 || none.MeanRatio != 0 {
		t.Errorf("one point has %v", none)
	}
}
