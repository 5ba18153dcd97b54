// Package plan has the points of studies: which values the axes of a study take at each
// of its points, how a value replaces a field of the base, and what inputs a point
// therefore has. It decides nothing and reads nothing, so that the request that starts a
// study and the worker that runs it get the same inputs: equal plans have equal points,
// in every process and every release.
package plan

import (
	"fmt"
	"math/bits"
	"slices"

	"netsim/simulator/splitmix"
)

// The methods by which the values of axes are combined.
const (
	Grid   = "grid"   // every combination; the last axis varies fastest
	List   = "list"   // the k-th point has the k-th value of every axis
	Sample = "sample" // different combinations, drawn with a seed
)

// The bounds of a study.
const (
	MaxPoints     = 10_000 // with their replicates
	MaxAxes       = 16
	MaxReplicates = 32
	// maxCombinations bounds what a sample is drawn from, so that a number says which.
	maxCombinations = 1 << 53
)

// Axis is a field of the base, and the values that it takes: canonical JSON texts.
type Axis struct {
	Field  string
	Values []string
}

// Plan has the points of a study. The zero Plan has none.
type Plan struct {
	Axes       []Axis
	method     string
	points     int // combinations
	replicates int
	drawn      []uint64 // the combinations of a sample
	first      [][]int  // of a list: by axis and point, the first point with the same value
}

// New returns the plan of a study. samples is the number of points of a sample, and seed
// its seed; other methods ignore them. Every error is the client's, and names the member
// of the request that is wrong.
func New(axes []Axis, method string, samples int64, seed uint64) (*Plan, error) {
	p := &Plan{Axes: axes, method: method, replicates: 1}
	for i, a := range axes {
		if err := p.check(i, a); err != nil {
			return nil, err
		}
	}
	switch method {
	case List:
		p.points = len(axes[0].Values)
		for i, a := range axes {
			if len(a.Values) != p.points {
				return nil, fmt.Errorf("axes[%d].values must have %d values like axes[0].values, because method is list; got %d", i, p.points, len(a.Values))
			}
			p.first = append(p.first, firsts(a.Values))
		}
	case Grid:
		n, ok := p.combinations()
		if !ok || n > MaxPoints {
			return nil, fmt.Errorf("axes have more than %d combinations; shorten an axis, or set method to sample", MaxPoints)
		}
		p.points = int(n)
	case Sample:
		n, ok := p.combinations()
		switch {
		case !ok:
			return nil, fmt.Errorf("axes have more than %d combinations; shorten an axis", uint64(maxCombinations))
		case samples < 1 || uint64(samples) > min(n, MaxPoints):
			return nil, fmt.Errorf("samples must be between 1 and %d, the combinations of the axes up to %d; got %d", min(n, MaxPoints), MaxPoints, samples)
		}
		p.points = int(samples)
		p.drawn = draw(n, p.points, seed)
	default:
		return nil, fmt.Errorf("method must be %s, %s or %s, got %q", Grid, List, Sample, method)
	}
	return p, nil
}

func (p *Plan) check(i int, a Axis) error {
	if _, err := parse(a.Field); err != nil {
		return fmt.Errorf("axes[%d].field %w", i, err)
	}
	if j := slices.IndexFunc(p.Axes, func(o Axis) bool { return o.Field == a.Field }); j < i {
		return fmt.Errorf("axes[%d].field must differ from that of axes[%d], got %q", i, j, a.Field)
	}
	if p.method == List {
		return nil
	}
	seen := map[string]int{}
	for k, v := range a.Values {
		if first, twice := seen[v]; twice {
			return fmt.Errorf("axes[%d].values[%d] must differ from values[%d], got %s", i, k, first, v)
		}
		seen[v] = k
	}
	return nil
}

// combinations returns the number of combinations of all values, false if it exceeds
// maxCombinations.
func (p *Plan) combinations() (uint64, bool) {
	n := uint64(1)
	for _, a := range p.Axes {
		high, low := bits.Mul64(n, uint64(len(a.Values)))
		if high > 0 || low > maxCombinations {
			return 0, false
		}
		n = low
	}
	return n, true
}

// draw returns different numbers below n, in the order in which they are drawn. It takes
// some n·log n draws if all numbers are asked for; count bounds n then.
func draw(n uint64, count int, seed uint64) []uint64 {
	drawn := make([]uint64, 0, count)
	seen := make(map[uint64]bool, count)
	for state := seed; len(drawn) < count; {
		if k, _ := bits.Mul64(splitmix.Next(&state), n); !seen[k] {
			seen[k] = true
			drawn = append(drawn, k)
		}
	}
	return drawn
}

// At returns for each axis the index of its value at a point. Equal values have the index of
// the first one.
func (p *Plan) At(point int) []int {
	point /= p.replicates
	at := make([]int, len(p.Axes))
	if p.method == List {
		for i := range at {
			at[i] = p.first[i][point]
		}
		return at
	}
	number := uint64(point)
	if p.method == Sample {
		number = p.drawn[point]
	}
	for i := len(at) - 1; i >= 0; i-- {
		n := uint64(len(p.Axes[i].Values))
		at[i] = int(number % n)
		number /= n
	}
	return at
}

// firsts returns for each value the index of the first one that equals it.
func firsts(values []string) []int {
	at, seen := make([]int, len(values)), map[string]int{}
	for i, v := range values {
		if _, twice := seen[v]; !twice {
			seen[v] = i
		}
		at[i] = seen[v]
	}
	return at
}

// Values returns the value of each axis at a point.
func (p *Plan) Values(point int) []string {
	values := make([]string, len(p.Axes))
	for i, k := range p.At(point) {
		values[i] = p.Axes[i].Values[k]
	}
	return values
}
