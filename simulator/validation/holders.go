package validation

import (
	"fmt"
	"maps"
	"slices"

	"netsim/simulator/design"
)

// declaration is something that references can name.
type declaration struct {
	kind, model, version string
	path                 string // JSONPath
	refs                 []design.Ref
}

// declarations are everything that a document declares, by name.
func declarations(d *design.Document) map[string]declaration {
	all := map[string]declaration{}
	for i, c := range d.Components {
		all[c.Name] = declaration{c.Type, c.Model, c.Version, fmt.Sprintf("$.components[%d]", i), c.Components}
	}
	for i, c := range d.Links {
		all[c.Name] = declaration{c.Type, c.Model, c.Version, fmt.Sprintf("$.links[%d]", i), nil}
	}
	for i, c := range d.Containers {
		all[c.Name] = declaration{c.Type, c.Model, c.Version, fmt.Sprintf("$.containers[%d]", i), c.Components}
	}
	for i, a := range d.Applications {
		all[a.Name] = declaration{a.Type, a.Model, a.Version, fmt.Sprintf("$.applications[%d]", i), nil}
	}
	return all
}

// holder is a place whose members are references.
type holder struct {
	name, kind string // of the topology: "" and topology
	path       string // of the list of references, without the leading $.
	refs       []design.Ref
}

func holders(d *design.Document) []holder {
	all := []holder{{"", "topology", "topology.components", d.Topology.Components}}
	for i, c := range d.Containers {
		all = append(all, holder{c.Name, c.Type, fmt.Sprintf("containers[%d].components", i), c.Components})
	}
	for i, c := range d.Components {
		all = append(all, holder{c.Name, c.Type, fmt.Sprintf("components[%d].components", i), c.Components})
	}
	return all
}

// Reachable returns the names that can be reached from the topology.
func Reachable(d *design.Document) map[string]bool {
	declared := declarations(d)
	seen := map[string]bool{}
	var visit func(refs []design.Ref)
	visit = func(refs []design.Ref) {
		for _, ref := range refs {
			if !seen[ref.Name] {
				seen[ref.Name] = true
				visit(declared[ref.Name].refs)
			}
		}
	}
	visit(d.Topology.Components)
	return seen
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
