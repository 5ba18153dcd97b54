// Package analysis reads the results of a study as a whole: which points are not dominated
// in time and price, how much each axis changes the time and the price when the others are
// equal, and what the fabric of a point costs. It is pure, and its results do not depend on
// the order of the points.
package analysis

import (
	"cmp"
	"slices"

	"github.com/cockroachdb/apd/v3"
)

// Point is a completed point of a study.
type Point struct {
	Number int
	At     []int        // for each axis the index of its value
	TimePs int64        // positive
	Price  *apd.Decimal // of the fabric; nil if it is not known
}

// Front returns the numbers of the points that are not dominated, by ascending time and then
// number. A point is dominated if another is not slower and not dearer, and is faster
// or cheaper. Points without a price are not compared.
func Front(points []Point) []int {
	priced := slices.DeleteFunc(slices.Clone(points), func(p Point) bool { return p.Price == nil })
	slices.SortFunc(priced, func(a, b Point) int {
		return cmp.Or(cmp.Compare(a.TimePs, b.TimePs), a.Price.Cmp(b.Price), cmp.Compare(a.Number, b.Number))
	})
	front := []int{}
	var last *Point // of the front
	for i := range priced {
		p := &priced[i]
		if last == nil || p.Price.Cmp(last.Price) < 0 || p.TimePs == last.TimePs && p.Price.Cmp(last.Price) == 0 {
			front, last = append(front, p.Number), p
		}
	}
	return front
}

// Sensitivity says how much an objective changes along an axis. It compares points that differ
// only in this axis: they are a group.
type Sensitivity struct {
	Groups    int     // of at least two points
	MeanRatio float64 // the largest objective of a group over its smallest, at least 1; 0 without groups
	MaxRatio  float64
	Values    []Value // by the index of the axis' value
}

// Value is a value of an axis in the groups that have it.
type Value struct {
	Groups int     // that have it
	Mean   float64 // its objective over the smallest of its group; 0 without groups
	Best   int     // groups in which it has the smallest objective
}

// Time returns the sensitivity of the time to an axis with that many values.
func Time(points []Point, axis, values int) Sensitivity {
	return sensitivity(points, axis, values, func(p *Point) float64 { return float64(p.TimePs) })
}

// Price returns the sensitivity of the price. Points without a price do not count.
func Price(points []Point, axis, values int) Sensitivity {
	return sensitivity(points, axis, values, func(p *Point) float64 {
		if p.Price == nil {
			return 0
		}
		price, _ := p.Price.Float64() // only ratios are shown
		return price
	})
}

// sensitivity ignores points whose objective is not positive.
func sensitivity(points []Point, axis, values int, objective func(*Point) float64) Sensitivity {
	s := Sensitivity{Values: make([]Value, values)}
	ordered := make([]*Point, 0, len(points))
	for i := range points {
		if objective(&points[i]) > 0 {
			ordered = append(ordered, &points[i])
		}
	}
	slices.SortFunc(ordered, func(a, b *Point) int {
		return cmp.Or(others(a, b, axis), cmp.Compare(a.At[axis], b.At[axis]), cmp.Compare(a.Number, b.Number))
	})
	for len(ordered) > 0 {
		n := 1
		for n < len(ordered) && others(ordered[0], ordered[n], axis) == 0 {
			n++
		}
		s.add(ordered[:n], axis, objective)
		ordered = ordered[n:]
	}
	if s.Groups > 0 {
		s.MeanRatio /= float64(s.Groups)
	}
	for i := range s.Values {
		if v := &s.Values[i]; v.Groups > 0 {
			v.Mean /= float64(v.Groups)
		}
	}
	return s
}

// add adds a group. A list may have a combination twice; the first point of it counts.
func (s *Sensitivity) add(group []*Point, axis int, objective func(*Point) float64) {
	group = slices.CompactFunc(slices.Clone(group), func(a, b *Point) bool { return a.At[axis] == b.At[axis] })
	if len(group) < 2 {
		return
	}
	least, most := objective(group[0]), objective(group[0])
	for _, p := range group {
		least, most = min(least, objective(p)), max(most, objective(p))
	}
	s.Groups++
	s.MeanRatio += most / least
	s.MaxRatio = max(s.MaxRatio, most/least)
	for _, p := range group {
		v := &s.Values[p.At[axis]]
		v.Groups++
		v.Mean += objective(p) / least
		if objective(p) == least {
			v.Best++
		}
	}
}

// others compares the values of the axes but one.
func others(a, b *Point, axis int) int {
	for i := range a.At {
		if i != axis && a.At[i] != b.At[i] {
			return cmp.Compare(a.At[i], b.At[i])
		}
	}
	return 0
}
