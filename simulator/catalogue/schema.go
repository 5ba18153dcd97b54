package catalogue

import (
	"encoding/json"
	"fmt"
	"strconv"

	"netsim/simulator/document"
)

// Schema is a tree of parameters for discovery: each leaf has its value and its definition
// in the model (completions.md section 2.3). Its JSON is that of Params with more members
// in the leaves.
type Schema map[string]SchemaNode

// SchemaNode is one node of the tree: a definition, or else a branch.
type SchemaNode struct {
	*Definition
	Branch Schema
}

// Definition is a leaf together with its definition in the model. A parameter that is not
// in the model has only the members of the leaf.
type Definition struct {
	document.Leaf
	Default     *string  `json:"default,omitempty"` // a string whatever the type (document 1, Versioning item 8)
	DefaultUnit string   `json:"defaultUnit,omitempty"`
	Description string   `json:"description,omitempty"`
	Min         *Bound   `json:"min,omitempty"`
	Max         *Bound   `json:"max,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	ReadOnly    bool     `json:"readonly,omitempty"`
	Group       string   `json:"group,omitempty"`
}

// Bound is the smallest or the largest value of a parameter.
type Bound struct {
	Value any    `json:"value"`
	Unit  string `json:"unit,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (n SchemaNode) MarshalJSON() ([]byte, error) {
	if n.Definition != nil {
		return json.Marshal(n.Definition)
	}
	return json.Marshal(n.Branch)
}

// Describe combines a tree of parameters with their definitions in a model.
func Describe(p document.Params, parameters []Parameter) Schema {
	known := make(map[string]*Parameter, len(parameters))
	for i := range parameters {
		known[parameters[i].Path] = &parameters[i]
	}
	return describe(p, "", known)
}

func describe(p document.Params, above string, known map[string]*Parameter) Schema {
	s := make(Schema, len(p))
	for name, node := range p {
		path := above + name
		if node.Leaf == nil {
			s[name] = SchemaNode{Branch: describe(node.Branch, path+".", known)}
			continue
		}
		d := &Definition{Leaf: *node.Leaf}
		if model := known[path]; model != nil {
			defaultValue := shown(model.Default.Value)
			d.Default, d.DefaultUnit = &defaultValue, model.Default.Unit
			d.Description, d.Group, d.Enum, d.ReadOnly = model.Description, model.Group, model.Enum, model.ReadOnly
			d.Min, d.Max = bound(model.Min), bound(model.Max)
		}
		s[name] = SchemaNode{Definition: d}
	}
	return s
}

func bound(l *document.Leaf) *Bound {
	if l == nil {
		return nil
	}
	return &Bound{l.Value, l.Unit}
}

// shown formats a value; numbers have no exponent.
func shown(value any) string {
	if f, ok := value.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}
