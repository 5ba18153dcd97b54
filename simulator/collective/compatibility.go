// Package collective knows the collective operations: which algorithms carry
// them out, what a request may ask for, and which transfers each rank makes.
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

// Compatibility says which algorithms an operation allows. The JSON names are
// those of GET /simple/compatibility.
type Compatibility struct {
	OperationType      string   `json:"operationType"`
	AllowedAlgorithms  []string `json:"allowedAlgorithms"`
	DefaultAlgorithm   string   `json:"defaultAlgorithm"`
	PowerOfTwoRequired []string `json:"powerOfTwoRequired"`
}

// Matrix returns the compatibility of every operation, in the documents' order.
func Matrix() []Compatibility {
	return []Compatibility{
		{AllReduce, []string{Ring, RecursiveHalvingDoubling}, Ring, []string{RecursiveHalvingDoubling}},
		{AllGather, []string{Ring}, Ring, []string{}},
		{ReduceScatter, []string{Ring, Halving}, Ring, []string{Halving}},
		{AllToAll, []string{Sequential, Interleaved}, Interleaved, []string{}},
		{Broadcast, []string{Sequential, Interleaved}, Interleaved, []string{}},
		{Scatter, []string{Direct}, Direct, []string{}},
	}
}

// resolveAlgorithm returns the algorithm that carries out the operation in a
// group of the size: the one asked for, or the default when none is.
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
