package validation

import (
	"fmt"
	"slices"

	"netsim/simulator/catalogue"
	"netsim/simulator/design"
)

// Complete checks the form of a document that a client sends, and fills in
// what the service knows: counts, members' models, what a holder may hold, and
// the defaults of parameters. Whether the document can be simulated is left to
// Check. Every error is the client's; its text is the message of a 400.
func Complete(d *design.Document) error {
	names := map[string]string{} // where a name is declared
	if err := completeComponents(d.Components, "components", names); err != nil {
		return err
	}
	if err := completeComponents(d.Links, "links", names); err != nil {
		return err
	}
	for i := range d.Containers {
		c := &d.Containers[i]
		c.AllowedComponents, c.Components = design.Allowed(c.Type), filled(c.Components)
		if err := declare(names, c.Name, fmt.Sprintf("containers[%d].name", i)); err != nil {
			return err
		}
	}
	for i := range d.Applications {
		a := &d.Applications[i]
		if a.TrafficType == "coordinated" {
			a.TrafficType = design.TrafficChakra
		}
		a.TypedParameters = withDefaults(a.TypedParameters, a.Model)
		if err := declare(names, a.Name, fmt.Sprintf("applications[%d].name", i)); err != nil {
			return err
		}
	}
	d.Topology.AllowedComponents, d.Topology.Components = design.Allowed(design.HolderTopology), filled(d.Topology.Components)
	if err := completeGlobals(d); err != nil {
		return err
	}
	return completeRefs(d)
}

func completeComponents(list []design.Component, member string, names map[string]string) error {
	for i := range list {
		c := &list[i]
		path := fmt.Sprintf("%s[%d]", member, i)
		if (c.Type == design.TypeLayer) != (member == "links") {
			return fmt.Errorf("%s.type must be layer in links and only there, got '%s'", path, c.Type)
		}
		if len(c.Components) > 0 && c.Type != design.TypeServer {
			return fmt.Errorf("%s.components must be empty: only a server has children", path)
		}
		if err := declare(names, c.Name, path+".name"); err != nil {
			return err
		}
		c.AllowedComponents, c.Components = design.Allowed(c.Type), filled(c.Components)
		c.TypedParameters = withDefaults(c.TypedParameters, c.Model)
	}
	return nil
}

func declare(names map[string]string, name, path string) error {
	if first, taken := names[name]; taken {
		return fmt.Errorf("%s '%s' is taken by %s", path, name, first)
	}
	names[name] = path
	return nil
}

// filled gives every reference its count.
func filled(refs []design.Ref) []design.Ref {
	if refs == nil {
		return []design.Ref{}
	}
	for i := range refs {
		refs[i].Count = max(refs[i].Count, 1)
	}
	return refs
}

// completeRefs fills in the models of what references name, as far as it is
// declared.
func completeRefs(d *design.Document) error {
	declared := declarations(d)
	for _, h := range holders(d) {
		for i := range h.refs {
			ref := &h.refs[i]
			if ref.ParentApplicationName != "" && ref.Type != design.TypeApplication {
				return fmt.Errorf("%s[%d].parentApplicationName is only for applications, the type is '%s'", h.path, i, ref.Type)
			}
			if slices.ContainsFunc(h.refs[:i], func(r design.Ref) bool { return r.Name == ref.Name && r.Group == ref.Group }) {
				return fmt.Errorf("%s[%d].name '%s' is referenced twice", h.path, i, ref.Name)
			}
			if at, ok := declared[ref.Name]; ok {
				ref.Model, ref.Version = at.model, at.version
			}
		}
	}
	return nil
}

func withDefaults(p design.Params, model string) design.Params {
	if p == nil {
		p = design.Params{}
	}
	if entry, known := catalogue.Find(model); known {
		catalogue.Fill(p, entry.Parameters)
	}
	return p
}

// completeGlobals fills in the global parameters. The sections that the
// service sets are refused, and what is read-only is replaced.
func completeGlobals(d *design.Document) error {
	sections := []string{"EngineParameters", "SimulationParameters", "SoftwareVersion"}
	for _, name := range sortedKeys(d.GlobalParameters) {
		switch {
		case OfService(name):
			return fmt.Errorf("globalParameters.%s is set by the service", name)
		case !slices.Contains(sections, name):
			return fmt.Errorf("globalParameters.%s is unknown", name)
		case d.GlobalParameters[name].Leaf != nil:
			return fmt.Errorf("globalParameters.%s must be a section, not a value", name)
		}
	}
	if d.GlobalParameters == nil {
		d.GlobalParameters = design.Params{}
	}
	delete(d.GlobalParameters, "SoftwareVersion")
	catalogue.Fill(d.GlobalParameters, catalogue.Globals())
	return nil
}
