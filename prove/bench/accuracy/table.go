package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"text/tabwriter"
)

// section is a group of rows with a common bound.
type section struct {
	Name  string
	Unit  string // unit of the times
	Rows  []row
	Left  map[string]int // rows not compared, by reason
	Exact bool           // the times must be equal
	// Listed sections are too long for the document, which has their results only.
	Listed bool
	// Median bounds the median error unless it is 0, and Worst bounds the error of
	// every row. Both are fractions.
	Median, Worst float64
	// Longest bounds longest unless it is 0.
	Longest float64
	// longest is the engine's longest time as a multiple of the longest of the reference's
	// seeds, in the row in which it is greatest: a spread that is too wide has every time inside.
	longest float64
	// Near is above 0 in a section of spreads. A row is outside if its error is above
	// Near. As many rows may be outside as chance explains.
	Near float64
}

// row is one case: the engine's time beside the reference's. If the reference's seed
// is unknown, the engine's time is a spread from Least to Most.
type row struct {
	Case        string
	Least, Most float64
	Theirs      float64
	Of          *setting // of rows that a client's configuration can repeat, else nil
}

// off returns the engine's error as a fraction of the reference's time. The error is
// measured from the nearest end of the spread, and is 0 inside the spread.
func (r *row) off() float64 {
	return max(r.Least, min(r.Theirs, r.Most))/r.Theirs - 1
}

func (s *section) leave(reason string) {
	if s.Left == nil {
		s.Left = map[string]int{}
	}
	s.Left[reason]++
}

// errors returns the absolute errors in ascending order.
func (s *section) errors() []float64 {
	var list []float64
	for i := range s.Rows {
		list = append(list, math.Abs(s.Rows[i].off()))
	}
	slices.Sort(list)
	return list
}

func (s *section) median() float64 {
	list := s.errors()
	if len(list) == 0 {
		return 0
	}
	return (list[(len(list)-1)/2] + list[len(list)/2]) / 2
}

func (s *section) worst() float64 {
	if len(s.Rows) == 0 {
		return 0
	}
	return slices.Max(s.errors())
}

// outside counts the rows whose absolute error is above the limit.
func (s *section) outside(limit float64) int {
	n := 0
	for _, e := range s.errors() {
		if e > limit {
			n++
		}
	}
	return n
}

// chance returns how many rows may be outside their spreads if the engine's times and
// the reference's times have the same distribution. One more time is then below or
// above all times of a spread with the probability 2/(seeds+1). In 99 of 100 tables,
// at most the returned number of rows are outside. Rows whose spread is a single time
// do not count.
func (s *section) chance() int {
	n := 0
	for i := range s.Rows {
		if s.Rows[i].Least != s.Rows[i].Most {
			n++
		}
	}
	const p = 2.0 / (seeds + 1)
	exactly := math.Pow(1-p, float64(n)) // the probability that exactly k rows are outside
	sum := exactly
	k := 0
	for ; k < n && sum < 0.99; k++ {
		exactly *= p / (1 - p) * float64(n-k) / float64(k+1)
		sum += exactly
	}
	return k
}

// bound describes the section's bound.
func (s *section) bound() string {
	if s.Longest > 0 {
		return s.boundOfErrors() + fmt.Sprintf("; no spread ends above %g times the reference's", s.Longest)
	}
	return s.boundOfErrors()
}

func (s *section) boundOfErrors() string {
	switch {
	case s.Exact:
		return "exact"
	case s.Near > 0 && s.Worst <= s.Near:
		return fmt.Sprintf("in the spread of %d seeds, give or take %s", seeds, percent(s.Near))
	case s.Near > 0:
		return fmt.Sprintf("in the spread of %d seeds, give or take %s, but for %d that chance explains; none above %s",
			seeds, percent(s.Near), s.chance(), percent(s.Worst))
	case s.Median > 0:
		return fmt.Sprintf("median %s, none above %s", percent(s.Median), percent(s.Worst))
	default:
		return "none above " + percent(s.Worst)
	}
}

// beyond describes how the section exceeds its bound. It returns "" if it does not.
func (s *section) beyond() string {
	switch {
	case len(s.Rows) == 0:
		return "nothing was compared"
	case s.Exact && s.worst() > 0:
		return fmt.Sprintf("%d rows differ", s.outside(0))
	case !s.Exact && s.worst() > s.Worst:
		return fmt.Sprintf("%d rows are above %s", s.outside(s.Worst), percent(s.Worst))
	case s.Median > 0 && s.median() > s.Median:
		return "the median is above " + percent(s.Median)
	case s.Near > 0 && s.outside(s.Near) > s.chance():
		return fmt.Sprintf("%d rows are outside their spreads", s.outside(s.Near))
	case s.Longest > 0 && s.longest > s.Longest:
		return fmt.Sprintf("a spread ends at %.2f times that of the reference", s.longest)
	default:
		return ""
	}
}

// result describes the errors of the section.
func (s *section) result() string {
	switch {
	case s.Exact && s.worst() == 0:
		return "all the same"
	case s.Near > 0:
		return fmt.Sprintf("%d inside, %d within %s of the spread, %d outside, worst %s", len(s.Rows)-s.outside(0),
			s.outside(0)-s.outside(s.Near), percent(s.Near), s.outside(s.Near), percent(s.worst()))
	default:
		return fmt.Sprintf("median %s, worst %s", percent(s.median()), percent(s.worst()))
	}
}

func percent(fraction float64) string {
	return strconv.FormatFloat(math.Round(1e4*fraction)/100, 'f', -1, 64) + " %"
}

func printTable(out io.Writer, sections []section) error {
	for i := range sections {
		s := &sections[i]
		fmt.Fprintf(out, "%s, in %s\n\n", s.Name, s.Unit)
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, "case\tnetsim\treference\terror\t")
		for i := range s.Rows {
			r := &s.Rows[i]
			ours := s.number(r.Least)
			if s.Near > 0 {
				ours += " to " + s.number(r.Most)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%+.2f %%\t\n", r.Case, ours, s.number(r.Theirs), 100*r.off())
		}
		if err := w.Flush(); err != nil {
			return err
		}
		fmt.Fprintln(out)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "compared with\trows\tbound\tresult\t")
	for i := range sections {
		s := &sections[i]
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\n", s.Name, len(s.Rows), s.bound(), s.result(), s.beyond())
		for _, reason := range slices.Sorted(maps.Keys(s.Left)) {
			fmt.Fprintf(w, "  not compared: %s\t%d\t\t\t\n", reason, s.Left[reason])
		}
	}
	return w.Flush()
}

func (s *section) number(v float64) string {
	if s.Unit == "ns" {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}
