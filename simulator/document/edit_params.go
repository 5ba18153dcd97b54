package document

import (
	"iter"
	"slices"
)

// The kinds of objects that have parameters.
const (
	OfApplication  = "application"
	OfComponent    = "component"
	OfLink         = "link"
	OfGlobal       = "global"
	OfDistribution = "distribution"
)

// Parameters returns the tree of parameters of an object, and whether there is such an
// object. For OfGlobal, target is ignored.
func (d *Document) Parameters(kind, target string) (Params, bool) {
	switch kind {
	case OfGlobal:
		return d.GlobalParameters, true
	case OfApplication:
		if i := slices.IndexFunc(d.Applications, func(a Application) bool { return a.Name == target }); i >= 0 {
			return d.Applications[i].TypedParameters, true
		}
	case OfComponent:
		return parametersOf(d.Components, target)
	case OfLink:
		return parametersOf(d.Links, target)
	}
	return nil, false
}

func parametersOf(list []Component, name string) (Params, bool) {
	if i := slices.IndexFunc(list, func(c Component) bool { return c.Name == name }); i >= 0 {
		return list[i].TypedParameters, true
	}
	return nil, false
}

// Overlay sets the leaves of the patch in the tree. It adds a missing leaf to an existing
// branch, since optional parameters may be absent. It ignores a node that is a branch in
// one tree and a leaf in the other.
func (p Params) Overlay(patch Params) {
	for name, by := range patch {
		node, there := p[name]
		switch {
		case by.Leaf != nil:
			if node.Leaf != nil || !there {
				leaf := *by.Leaf
				p[name] = Param{Leaf: &leaf}
			}
		case node.Branch != nil:
			node.Branch.Overlay(by.Branch)
		}
	}
}

// Changes returns the leaves in which two trees of the same form differ, with the
// values of the second. The result is empty if the trees are equal.
func Changes(from, to Params) Params {
	changed := Params{}
	for name, node := range to {
		was := from[name]
		switch {
		case node.Leaf != nil:
			if was.Leaf == nil || *was.Leaf != *node.Leaf {
				changed[name] = node
			}
		default:
			if deeper := Changes(was.Branch, node.Branch); len(deeper) > 0 {
				changed[name] = Param{Branch: deeper}
			}
		}
	}
	return changed
}

// The parameters of chakra applications that the service sets.
const (
	pathRankCount   = InChakra + "NumOfChakraFiles"
	pathUseMapping  = InChakra + "UseMapping"
	pathMappingFile = InChakra + "MappingFileName"
)

const pathSeed = "SimulationParameters.RandomSeed"

// chakras returns the parameters of the applications that replay traces.
func (d *Document) chakras() iter.Seq[Params] {
	return func(yield func(Params) bool) {
		for i := range d.Applications {
			a := &d.Applications[i]
			if a.TrafficType != TrafficChakra {
				continue
			}
			if a.TypedParameters == nil {
				a.TypedParameters = Params{}
			}
			if !yield(a.TypedParameters) {
				return
			}
		}
	}
}

// SetRankCount sets the number of ranks in the chakra applications: that of the traceset,
// or 0 without one.
func (d *Document) SetRankCount(ranks int64) {
	for p := range d.chakras() {
		p.SetRankCount(ranks)
	}
}

// SetRankCount sets the number of ranks in the parameters of a chakra application.
func (p Params) SetRankCount(ranks int64) { p.set(pathRankCount, uintOf(int(ranks))) }

// RankCount returns the number of ranks of the first chakra application, or 0 if there is
// none.
func (d *Document) RankCount() int64 {
	a := d.Chakra()
	if a == nil {
		return 0
	}
	ranks, _ := a.TypedParameters.quantity(pathRankCount, "uint", 0)
	return ranks
}

// SetMapping sets the name of the mapping file in the chakra applications; "" means that
// there is no file.
func (d *Document) SetMapping(file string) {
	for p := range d.chakras() {
		p.set(pathUseMapping, Leaf{Value: file != "", Type: "bool"})
		p.set(pathMappingFile, Leaf{Value: file, Type: "string"})
	}
}

// Mapped reports whether every chakra application names this mapping file.
func (d *Document) Mapped(file string) bool {
	for p := range d.chakras() {
		if !p.flag(pathUseMapping, false) || p.text(pathMappingFile, "") != file {
			return false
		}
	}
	return true
}

// NamesMapping reports whether a patch of an application's parameters has one of the
// parameters that select its mapping file.
func (p Params) NamesMapping() bool {
	return p.find(pathUseMapping) != nil || p.find(pathMappingFile) != nil
}

// AddToSeed gives the engine another seed. Seeds are below 2^53.
func (d *Document) AddToSeed(n int64) {
	seed, err := d.GlobalParameters.quantity(pathSeed, "uint", 1)
	if err != nil {
		return // Options refuses the document
	}
	if d.GlobalParameters == nil {
		d.GlobalParameters = Params{}
	}
	d.GlobalParameters.set(pathSeed, uintOf(int((seed+n)%(1<<53))))
}

// Shares returns the entries of the distribution, nil when there is none.
func (d *Document) Shares() []Entry {
	if d.Topology.AppDistribution == nil {
		return nil
	}
	return d.Topology.AppDistribution.Entries
}

// IsOf reports whether the entry has this application and this distribution id. Clients
// identify entries by the two.
func (e Entry) IsOf(application, distribution string) bool {
	return e.ParentApplication == application && e.DistributionPercent.DistributionID == distribution
}

// AddShare appends an entry to the distribution, and creates the distribution if needed.
func (d *Document) AddShare(e Entry) {
	if d.Topology.AppDistribution == nil {
		d.Topology.AppDistribution = &AppDistribution{}
	}
	a := d.Topology.AppDistribution
	a.Entries = append(a.Entries, e)
}

// SetShare sets the value of the entries that have this application and distribution id.
func (d *Document) SetShare(application, distribution string, value float64) {
	entries := d.Shares()
	for i := range entries {
		if entries[i].IsOf(application, distribution) {
			entries[i].DistributionPercent.Value = value
		}
	}
}
