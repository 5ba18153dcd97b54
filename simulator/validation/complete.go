package validation

import (
	"fmt"
	"slices"
	"strings"

	"netsim/simulator/catalogue"
	"netsim/simulator/document"
)

// Complete checks the form of a document that a client sends, and fills in the counts
// and models of references, the types that a holder may hold, and the defaults of
// parameters. It does not check whether the document can be simulated; Check does.
// Every error is the client's; its text is the message of a 400.
func Complete(d *document.Document) error {
	names := map[string]string{} // path of the declaration, by name
	if err := completeComponents(d.Components, document.Components, names); err != nil {
		return err
	}
	if err := completeComponents(d.Links, document.Links, names); err != nil {
		return err
	}
	for i := range d.Containers {
		c := &d.Containers[i]
		c.AllowedComponents, c.Components = document.Allowed(c.Type), filled(c.Components)
		if err := declare(names, document.Containers, i, c.Name, c.Type); err != nil {
			return err
		}
	}
	for i := range d.Applications {
		a := &d.Applications[i]
		if a.TrafficType == "coordinated" {
			a.TrafficType = document.TrafficChakra
		}
		a.TypedParameters = withDefaults(a.TypedParameters, a.Model)
		if err := declare(names, document.Applications, i, a.Name, a.Type); err != nil {
			return err
		}
	}
	d.Topology.AllowedComponents, d.Topology.Components = document.Allowed(document.HolderTopology), filled(d.Topology.Components)
	if err := completeGlobals(d); err != nil {
		return err
	}
	if err := distinctShares(d.Shares()); err != nil {
		return err
	}
	return completeRefs(d)
}

func completeComponents(list []document.Component, member string, names map[string]string) error {
	for i := range list {
		c := &list[i]
		if err := declare(names, member, i, c.Name, c.Type); err != nil {
			return err
		}
		if len(c.Components) > 0 && c.Type != document.TypeServer {
			return fmt.Errorf("%s[%d].components must be empty: only a server has children", member, i)
		}
		c.AllowedComponents, c.Components = document.Allowed(c.Type), filled(c.Components)
		c.TypedParameters = withDefaults(c.TypedParameters, c.Model)
	}
	return nil
}

// declare checks that a collection may hold the type, and that no collection has the
// name yet.
func declare(names map[string]string, collection string, i int, name, kind string) error {
	if kinds := declarable(collection); !slices.Contains(kinds, kind) {
		return fmt.Errorf("%s[%d].type must be one of [%s], got '%.64s'", collection, i, strings.Join(kinds, ", "), kind)
	}
	path := fmt.Sprintf("%s[%d].name", collection, i)
	if first, taken := names[name]; taken {
		return fmt.Errorf("%s '%s' is taken by %s", path, name, first)
	}
	names[name] = path
	return nil
}

// filled sets the count of every reference to at least 1.
func filled(refs []document.Ref) []document.Ref {
	if refs == nil {
		return []document.Ref{}
	}
	for i := range refs {
		refs[i].Count = max(refs[i].Count, 1)
	}
	return refs
}

// completeRefs fills in the models of references to declared names. It refuses two
// references of a holder to one name, since the URL of a reference has only that name.
func completeRefs(d *document.Document) error {
	all := declarations(d)
	declared := make(map[string]*declaration, len(all))
	for _, x := range all {
		declared[x.name] = x
	}
	if err := completeHolder("topology.components", d.Topology.Components, declared); err != nil {
		return err
	}
	for _, x := range all {
		if err := completeHolder(strings.TrimPrefix(x.path, "$.")+".components", x.refs, declared); err != nil {
			return err
		}
	}
	return nil
}

func completeHolder(path string, refs []document.Ref, declared map[string]*declaration) error {
	names := make(map[string]bool, len(refs))
	for i := range refs {
		ref := &refs[i]
		if ref.ParentApplicationName != "" && ref.Type != document.TypeApplication {
			return fmt.Errorf("%s[%d].parentApplicationName is only for applications, the type is '%s'", path, i, ref.Type)
		}
		if names[ref.Name] {
			return fmt.Errorf("%s[%d].name '%s' is referenced twice", path, i, ref.Name)
		}
		names[ref.Name] = true
		if x := declared[ref.Name]; x != nil {
			ref.Model, ref.Version = x.model, x.version
		}
	}
	return nil
}

// distinctShares refuses two entries with the same application and distribution id,
// since clients identify an entry by the two.
func distinctShares(entries []document.Entry) error {
	first := make(map[[2]string]int, len(entries))
	for i := range entries {
		e := &entries[i]
		named := [2]string{e.ParentApplication, e.DistributionPercent.DistributionID}
		if j, there := first[named]; there {
			const list = "topology.appDistribution.randomApplicationDistribution"
			return fmt.Errorf("%s[%d].distributionPercent.distributionId '%.128s' is that of %s[%d], which is of the same application", list, i, named[1], list, j)
		}
		first[named] = i
	}
	return nil
}

func withDefaults(p document.Params, model string) document.Params {
	if p == nil {
		p = document.Params{}
	}
	if entry, known := catalogue.Find(model); known {
		catalogue.Fill(p, entry.Parameters)
	}
	return p
}

// completeGlobals fills in the global parameters. It refuses the sections that the
// service sets, and replaces read-only parameters.
func completeGlobals(d *document.Document) error {
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
		d.GlobalParameters = document.Params{}
	}
	delete(d.GlobalParameters, "SoftwareVersion")
	catalogue.Fill(d.GlobalParameters, catalogue.Globals())
	return nil
}
