package collective

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Bounds of a request, completions.md 4.1.
const (
	MaxRanks    = 65536
	MaxPhases   = 1000
	MaxDataSize = 1 << 40 // bytes
)

// Phase is one collective operation of a group. DataSize is in bytes: for
// allGather what each rank contributes, for every other operation the total.
type Phase struct {
	OperationType string `json:"operationType"`
	Algorithm     string `json:"algorithm,omitempty"`
	DataSize      int64  `json:"dataSize"`
}

// Workload is the sequential form of a request: every rank runs every phase.
type Workload struct {
	Ranks  int     `json:"ranks"`
	Phases []Phase `json:"phases"`
}

// GroupSpec asks for Count groups of GroupSize ranks each. Groups run
// concurrently; their ranks are consecutive, in the order of the specs.
type GroupSpec struct {
	Count     int     `json:"count"`
	GroupSize int     `json:"groupSize"`
	Phases    []Phase `json:"phases"`
}

// RankSet lists the rank counts that a request without topology constraints
// may ask for.
func RankSet() []int { return []int{8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096} }

// CheckRankSet refuses a rank count outside RankSet. It applies to requests
// without topologyConstraints.
func CheckRankSet(ranks int) error {
	if slices.Contains(RankSet(), ranks) {
		return nil
	}
	set := strings.ReplaceAll(strings.Trim(fmt.Sprint(RankSet()), "[]"), " ", ", ")
	return fmt.Errorf("ranks must be one of [%s], got %d", set, ranks)
}

// Resolve checks the workload or groups of a request and returns groups with every
// algorithm filled in. A workload becomes one group. constrained says whether the
// request has topologyConstraints; without them the rank count must be in RankSet.
//
// Every error is the client's; its text is the 400 message of completions.md
// 4.1.
func Resolve(workload *Workload, groups []GroupSpec, constrained bool) ([]GroupSpec, error) {
	if (workload == nil) == (len(groups) == 0) {
		return nil, errors.New("exactly one of workload and groups is required")
	}
	resolved, err := resolveGroups(workload, groups, constrained)
	if err != nil {
		return nil, err
	}
	total := Ranks(resolved)
	if !constrained {
		return resolved, CheckRankSet(total)
	}
	if total > MaxRanks {
		return nil, between("ranks", 1, MaxRanks, int64(total))
	}
	return resolved, nil
}

// Ranks returns the total number of ranks of the groups.
func Ranks(groups []GroupSpec) int {
	total := 0
	for _, g := range groups {
		total += g.Count * g.GroupSize
	}
	return total
}

// Transfers returns the number of transfers of all phases of the groups, which must be
// resolved.
func Transfers(groups []GroupSpec) int64 {
	total := int64(0)
	for _, g := range groups {
		for _, phase := range g.Phases {
			plan := NewPlan(phase, g.GroupSize)
			total += int64(g.Count) * plan.Transfers()
		}
	}
	return total
}

func resolveGroups(workload *Workload, groups []GroupSpec, constrained bool) ([]GroupSpec, error) {
	if workload != nil {
		// Without constraints, the error names RankSet instead of these bounds.
		if constrained && (workload.Ranks < 1 || workload.Ranks > MaxRanks) {
			return nil, between("workload.ranks", 1, MaxRanks, int64(workload.Ranks))
		}
		if !constrained {
			if err := CheckRankSet(workload.Ranks); err != nil {
				return nil, err
			}
		}
		phases, err := resolvePhases("workload", workload.Phases, workload.Ranks)
		return []GroupSpec{{Count: 1, GroupSize: workload.Ranks, Phases: phases}}, err
	}
	resolved := make([]GroupSpec, len(groups))
	for i, g := range groups {
		path := fmt.Sprintf("groups[%d]", i)
		if g.Count < 1 || g.Count > MaxRanks {
			return nil, between(path+".count", 1, MaxRanks, int64(g.Count))
		}
		if g.GroupSize < 1 || g.GroupSize > MaxRanks {
			return nil, between(path+".groupSize", 1, MaxRanks, int64(g.GroupSize))
		}
		phases, err := resolvePhases(path, g.Phases, g.GroupSize)
		if err != nil {
			return nil, err
		}
		resolved[i] = GroupSpec{Count: g.Count, GroupSize: g.GroupSize, Phases: phases}
	}
	return resolved, nil
}

func resolvePhases(path string, phases []Phase, groupSize int) ([]Phase, error) {
	if len(phases) < 1 || len(phases) > MaxPhases {
		return nil, between(path+".phases length", 1, MaxPhases, int64(len(phases)))
	}
	resolved := slices.Clone(phases)
	for i := range resolved {
		p := &resolved[i]
		if p.DataSize < 1 || p.DataSize > MaxDataSize {
			return nil, between(fmt.Sprintf("%s.phases[%d].dataSize", path, i), 1, MaxDataSize, p.DataSize)
		}
		algorithm, err := resolveAlgorithm(p.OperationType, p.Algorithm, groupSize)
		if err != nil {
			return nil, err
		}
		p.Algorithm = algorithm
	}
	return resolved, nil
}

func between(path string, lo, hi, got int64) error {
	return fmt.Errorf("%s must be between %d and %d, got %d", path, lo, hi, got)
}
