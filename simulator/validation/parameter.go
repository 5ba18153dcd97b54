package validation

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"netsim/simulator/catalogue"
	"netsim/simulator/document"
)

// parameter checks one parameter against its schema. It returns the code and the
// message of a finding, or "".
func parameter(p document.Params, want *catalogue.Parameter) (code, message string) {
	node, there := p.Find(want.Path)
	leaf := node.Leaf
	switch {
	case !there && want.Optional:
		return "", ""
	case !there:
		return "PARAMETER_MISSING", fmt.Sprintf("parameter %s is missing; %s", want.Path, suggestion(want))
	case leaf == nil:
		return "CONSTRAINT_VIOLATION", fmt.Sprintf("parameter %s is a section of parameters; %s", want.Path, suggestion(want))
	case leaf.Type != want.Default.Type || !wellTyped(leaf.Type, leaf.Value):
		return "CONSTRAINT_VIOLATION", fmt.Sprintf("parameter %s is %s of the type '%.64s'; %s", want.Path, shown(leaf.Value), leaf.Type, suggestion(want))
	}
	factor, known := document.Unit(leaf.Type, leaf.Unit)
	unitList := units(leaf.Type)
	switch {
	case !known && unitList == "":
		return "PARAMETER_UNIT_INVALID", fmt.Sprintf("parameter %s has the unit '%.64s', and a %s has none; remove the unit", want.Path, leaf.Unit, leaf.Type)
	case !known:
		return "PARAMETER_UNIT_INVALID", fmt.Sprintf("parameter %s has the unit '%.64s'; use one of [%s]", want.Path, leaf.Unit, unitList)
	}
	switch value := leaf.Value.(type) {
	case string:
		if want.Enum != nil && !slices.Contains(want.Enum, value) {
			return "PARAMETER_NOT_IN_ENUM", fmt.Sprintf("parameter %s is '%.64s'; choose one of [%s]", want.Path, value, strings.Join(want.Enum, ", "))
		}
	case float64:
		if beyond(want.Min, value*factor, -1) || beyond(want.Max, value*factor, 1) ||
			unitList != "" && (value < 0 || value*factor > document.MaxQuantity) {
			return "PARAMETER_OUT_OF_RANGE", fmt.Sprintf("parameter %s is %s; set it to %s", want.Path, quantity(leaf), allowed(want))
		}
	}
	return "", ""
}

// suggestion returns advice on how to set the parameter.
func suggestion(want *catalogue.Parameter) string {
	return "give it a " + want.Default.Type + " such as " + quantity(&want.Default)
}

// beyond reports whether a value in base units is past a bound: above it if sign is
// positive, below it if sign is negative.
func beyond(bound *document.Leaf, value, sign float64) bool {
	if bound == nil {
		return false
	}
	factor, _ := document.Unit(bound.Type, bound.Unit)
	limit, _ := bound.Value.(float64)
	return sign*(value-limit*factor) > 0
}

// quantity formats a leaf's value with its unit.
func quantity(l *document.Leaf) string {
	switch value := l.Value.(type) {
	case string:
		return "'" + value + "'"
	case float64:
		return decimal(value) + l.Unit
	}
	return fmt.Sprint(l.Value)
}

// decimal formats a number without an exponent, unless it is very long.
func decimal(f float64) string {
	if size := math.Abs(f); size != 0 && (size < 1e-6 || size >= 1e15) {
		return fmt.Sprint(f)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// allowed describes the values that a number may have.
func allowed(want *catalogue.Parameter) string {
	switch {
	case want.Min != nil && want.Max != nil:
		return "between " + quantity(want.Min) + " and " + quantity(want.Max)
	case want.Min != nil:
		return quantity(want.Min) + " or more, up to the engine's limit"
	case want.Max != nil:
		return "0 or more, and at most " + quantity(want.Max)
	}
	return "0 or more, up to the engine's limit"
}
