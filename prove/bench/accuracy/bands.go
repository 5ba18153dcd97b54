package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"netsim/prove/bench/reference"
	"netsim/simulator/accuracy"
	"netsim/simulator/engine"
)

// setting is what a row modelled, for rows that a client's configuration can repeat.
type setting struct {
	reference.Network
	operation, algorithm string // "" for messages outside of collectives
	bytes                int64
}

// settingOf returns the setting of a case, which has one phase or messages of one size.
func settingOf(c *reference.Case) *setting {
	s := &setting{Network: c.Network}
	if c.Messages != nil {
		s.bytes = c.Messages[0].Bytes
		return s
	}
	p := c.Groups[0].Phases[0]
	s.operation, s.algorithm, s.bytes = p.OperationType, p.Algorithm, p.DataSize
	return s
}

// kind returns the kind of the network.
func (s *setting) kind() string {
	switch {
	case s.Spines == 0:
		return accuracy.OneSwitch
	case s.Spray:
		return accuracy.Sprayed
	case !s.Trimming:
		return accuracy.Lossless
	default:
		return accuracy.Hashed
	}
}

func (s *setting) ranges() accuracy.Ranges {
	r := accuracy.Ranges{
		Ranks: accuracy.At(int64(s.Racks * s.Hosts)), Bytes: accuracy.At(s.bytes),
		Rate: accuracy.At(s.Rate), Delay: accuracy.At(s.Delay), MSS: accuracy.At(s.MSS), Header: accuracy.At(s.Header),
	}
	if s.Spines > 0 {
		r.Hosts, r.Over = accuracy.At(int64(s.Hosts)), accuracy.At(int64(100*s.Hosts/s.Spines))
	}
	return r
}

// bandsOf returns the bands of all rows that have a setting. The error of a row is that of
// its least and of its greatest time: a run has one seed, and may have either.
func bandsOf(sections []section) *accuracy.Table {
	t := &accuracy.Table{Engine: engine.Version}
	for i := range sections {
		for j := range sections[i].Rows {
			r := &sections[i].Rows[j]
			if r.Of == nil {
				continue
			}
			bandOf(t, r.Of).add(sections[i].Name, r)
		}
	}
	slices.SortStableFunc(t.Bands, func(a, b accuracy.Band) int {
		return slices.Compare([]string{a.Network, a.Operation, a.Algorithm}, []string{b.Network, b.Operation, b.Algorithm})
	})
	return t
}

type band struct{ *accuracy.Band }

func bandOf(t *accuracy.Table, s *setting) band {
	at := slices.IndexFunc(t.Bands, func(b accuracy.Band) bool {
		return b.Network == s.kind() && b.Operation == s.operation && b.Algorithm == s.algorithm
	})
	if at < 0 {
		at = len(t.Bands)
		t.Bands = append(t.Bands, accuracy.Band{Network: s.kind(), Operation: s.operation, Algorithm: s.algorithm})
	}
	return band{&t.Bands[at]}
}

func (b band) add(reference string, r *row) {
	lowest, highest := outward(r.Least/r.Theirs-1, math.Floor), outward(r.Most/r.Theirs-1, math.Ceil)
	ranges := r.Of.ranges()
	if b.Rows > 0 {
		lowest, highest, ranges = min(lowest, b.Lowest), max(highest, b.Highest), b.Join(&ranges)
	}
	b.Lowest, b.Highest, b.Ranges = lowest, highest, ranges
	b.Rows++
	if !slices.Contains(b.References, reference) {
		b.References = append(b.References, reference)
	}
}

// outward returns a fraction in percent with two decimals, rounded by the function after
// the noise of floating point is gone.
func outward(fraction float64, round func(float64) float64) float64 {
	return round(math.Round(fraction*1e10)/1e6)/100 + 0 // + 0: no negative zero
}

// writeBands writes the table of bands as JSON.
func writeBands(name string, sections []section) error {
	text, err := bandsJSON(sections)
	if err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o644)
}

func bandsJSON(sections []section) ([]byte, error) {
	text, err := json.MarshalIndent(bandsOf(sections), "", "  ")
	return append(text, '\n'), err
}

// printBands writes the bands as Markdown.
func printBands(out io.Writer, t *accuracy.Table) {
	fmt.Fprint(out, "\n| network | operation, algorithm | rows | band | ranks | data size | of |\n|---|---|---|---|---|---|---|\n")
	for i := range t.Bands {
		b := &t.Bands[i]
		name := "messages"
		if b.Operation != "" {
			name = b.Operation + " " + b.Algorithm
		}
		fmt.Fprintf(out, "| %s | %s | %d | %+.2f to %+.2f %% | %d to %d | %d B to %d B | %s |\n",
			b.Network, name, b.Rows, b.Lowest, b.Highest, b.Ranks.Least, b.Ranks.Most, b.Bytes.Least, b.Bytes.Most, strings.Join(b.References, "; "))
	}
}
