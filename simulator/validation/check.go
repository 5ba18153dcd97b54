package validation

import (
	"fmt"
	"slices"
	"strings"

	"netsim/simulator/catalogue"
	"netsim/simulator/design"
	"netsim/simulator/topology"
)

// Check returns what there is to say about a document, in the document's
// order.
func Check(d *design.Document, with Attachments) []Finding {
	findings, _ := Survey(d, with)
	return findings
}

// Survey is Check, and the network that it unfolded to check it; nil when an
// error kept it from that.
func Survey(d *design.Document, with Attachments) ([]Finding, *topology.Fabric) {
	c := checker{doc: d, declared: declarations(d), traceset: with.Traceset}
	c.models()
	c.parameters("", "$.globalParameters", d.GlobalParameters, catalogue.Globals())
	c.references()
	c.unreferenced()
	c.topology()
	c.applications()
	return c.findings, c.fabric
}

type checker struct {
	doc      *design.Document
	declared map[string]declaration
	traceset *Traceset
	findings []Finding
	fabric   *topology.Fabric
	broken   bool // there is an error
	unsound  bool // a reference is wrong: what the document unfolds to is not known
}

func (c *checker) add(f Finding, format string, args ...any) {
	f.Message = fmt.Sprintf(format, args...)
	c.findings = append(c.findings, f)
	c.broken = c.broken || f.Severity == Error
}

func (c *checker) err(code, component, path, format string, args ...any) {
	c.add(Finding{Code: code, Severity: Error, Component: component, Path: path}, format, args...)
}

// models checks that everything declared is of a model in the catalogue, and
// its parameters against the model's.
func (c *checker) models() {
	for i := range c.doc.Components {
		m := &c.doc.Components[i]
		c.model(m.Name, m.TypedParameters)
	}
	for i := range c.doc.Links {
		m := &c.doc.Links[i]
		c.model(m.Name, m.TypedParameters)
	}
	for i := range c.doc.Containers {
		c.model(c.doc.Containers[i].Name, nil)
	}
	for i := range c.doc.Applications {
		m := &c.doc.Applications[i]
		c.model(m.Name, m.TypedParameters)
	}
}

func (c *checker) model(name string, p design.Params) {
	at := c.declared[name]
	entry, known := catalogue.Find(at.model)
	switch {
	case !known:
		c.err("UNKNOWN_MODEL", name, at.path+".model", "model '%s' is not in the catalogue", at.model)
		return
	case !entry.Has(at.version):
		c.err("UNKNOWN_MODEL", name, at.path+".version", "model '%s' has no version '%s'", at.model, at.version)
		return
	case entry.Type != at.kind:
		c.err("CONSTRAINT_VIOLATION", name, at.path+".type", "model '%s' is of type %s, not %s", at.model, entry.Type, at.kind)
		return
	}
	c.parameters(name, at.path+".typedParameters", p, entry.Parameters)
}

// parameters checks a tree against the parameters that it should have.
func (c *checker) parameters(name, path string, p design.Params, want []catalogue.Parameter) {
	for i := range want {
		c.parameter(name, path, p, &want[i])
	}
	each(p, "", func(at string, _ *design.Leaf) {
		if !slices.ContainsFunc(want, func(w catalogue.Parameter) bool { return w.Path == at }) {
			c.add(Finding{Code: "CONSTRAINT_VIOLATION", Severity: Error, Component: name, Parameter: at, Path: path + "." + at},
				"the model has no parameter %s", at)
		}
	})
}

func (c *checker) parameter(name, path string, p design.Params, want *catalogue.Parameter) {
	f := Finding{Severity: Error, Component: name, Parameter: want.Path, Path: path + "." + want.Path}
	say := func(code, format string, args ...any) {
		f.Code = code
		c.add(f, format, args...)
	}
	leaf := find(p, want.Path)
	if leaf == nil {
		say("PARAMETER_MISSING", "parameter %s is missing", want.Path)
		return
	}
	if leaf.Type != want.Default.Type || !wellTyped(leaf.Type, leaf.Value) {
		say("CONSTRAINT_VIOLATION", "parameter %s must be a %s, got %v of type %s", want.Path, want.Default.Type, leaf.Value, leaf.Type)
		return
	}
	factor, known := base(leaf.Type, leaf.Unit)
	if !known {
		say("PARAMETER_UNIT_INVALID", "parameter %s is a %s and cannot have the unit '%s'", want.Path, leaf.Type, leaf.Unit)
		return
	}
	switch value := leaf.Value.(type) {
	case string:
		if want.Enum != nil && !slices.Contains(want.Enum, value) {
			say("PARAMETER_NOT_IN_ENUM", "parameter %s must be one of [%s], got '%s'", want.Path, strings.Join(want.Enum, ", "), value)
		}
	case float64:
		if value < 0 || beyond(want.Min, value*factor, -1) || beyond(want.Max, value*factor, 1) {
			say("PARAMETER_OUT_OF_RANGE", "parameter %s is out of range: %v%s", want.Path, value, leaf.Unit)
		}
	}
}

// beyond reports whether a value in base units is past a bound, on the side of
// the sign.
func beyond(bound *design.Leaf, value, sign float64) bool {
	if bound == nil {
		return false
	}
	factor, _ := base(bound.Type, bound.Unit)
	limit, _ := bound.Value.(float64)
	return sign*(value-limit*factor) > 0
}

// references checks that every reference names something that its holder may
// hold.
func (c *checker) references() {
	for _, h := range holders(c.doc) {
		for i, ref := range h.refs {
			path := fmt.Sprintf("$.%s[%d]", h.path, i)
			at, known := c.declared[ref.Name]
			switch {
			case !known || at.kind != ref.Type:
				c.unsound = true
				c.err("UNKNOWN_REFERENCE", h.name, path, "%s '%s' is not declared", ref.Type, ref.Name)
			case !slices.Contains(design.Allowed(h.kind), ref.Type):
				c.unsound = true
				c.err("CONSTRAINT_VIOLATION", h.name, path, "a %s cannot hold a %s", h.kind, ref.Type)
			}
		}
	}
}

// unreferenced names what is declared and not in the network. Applications
// load it from outside.
func (c *checker) unreferenced() {
	reached := Reachable(c.doc)
	for _, name := range sortedKeys(c.declared) {
		if at := c.declared[name]; !reached[name] && at.kind != design.TypeApplication {
			c.add(Finding{Code: "UNREFERENCED_COMPONENT", Severity: Info, Component: name, Path: at.path},
				"%s '%s' is declared and not in the topology", at.kind, name)
		}
	}
}
