package validation

import (
	"fmt"

	"netsim/simulator/document"
)

// declaration is an element of a document that references can name.
type declaration struct {
	collection, path           string // such as components; JSONPath
	name, kind, model, version string
	traffic                    string // of an application
	params                     document.Params
	refs                       []document.Ref
}

// declarations returns all declarations of a document, collection by collection.
func declarations(d *document.Document) []*declaration {
	all := make([]*declaration, 0, len(d.Components)+len(d.Links)+len(d.Containers)+len(d.Applications))
	add := func(collection string, i int, x declaration) {
		x.collection, x.path = collection, element("$."+collection, i)
		all = append(all, &x)
	}
	for i := range d.Components {
		c := &d.Components[i]
		add(document.Components, i, declaration{
			name: c.Name, kind: c.Type, model: c.Model, version: c.Version, params: c.TypedParameters, refs: c.Components,
		})
	}
	for i := range d.Links {
		c := &d.Links[i]
		add(document.Links, i, declaration{
			name: c.Name, kind: c.Type, model: c.Model, version: c.Version, params: c.TypedParameters, refs: c.Components,
		})
	}
	for i := range d.Containers {
		c := &d.Containers[i]
		add(document.Containers, i, declaration{name: c.Name, kind: c.Type, model: c.Model, version: c.Version, refs: c.Components})
	}
	for i := range d.Applications {
		a := &d.Applications[i]
		add(document.Applications, i, declaration{
			name: a.Name, kind: a.Type, model: a.Model, version: a.Version, traffic: a.TrafficType, params: a.TypedParameters,
		})
	}
	return all
}

// declarable lists the types that a collection may declare (completions.md 3.2).
func declarable(collection string) []string {
	switch collection {
	case document.Links:
		return []string{document.TypeLayer}
	case document.Containers:
		return []string{document.TypeRack, document.TypePod}
	case document.Applications:
		return []string{document.TypeApplication}
	}
	return []string{document.TypeSwitch, document.TypeNIC, document.TypeGPU, document.TypeServer}
}

// Reachable returns the names that can be reached from the topology.
func Reachable(d *document.Document) map[string]bool {
	held := make(map[string][]document.Ref, len(d.Components)+len(d.Containers))
	for i := range d.Components {
		held[d.Components[i].Name] = d.Components[i].Components
	}
	for i := range d.Containers {
		held[d.Containers[i].Name] = d.Containers[i].Components
	}
	seen := make(map[string]bool, len(held))
	var visit func(refs []document.Ref)
	visit = func(refs []document.Ref) {
		for i := range refs {
			if name := refs[i].Name; !seen[name] {
				seen[name] = true
				visit(held[name])
			}
		}
	}
	visit(d.Topology.Components)
	return seen
}

// element returns the JSONPath of one element of a list.
func element(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }

// step returns one step of a JSONPath, in the short form if the name allows it.
func step(name string) string {
	short := name != ""
	for i, r := range name {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		short = short && (letter || i > 0 && r >= '0' && r <= '9')
	}
	if short {
		return "." + name
	}
	quoted := []byte("['")
	for _, r := range name {
		switch {
		case r == '\'' || r == '\\':
			quoted = append(quoted, '\\', byte(r))
		case r < ' ':
			quoted = fmt.Appendf(quoted, "\\u%04x", r)
		default:
			quoted = append(quoted, string(r)...)
		}
	}
	return string(append(quoted, "']"...))
}
