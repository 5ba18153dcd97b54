package validation

import (
	"slices"
	"strings"

	"netsim/simulator/catalogue"
	"netsim/simulator/document"
)

// model is an entry of the catalogue.
type model struct {
	catalogue.Entry
	known map[string]bool // the paths of the parameters
}

func newModel(e catalogue.Entry) *model {
	m := &model{Entry: e, known: make(map[string]bool, len(e.Parameters))}
	for i := range e.Parameters {
		m.known[e.Parameters[i].Path] = true
	}
	return m
}

// declare checks the declarations: each name is declared once, in the collection of
// its type, with a model of the catalogue and the parameters of that model.
func (c *checker) declare() {
	for _, d := range c.all {
		if first, taken := c.declared[d.name]; taken {
			c.unsound = true
			c.err("CONSTRAINT_VIOLATION", position{d.name, "", d.path + ".name"},
				"the name '%s' is taken by %s; give one of them another name", d.name, first.path)
			continue
		}
		c.declared[d.name] = d
		if kinds := declarable(d.collection); !slices.Contains(kinds, d.kind) {
			c.unsound = true
			c.err("CONSTRAINT_VIOLATION", position{d.name, "", d.path + ".type"},
				"the type '%.64s' cannot be declared in %s; it holds [%s]", d.kind, d.collection, strings.Join(kinds, ", "))
			continue
		}
		c.model(d)
	}
}

func (c *checker) model(d *declaration) {
	m := c.models[d.model]
	if m == nil {
		entry, known := catalogue.Find(d.model)
		if !known || entry.Model != d.model {
			c.err("UNKNOWN_MODEL", position{d.name, "", d.path + ".model"},
				"model '%s' is not in the catalogue; choose one that GET /models?type=%s lists", d.model, d.kind)
			return
		}
		m = newModel(entry)
		c.models[d.model] = m
	}
	switch {
	case !m.Has(d.version):
		c.err("UNKNOWN_MODEL", position{d.name, "", d.path + ".version"},
			"model '%s' has no version '%s'; use %s", d.model, d.version, m.Latest())
		return
	case m.Type != d.kind:
		c.err("CONSTRAINT_VIOLATION", position{d.name, "", d.path + ".type"},
			"model '%s' is a %s and '%s' is declared as a %s; change the type or choose another model", d.model, m.Type, d.name, d.kind)
		return
	case m.TrafficType != "" && m.TrafficType != d.traffic:
		c.err("CONSTRAINT_VIOLATION", position{d.name, "", d.path + ".trafficType"},
			"model '%s' makes %s traffic, not '%s'; set trafficType to %s", d.model, m.TrafficType, d.traffic, m.TrafficType)
	}
	c.parameters(d.name, d.path+".typedParameters", d.params, m)
}

// parameters checks a tree of parameters against those of its model.
func (c *checker) parameters(name, path string, p document.Params, m *model) {
	known := 0
	for i := range m.Parameters {
		want := &m.Parameters[i]
		if node, _ := p.Find(want.Path); node.Leaf != nil {
			known++
		}
		code, message := parameter(p, want)
		if code == "" {
			continue
		}
		at := position{name, want.Path, path}
		for s := range strings.SplitSeq(want.Path, ".") {
			at.path += step(s)
		}
		c.err(code, at, "%s", message)
	}
	if leaves(p) > known {
		c.unknown(position{name, "", path}, p, m)
	}
}

func leaves(p document.Params) int {
	n := 0
	for _, node := range p {
		if node.Leaf != nil {
			n++
		} else {
			n += leaves(node.Branch)
		}
	}
	return n
}

// unknown reports the leaves that are not parameters of the model.
func (c *checker) unknown(at position, p document.Params, m *model) {
	for _, name := range sortedKeys(p) {
		below := position{at.component, join(at.parameter, name), at.path + step(name)}
		known := m
		if strings.Contains(name, ".") {
			known = new(model) // a name with a dot is not a path
		}
		switch {
		case p[name].Leaf == nil:
			c.unknown(below, p[name].Branch, known)
		case !known.known[below.parameter]:
			c.err("CONSTRAINT_VIOLATION", below, "parameter %.128s is not one of the model's; remove it", below.parameter)
		}
	}
}
