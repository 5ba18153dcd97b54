package chakra

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

const maxGroupsBytes = 64 << 20

// Groups are the process groups of a workload: the ranks of each, ascending,
// by the name that nodes have in pg_name.
type Groups map[string][]int

// ReadGroups reads a comm_groups.json: an object with a list of ranks for each
// group. The error's text is safe to show, unless r failed.
func ReadGroups(r io.Reader) (Groups, error) {
	limited := &io.LimitedReader{R: r, N: maxGroupsBytes + 1}
	text, err := io.ReadAll(limited)
	if err != nil {
		return nil, fmt.Errorf("read process groups: %w", err)
	}
	if limited.N == 0 {
		return nil, fmt.Errorf("process groups have more than the %d bytes that are read", maxGroupsBytes)
	}
	var groups Groups
	if err := json.Unmarshal(text, &groups); err != nil || groups == nil {
		return nil, fmt.Errorf("process groups must be an object with a list of ranks for each name")
	}
	for name, ranks := range groups {
		slices.Sort(ranks)
		if len(name) > maxGroupName || len(ranks) == 0 || ranks[0] < 0 {
			return nil, fmt.Errorf("process group %.40q must have ranks, none below 0, and a name of at most %d bytes", name, maxGroupName)
		}
		if len(slices.Compact(slices.Clone(ranks))) != len(ranks) {
			return nil, fmt.Errorf("process group %.40q has a rank twice", name)
		}
	}
	return groups, nil
}
