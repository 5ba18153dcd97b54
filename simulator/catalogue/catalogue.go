// Package catalogue lists the models that configurations are made of, each
// with exactly the parameters that the engine reads.
//
// It is pure. Sources: completions.md sections 2.4 (catalogue) and 3.3 (global
// parameters).
package catalogue

import (
	"slices"
	"strings"

	"netsim/simulator/design"
)

// Entry is one model.
type Entry struct {
	Model       string // reference, such as clos-switch-v1
	Type        string // switch, nic, gpu, server, rack, pod, layer, application
	TrafficType string // of an application
	Versions    []string
	Parameters  []Parameter
}

// Parameter is one leaf of a model's parameters.
type Parameter struct {
	Path     string // steps separated by dots
	Default  design.Leaf
	Enum     []string // of a string; nil for any
	Min, Max *design.Leaf
	ReadOnly bool
}

// Find returns the entry of a model reference.
func Find(model string) (Entry, bool) {
	entries := Entries()
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.Model == model })
	if i < 0 {
		return Entry{}, false
	}
	return entries[i], true
}

// Latest is the newest version of the model.
func (e Entry) Latest() string { return e.Versions[len(e.Versions)-1] }

// Fill adds the parameters that are missing, with their defaults.
func Fill(p design.Params, parameters []Parameter) {
	for _, parameter := range parameters {
		put(p, parameter.Path, parameter.Default)
	}
}

// put sets a leaf unless something is in its way.
func put(p design.Params, path string, leaf design.Leaf) {
	step, rest, deeper := strings.Cut(path, ".")
	node, there := p[step]
	switch {
	case !deeper && !there:
		p[step] = design.Param{Leaf: &leaf}
	case deeper && !there:
		branch := design.Params{}
		put(branch, rest, leaf)
		p[step] = design.Param{Branch: branch}
	case deeper && node.Leaf == nil && node.Branch != nil:
		put(node.Branch, rest, leaf)
	}
}

// SetRankCount tells a chakra application the number of ranks of its traceset.
func SetRankCount(p design.Params, ranks int64) {
	chakra := p["ChakraConfiguration"].Branch
	if chakra == nil {
		chakra = design.Params{}
		p["ChakraConfiguration"] = design.Param{Branch: chakra}
	}
	leaf := number("uint", float64(ranks), "")
	chakra["NumOfChakraFiles"] = design.Param{Leaf: &leaf}
}
