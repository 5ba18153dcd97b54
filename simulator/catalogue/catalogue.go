// Package catalogue lists the models of components: their versions, descriptions and
// parameters. It ships with the program.
//
// It is pure. Sources: completions.md sections 2.3 (components), 2.4 (models)
// and 3.3 (global parameters); document 1, Versioning item 8.
package catalogue

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"netsim/simulator/document"
)

// Entry is one model. Find and Entries return shared values, which must not be changed.
type Entry struct {
	ID          string // model_…, the same in every release of the program
	Model       string // reference, such as clos-switch-v1
	Name        string // for display
	Type        string // switch, nic, gpu, server, rack, pod, layer, application
	Vendor      string // slug; empty if the model is not of a vendor's device
	Description string
	TrafficType string // of an application
	Transport   string // of a NIC: trimming, lossless or ideal
	Versions    []Version
	Parameters  []Parameter
}

// Version is one version of a model. Its major version is that of the model's reference.
type Version struct {
	Number        string // a semantic version, such as 1.0.0
	Status        string // Stable, Beta or Deprecated
	Compatibility *Compatibility
	CreatedAt     time.Time
	Notes         string // what changed
}

// The statuses of versions.
const (
	Stable     = "stable"
	Beta       = "beta"
	Deprecated = "deprecated"
)

// Compatibility is the range of engine versions that have the model, both ends included.
// MaxEngine is empty if the newest engine has it.
type Compatibility struct{ MinEngine, MaxEngine string }

// Parameter is one leaf of a model's parameters.
type Parameter struct {
	Path        string // steps separated by dots
	Default     document.Leaf
	Description string
	Group       string         // heading under which it is displayed
	Enum        []string       // allowed values of a string; nil if all are
	Min, Max    *document.Leaf // of a number, both included, each with its own unit
	ReadOnly    bool
	Optional    bool // may be absent from documents; the default then applies
}

// The categories by which clients discover components.
const (
	CategoryModel       = "model"
	CategoryApplication = "application"
	CategoryContainer   = "container"
	CategoryLayer       = "layer"
)

// Category returns the category of a type.
func Category(kind string) string {
	switch kind {
	case document.TypeApplication:
		return CategoryApplication
	case document.TypeRack, document.TypePod:
		return CategoryContainer
	case document.TypeLayer:
		return CategoryLayer
	}
	return CategoryModel
}

// shipped is the catalogue. It is built once.
type shipped struct {
	entries []Entry
	named   map[string]int // by id and by reference
	globals []Parameter
}

var load = sync.OnceValue(func() shipped {
	s := shipped{entries: entries(), named: map[string]int{}, globals: globals()}
	for i := range s.entries {
		if t, known := document.TransportOf(s.entries[i].Model); known {
			s.entries[i].Transport = t.String()
		}
	}
	slices.SortFunc(s.entries, func(a, b Entry) int {
		return cmp.Or(b.CreatedAt().Compare(a.CreatedAt()), strings.Compare(b.ID, a.ID))
	})
	for i, e := range s.entries {
		s.named[e.ID], s.named[e.Model] = i, i
	}
	return s
})

// Entries returns the whole catalogue, newest first, then by descending id.
func Entries() []Entry { return load().entries }

// Find returns the entry of a model, named by its id or its reference.
func Find(name string) (Entry, bool) {
	s := load()
	i, known := s.named[name]
	if !known {
		return Entry{}, false
	}
	return s.entries[i], true
}

// Globals returns the global parameters of a configuration.
func Globals() []Parameter { return load().globals }

// Latest returns the newest stable version of the model; every model has one.
func (e Entry) Latest() string { return e.latest().Number }

func (e Entry) latest() Version {
	for _, v := range slices.Backward(e.Versions) {
		if v.Status == Stable {
			return v
		}
	}
	return Version{}
}

// Version returns a version of the model; "" is the newest stable one.
func (e Entry) Version(number string) (Version, bool) {
	if number == "" {
		return e.latest(), true
	}
	i := slices.IndexFunc(e.Versions, func(v Version) bool { return v.Number == number })
	if i < 0 {
		return Version{}, false
	}
	return e.Versions[i], true
}

// Has reports whether the model has the version.
func (e Entry) Has(version string) bool {
	return slices.ContainsFunc(e.Versions, func(v Version) bool { return v.Number == version })
}

// CreatedAt returns when the model was added to the catalogue.
func (e Entry) CreatedAt() time.Time { return e.Versions[0].CreatedAt }

// Fill adds the missing parameters with their defaults, except optional ones.
func Fill(p document.Params, parameters []Parameter) {
	for _, parameter := range parameters {
		if !parameter.Optional {
			put(p, parameter.Path, parameter.Default)
		}
	}
}

// put sets a leaf unless there is a node at its path or a leaf above it.
func put(p document.Params, path string, leaf document.Leaf) {
	step, rest, deeper := strings.Cut(path, ".")
	node, there := p[step]
	switch {
	case !deeper && !there:
		p[step] = document.Param{Leaf: &leaf}
	case deeper && !there:
		branch := document.Params{}
		put(branch, rest, leaf)
		p[step] = document.Param{Branch: branch}
	case deeper && node.Leaf == nil && node.Branch != nil:
		put(node.Branch, rest, leaf)
	}
}
