// Package collective lists the collective operations and their algorithms, checks the
// workload of a request, and computes the transfers of each rank.
//
// It is pure. Sources: completions.md sections 4.1 (request rules and their
// messages) and 4.4 (compatibility matrix, transfers).
package collective

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// The operations.
const (
	AllReduce     = "allReduce"
	AllGather     = "allGather"
	ReduceScatter = "reduceScatter"
	AllToAll      = "allToAll"
	Broadcast     = "broadcast"
	Scatter       = "scatter"
)

// The algorithms.
const (
	Ring                     = "ring"
	RecursiveHalvingDoubling = "recursiveHalvingDoubling"
	Halving                  = "halving"
	Sequential               = "sequential"
	Interleaved              = "interleaved"
	Direct                   = "direct"
)

// operation holds the facts about one operation. A new operation needs a constant
// above and a row in operations.
type operation struct {
	name       string
	algorithms []string // allowed
	standard   string   // the algorithm if the request names none
	rounds     int      // passes over the group: two for allReduce, which scatters and gathers
	whole      bool     // a transfer carries the whole DataSize, not a chunk of it
	rooted     bool     // only rank 0 sends
}

// operations returns the operations in the order of completions.md 4.4.
func operations() []operation {
	return []operation{
		{name: AllReduce, algorithms: []string{Ring, RecursiveHalvingDoubling}, standard: Ring, rounds: 2},
		{name: AllGather, algorithms: []string{Ring}, standard: Ring, rounds: 1, whole: true},
		{name: ReduceScatter, algorithms: []string{Ring, Halving}, standard: Ring, rounds: 1},
		{name: AllToAll, algorithms: []string{Sequential, Interleaved}, standard: Interleaved, rounds: 1},
		{name: Broadcast, algorithms: []string{Sequential, Interleaved}, standard: Interleaved, rounds: 1, whole: true, rooted: true},
		{name: Scatter, algorithms: []string{Direct}, standard: Direct, rounds: 1, rooted: true},
	}
}

// Algorithm holds the facts about one algorithm. A new algorithm needs a constant
// above and a row in algorithms.
type Algorithm struct {
	Name       string // in requests and results
	Parameter  string // in the parameters of an application
	PowerOfTwo bool   // the group size must be a power of two
	order      Order
}

func algorithms() []Algorithm {
	return []Algorithm{
		{Name: Ring, Parameter: "ring", order: Chain},
		{Name: RecursiveHalvingDoubling, Parameter: "halving-doubling", PowerOfTwo: true, order: Exchange},
		{Name: Halving, Parameter: "halving", PowerOfTwo: true, order: Exchange},
		{Name: Sequential, Parameter: "sequential", order: Turn},
		{Name: Interleaved, Parameter: "interleaved", order: Burst},
		{Name: Direct, Parameter: "direct", order: Burst},
	}
}

// AlgorithmNamed returns the algorithm with the name, or the zero value if the
// name is unknown.
func AlgorithmNamed(name string) Algorithm {
	return find(algorithms(), func(a *Algorithm) bool { return a.Name == name })
}

// AlgorithmOfParameter returns the algorithm that a parameter's value names, or
// the zero value if the value is unknown.
func AlgorithmOfParameter(value string) Algorithm {
	return find(algorithms(), func(a *Algorithm) bool { return a.Parameter == value })
}

// PerRank reports whether an operation's data size is what each rank
// contributes, not the total.
func PerRank(name string) bool {
	o := operationNamed(name)
	return o.perRank()
}

func operationNamed(name string) operation {
	return find(operations(), func(o *operation) bool { return o.name == name })
}

func (o *operation) perRank() bool { return o.whole && !o.rooted }

func find[T any](list []T, is func(*T) bool) (found T) {
	for i := range list {
		if is(&list[i]) {
			return list[i]
		}
	}
	return found
}

// Compatibility says which algorithms an operation allows. The JSON names are
// those of GET /simple/compatibility.
type Compatibility struct {
	OperationType      string   `json:"operationType"`
	AllowedAlgorithms  []string `json:"allowedAlgorithms"`
	DefaultAlgorithm   string   `json:"defaultAlgorithm"`
	PowerOfTwoRequired []string `json:"powerOfTwoRequired"`
}

// Matrix returns the compatibility of every operation, in the order of completions.md 4.4.
func Matrix() []Compatibility {
	var matrix []Compatibility
	for _, o := range operations() {
		powers := slices.DeleteFunc(slices.Clone(o.algorithms), func(name string) bool { return !AlgorithmNamed(name).PowerOfTwo })
		matrix = append(matrix, Compatibility{o.name, o.algorithms, o.standard, powers})
	}
	return matrix
}

// resolveAlgorithm returns the algorithm of an operation in a group of this size: the
// requested one, or the default for "".
func resolveAlgorithm(operation, algorithm string, groupSize int) (string, error) {
	matrix := Matrix()
	i := slices.IndexFunc(matrix, func(c Compatibility) bool { return c.OperationType == operation })
	if i < 0 {
		known := make([]string, len(matrix))
		for i, c := range matrix {
			known[i] = c.OperationType
		}
		return "", fmt.Errorf("operationType '%s' is unknown; known operations: %s", operation, strings.Join(known, ", "))
	}
	c := matrix[i]
	if algorithm == "" {
		algorithm = c.DefaultAlgorithm
	}
	if !slices.Contains(c.AllowedAlgorithms, algorithm) {
		return "", fmt.Errorf("algorithm '%s' is not compatible with operation '%s'; allowed algorithms: %s",
			algorithm, operation, strings.Join(c.AllowedAlgorithms, ", "))
	}
	if slices.Contains(c.PowerOfTwoRequired, algorithm) && bits.OnesCount(uint(groupSize)) != 1 {
		return "", fmt.Errorf("algorithm '%s' requires a power-of-two group size, got %d", algorithm, groupSize)
	}
	return algorithm, nil
}
