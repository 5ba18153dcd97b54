package traces

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"netsim/simulator/chakra"
)

// Summary is the recorded totals of all ranks of a traceset.
type Summary struct {
	Nodes         int64     `json:"nodes"`
	ComputeMicros int64     `json:"computeMicros"`
	Sends         Traffic   `json:"sends"`
	Receives      Traffic   `json:"receives"`
	Collectives   []Traffic `json:"collectives,omitempty"` // by kind, counted at each rank
	Groups        int64     `json:"groups"`                // process groups in use, including that of all ranks
	// GroupSizes are the sizes of the groups that all-reduce or reduce-scatter,
	// ascending. Halving algorithms work only for some sizes.
	GroupSizes []int64 `json:"groupSizes,omitempty"`
}

// Traffic counts communications.
type Traffic struct {
	Kind  string `json:"kind,omitempty"` // of a collective, as the schema names it
	Count int64  `json:"count"`
	Bytes int64  `json:"bytes"` // at most 2^63-1
}

func (t *Traffic) add(more chakra.Traffic) {
	t.Count += more.Count
	t.Bytes = plus(t.Bytes, more.Bytes)
}

// plus returns the sum, at most the largest int64.
func plus(a int64, b uint64) int64 {
	if b > uint64(math.MaxInt64-a) { //nolint:gosec // a is not negative
		return math.MaxInt64
	}
	return a + int64(b) //nolint:gosec // b is within the range
}

// ReadSummary parses a recorded summary. It is the zero Summary for "".
func ReadSummary(text string) (Summary, error) {
	var s Summary
	if text == "" {
		return s, nil
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return s, fmt.Errorf("read the summary of a traceset: %w", err)
	}
	return s, nil
}

// summarize returns the summary of a workload as JSON.
func summarize(all []chakra.Trace, groups chakra.Groups) (string, error) {
	var s Summary
	kinds := map[chakra.Collective]*Traffic{}
	users := map[string]int{}     // ranks with collectives, by their group
	reducing := map[string]bool{} // groups
	for i := range all {
		t := &all[i]
		s.Nodes += t.Nodes
		s.ComputeMicros = plus(s.ComputeMicros, t.Compute)
		s.Sends.add(t.Sends)
		s.Receives.add(t.Receives)
		last := "\x00" // not the name of a group; the collectives of a group come together
		for _, c := range t.Collectives {
			if kinds[c.Kind] == nil {
				kinds[c.Kind] = &Traffic{Kind: c.Kind.String()}
			}
			kinds[c.Kind].add(c.Traffic)
			if c.Kind == chakra.AllReduce || c.Kind == chakra.ReduceScatter {
				reducing[c.Group] = true
			}
			if c.Group != last {
				users[c.Group]++
				last = c.Group
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		s.Collectives = append(s.Collectives, *kinds[kind])
	}
	s.Groups = int64(len(users))
	sizes := map[int64]bool{}
	for group := range reducing {
		size := users[group]
		if group == "" {
			size = len(all)
		} else if members, defined := groups[group]; defined {
			size = len(members)
		}
		sizes[int64(size)] = true
	}
	s.GroupSizes = slices.Sorted(maps.Keys(sizes))
	text, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("encode the summary of a traceset: %w", err)
	}
	return string(text), nil
}
