package document

import (
	"encoding/json"
	"fmt"
	"slices"
)

// The collections of a document. They contain its declarations.
const (
	Applications = "applications"
	Components   = "components"
	Containers   = "containers"
	Links        = "links"
)

// MaxDocument is the largest document, in bytes of its canonical text.
const MaxDocument = 4 << 20

// Declared is a declaration: its collection, its type and its model. The zero value
// means that there is none.
type Declared struct {
	Collection string
	Type       string
	Model      string
	Version    string
}

// Find returns the declaration with the name. A name is unique over the four collections.
func (d *Document) Find(name string) (Declared, bool) {
	for i := range d.Applications {
		if a := &d.Applications[i]; a.Name == name {
			return Declared{Applications, a.Type, a.Model, a.Version}, true
		}
	}
	for i := range d.Components {
		if c := &d.Components[i]; c.Name == name {
			return Declared{Components, c.Type, c.Model, c.Version}, true
		}
	}
	for i := range d.Containers {
		if c := &d.Containers[i]; c.Name == name {
			return Declared{Containers, c.Type, c.Model, c.Version}, true
		}
	}
	for i := range d.Links {
		if c := &d.Links[i]; c.Name == name {
			return Declared{Links, c.Type, c.Model, c.Version}, true
		}
	}
	return Declared{}, false
}

// Declare appends a declaration, given as JSON text, to a collection. It sets the model
// and version of references that already have its name.
func (d *Document) Declare(collection, declaration string) error {
	var err error
	switch collection {
	case Applications:
		err = appendParsed(&d.Applications, declaration)
	case Components:
		err = appendParsed(&d.Components, declaration)
	case Containers:
		err = appendParsed(&d.Containers, declaration)
	case Links:
		err = appendParsed(&d.Links, declaration)
	default:
		err = fmt.Errorf("a document has no collection %q", collection)
	}
	if err != nil {
		return err
	}
	var declared struct{ Name, Model, Version string }
	if err := json.Unmarshal([]byte(declaration), &declared); err != nil {
		return fmt.Errorf("read a declaration: %w", err)
	}
	for _, h := range d.Holders() {
		for i := range h.Refs {
			if ref := &h.Refs[i]; ref.Name == declared.Name {
				ref.Model, ref.Version = declared.Model, declared.Version
			}
		}
	}
	return nil
}

func appendParsed[T any](list *[]T, text string) error {
	var item T
	if err := json.Unmarshal([]byte(text), &item); err != nil {
		return fmt.Errorf("read a declaration: %w", err)
	}
	*list = append(*list, item)
	return nil
}

// Replace replaces a member of the document by one given as JSON text.
func (d *Document) Replace(member, value string) error {
	text, err := json.Marshal(map[string]json.RawMessage{member: json.RawMessage(value)})
	if err != nil {
		return fmt.Errorf("replace %s: %w", member, err)
	}
	fresh := Document{}
	if err := json.Unmarshal(text, &fresh); err != nil {
		return fmt.Errorf("replace %s: %w", member, err)
	}
	switch member {
	case Applications:
		d.Applications = fresh.Applications
	case Components:
		d.Components = fresh.Components
	case Containers:
		d.Containers = fresh.Containers
	case Links:
		d.Links = fresh.Links
	case "topology":
		d.Topology = fresh.Topology
	case "globalParameters":
		d.GlobalParameters = fresh.GlobalParameters
	default:
		return fmt.Errorf("a document has no member %q", member)
	}
	return nil
}

// Names reports whether a reference or its parent application has the name. Without the
// declaration of that name, the reference would be dangling.
func (r Ref) Names(name string) bool { return r.Name == name || r.ParentApplicationName == name }

// Remove removes a declaration, all references to it, and an application's entries in
// the distribution.
func (d *Document) Remove(name string) {
	d.Applications = slices.DeleteFunc(d.Applications, func(a Application) bool { return a.Name == name })
	d.Components = slices.DeleteFunc(d.Components, func(c Component) bool { return c.Name == name })
	d.Containers = slices.DeleteFunc(d.Containers, func(c Container) bool { return c.Name == name })
	d.Links = slices.DeleteFunc(d.Links, func(c Component) bool { return c.Name == name })
	for _, h := range d.Holders() {
		refs := d.refs(h.Name)
		*refs = slices.DeleteFunc(*refs, func(r Ref) bool { return r.Names(name) })
	}
	if a := d.Topology.AppDistribution; a != nil {
		a.Entries = slices.DeleteFunc(a.Entries, func(e Entry) bool { return e.ParentApplication == name })
	}
}

// Holder holds references: the topology, which has no name, a container or a server.
type Holder struct {
	Name string
	Type string // HolderTopology, or the type of the container or server
	Refs []Ref
}

// Holders returns every holder, the topology first.
func (d *Document) Holders() []Holder {
	all := []Holder{{"", HolderTopology, d.Topology.Components}}
	for i := range d.Containers {
		c := &d.Containers[i]
		all = append(all, Holder{c.Name, c.Type, c.Components})
	}
	for i := range d.Components {
		if c := &d.Components[i]; c.Type == TypeServer {
			all = append(all, Holder{c.Name, c.Type, c.Components})
		}
	}
	return all
}

// FindHolder returns the holder with the name; the topology has the empty name.
func (d *Document) FindHolder(name string) (Holder, bool) {
	all := d.Holders()
	i := slices.IndexFunc(all, func(h Holder) bool { return h.Name == name })
	if i < 0 {
		return Holder{}, false
	}
	return all[i], true
}

// Reference returns the holder's reference to a name.
func (h Holder) Reference(name string) (Ref, bool) {
	i := slices.IndexFunc(h.Refs, func(r Ref) bool { return r.Name == name })
	if i < 0 {
		return Ref{}, false
	}
	return h.Refs[i], true
}

// SetReference adds a reference to a holder, or replaces the one to the same name.
func (d *Document) SetReference(holder string, ref Ref) {
	refs := d.refs(holder)
	if refs == nil {
		return
	}
	if i := slices.IndexFunc(*refs, func(r Ref) bool { return r.Name == ref.Name }); i >= 0 {
		(*refs)[i] = ref
		return
	}
	*refs = append(*refs, ref)
}

// RemoveReference removes the reference to a name from a holder.
func (d *Document) RemoveReference(holder, name string) {
	if refs := d.refs(holder); refs != nil {
		*refs = slices.DeleteFunc(*refs, func(r Ref) bool { return r.Name == name })
	}
}

// refs returns the list of a holder's references, or nil if there is no such holder.
func (d *Document) refs(holder string) *[]Ref {
	if holder == "" {
		return &d.Topology.Components
	}
	for i := range d.Containers {
		if d.Containers[i].Name == holder {
			return &d.Containers[i].Components
		}
	}
	for i := range d.Components {
		if d.Components[i].Name == holder {
			return &d.Components[i].Components
		}
	}
	return nil
}

// Member is one member of a document, as canonical JSON.
type Member struct{ Name, Text string }

// Members returns the members of a document, always in the same order.
func (d *Document) Members() ([]Member, error) {
	all := make([]Member, 0, 6)
	for _, m := range []struct {
		name  string
		value any
	}{
		{Applications, d.Applications}, {Components, d.Components}, {Containers, d.Containers}, {Links, d.Links},
		{"topology", d.Topology}, {"globalParameters", d.GlobalParameters},
	} {
		text, err := Canonical(m.value)
		if err != nil {
			return nil, err
		}
		all = append(all, Member{m.name, text})
	}
	return all, nil
}

// HasChakra reports whether an application replays traces.
func (d *Document) HasChakra() bool { return d.Chakra() != nil }
