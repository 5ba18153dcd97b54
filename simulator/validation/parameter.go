package validation

import (
	"fmt"
	"slices"
	"strings"

	"netsim/simulator/catalogue"
	"netsim/simulator/design"
)

// parameter checks one parameter against its schema: that it is there, and its
// type, unit, choice and range.
func (c *checker) parameter(name, path string, p design.Params, want *catalogue.Parameter) {
	at := place{name, want.Path, path}
	for s := range strings.SplitSeq(want.Path, ".") {
		at.path += step(s)
	}
	node, there := find(p, want.Path)
	switch {
	case !there:
		c.err("PARAMETER_MISSING", at, "parameter %s is missing; give it a %s such as %s", want.Path, want.Default.Type, quantity(&want.Default))
		return
	case node.Leaf == nil:
		c.err("CONSTRAINT_VIOLATION", at, "parameter %s is a section of parameters; give it a %s such as %s",
			want.Path, want.Default.Type, quantity(&want.Default))
		return
	}
	leaf := node.Leaf
	if leaf.Type != want.Default.Type || !wellTyped(leaf.Type, leaf.Value) {
		c.err("CONSTRAINT_VIOLATION", at, "parameter %s is %s of the type '%.64s'; give it a %s such as %s",
			want.Path, shown(leaf.Value), leaf.Type, want.Default.Type, quantity(&want.Default))
		return
	}
	factor, known := base(leaf.Type, leaf.Unit)
	switch {
	case !known && units(leaf.Type) == nil:
		c.err("PARAMETER_UNIT_INVALID", at, "parameter %s has the unit '%.64s', and a %s has none; remove the unit", want.Path, leaf.Unit, leaf.Type)
		return
	case !known:
		c.err("PARAMETER_UNIT_INVALID", at, "parameter %s has the unit '%.64s'; use one of [%s]", want.Path, leaf.Unit, unitNames(leaf.Type))
		return
	}
	switch value := leaf.Value.(type) {
	case string:
		if want.Enum != nil && !slices.Contains(want.Enum, value) {
			c.err("PARAMETER_NOT_IN_ENUM", at, "parameter %s is '%.64s'; choose one of [%s]", want.Path, value, strings.Join(want.Enum, ", "))
		}
	case float64:
		if dimensional := units(leaf.Type) != nil; beyond(want.Min, value*factor, -1) || beyond(want.Max, value*factor, 1) ||
			dimensional && (value < 0 || value*factor > design.MaxQuantity) {
			c.err("PARAMETER_OUT_OF_RANGE", at, "parameter %s is %s; set it to %s", want.Path, quantity(leaf), allowed(want))
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

// quantity is a leaf's value as people write it.
func quantity(l *design.Leaf) string {
	if s, ok := l.Value.(string); ok {
		return "'" + s + "'"
	}
	return fmt.Sprint(l.Value) + l.Unit
}

// allowed says in words what values a number may have.
func allowed(want *catalogue.Parameter) string {
	switch {
	case want.Min != nil && want.Max != nil:
		return "between " + quantity(want.Min) + " and " + quantity(want.Max)
	case want.Min != nil:
		return quantity(want.Min) + " or more, as far as the engine can count"
	case want.Max != nil:
		return "0 or more, and at most " + quantity(want.Max)
	}
	return "0 or more, as far as the engine can count"
}
