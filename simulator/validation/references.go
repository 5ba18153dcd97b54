package validation

import (
	"slices"
	"strings"

	"netsim/simulator/document"
)

// references checks that every reference names something that its holder may
// hold.
func (c *checker) references() {
	layers := 0
	for i := range c.doc.Topology.Components {
		ref := &c.doc.Topology.Components[i]
		at := position{"", "", element("$.topology.components", i)}
		c.reference(at, "topology", ref)
		if ref.Type != document.TypeLayer {
			continue
		}
		if layers++; layers > 1 {
			c.err("CONSTRAINT_VIOLATION", position{ref.Name, "", at.path},
				"the topology already holds a layer, which wires all of it; remove '%s'", ref.Name)
		}
		if ref.Count > 1 {
			c.err("CONSTRAINT_VIOLATION", position{ref.Name, "", at.path + ".count"},
				"layer '%s' has a count of %d, but one layer wires all of the topology; set its count to 1", ref.Name, ref.Count)
		}
	}
	for _, d := range c.all {
		for i := range d.refs {
			c.reference(position{d.name, "", element(d.path+".components", i)}, d.kind, &d.refs[i])
		}
	}
	if d := c.doc.Topology.AppDistribution; d != nil {
		for i := range d.Entries {
			if e := &d.Entries[i]; !c.isApplication(e.ParentApplication) {
				c.err("UNKNOWN_REFERENCE", position{"", "", element("$.topology.appDistribution.randomApplicationDistribution", i) + ".parentApplication"},
					"entry '%s' is of the application '%s', which is not declared; declare it or remove the entry", e.Name, e.ParentApplication)
			}
		}
	}
}

func (c *checker) reference(at position, holder string, ref *document.Ref) {
	d, known := c.declared[ref.Name]
	switch may := document.Allowed(holder); {
	case !known:
		c.unsound = true
		c.err("UNKNOWN_REFERENCE", position{at.component, "", at.path + ".name"},
			"the %s '%s' is not declared; declare it or remove the reference", ref.Type, ref.Name)
	case d.kind != ref.Type:
		c.unsound = true
		c.err("CONSTRAINT_VIOLATION", position{at.component, "", at.path + ".type"},
			"'%s' is a %s, not a %s; set the type to %s or name another", ref.Name, d.kind, ref.Type, d.kind)
	case len(may) == 0:
		c.unsound = true
		c.err("CONSTRAINT_VIOLATION", at, "a %s cannot hold anything; remove '%s'", holder, ref.Name)
	case !slices.Contains(may, ref.Type):
		c.unsound = true
		c.err("CONSTRAINT_VIOLATION", at, "a %s cannot hold a %s, only [%s]; move '%s' elsewhere", holder, ref.Type, strings.Join(may, ", "), ref.Name)
	case ref.ParentApplicationName != "" && !c.isApplication(ref.ParentApplicationName):
		c.err("UNKNOWN_REFERENCE", position{at.component, "", at.path + ".parentApplicationName"},
			"the application '%s' is not declared; declare it or name another", ref.ParentApplicationName)
	}
}

func (c *checker) isApplication(name string) bool {
	d := c.declared[name]
	return d != nil && d.kind == document.TypeApplication
}

// unreferenced reports declarations that are not in the network, except applications.
func (c *checker) unreferenced() {
	for _, d := range c.all {
		if !c.reached[d.name] && d.kind != document.TypeApplication {
			c.info("UNREFERENCED_COMPONENT", position{d.name, "", d.path},
				"%s '%s' is declared but not in the topology; reference it or delete it", d.kind, d.name)
		}
	}
}
