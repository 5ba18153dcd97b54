package document

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Params is a tree of parameters. An object that holds value and type is a
// leaf, any other object is a branch.
type Params map[string]Param

// Param is one node of the tree: a leaf, or else a branch.
type Param struct {
	*Leaf
	Branch Params
}

// Leaf is one parameter. Value is a float64, a bool or a string.
type Leaf struct {
	Value any    `json:"value"`
	Type  string `json:"type"`
	Unit  string `json:"unit,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (p Param) MarshalJSON() ([]byte, error) {
	if p.Leaf != nil {
		return json.Marshal(p.Leaf)
	}
	return json.Marshal(p.Branch)
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Param) UnmarshalJSON(text []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	_, value := members["value"]
	_, kind := members["type"]
	if value && kind {
		p.Leaf = new(Leaf)
		return json.Unmarshal(text, p.Leaf)
	}
	p.Branch = nil
	if members != nil { // the text is not null
		p.Branch = make(Params, len(members))
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var below Param
		if err := below.UnmarshalJSON(members[name]); err != nil {
			return err
		}
		p.Branch[name] = below
	}
	return nil
}

// Find returns the node at a path, whose steps are separated by dots.
func (p Params) Find(path string) (Param, bool) {
	step, rest, deeper := strings.Cut(path, ".")
	node, there := p[step]
	if !deeper || !there {
		return node, there
	}
	return node.Branch.Find(rest)
}

// find returns the leaf at the path, or nil.
func (p Params) find(path string) *Leaf {
	node, _ := p.Find(path)
	return node.Leaf
}

// set puts a leaf at the path.
func (p Params) set(path string, l Leaf) {
	step, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		p[step] = Param{Leaf: &l}
		return
	}
	if p[step].Branch == nil {
		p[step] = Param{Branch: Params{}}
	}
	p[step].Branch.set(rest, l)
}

// Unit returns the size of a unit in the base unit of a leaf's type (byte, bit/s,
// picosecond), and whether the type has the unit (completions.md section 3.2).
func Unit(kind, unit string) (float64, bool) {
	switch kind + " " + unit {
	case "bytes B", "datarate bps", "timeval ps", "uint ", "double ", "string ", "bool ":
		return 1, true
	case "bytes KB", "datarate Kbps", "timeval ns":
		return 1e3, true
	case "bytes MB", "datarate Mbps", "timeval us":
		return 1e6, true
	case "bytes GB", "datarate Gbps", "timeval ms":
		return 1e9, true
	case "datarate Tbps", "timeval s":
		return 1e12, true
	case "bytes KiB":
		return 1 << 10, true
	case "bytes MiB":
		return 1 << 20, true
	}
	return 1, false
}

// MaxQuantity bounds a quantity in its base unit (B, bit/s, ps). It is more than a day in
// picoseconds, and small enough that the sum of several quantities fits into 64 bits.
const MaxQuantity = 1 << 57

// quantity returns the parameter in its base unit, rounded to an integer, or fallback if
// it is absent.
func (p Params) quantity(path, kind string, fallback int64) (int64, error) {
	l := p.find(path)
	if l == nil {
		return fallback, nil
	}
	number, ok := l.Value.(float64)
	factor, known := Unit(kind, l.Unit)
	if !ok || !known || l.Type != kind {
		return 0, fmt.Errorf("parameter %s is %v %s, not a %s", path, l.Value, l.Unit, kind)
	}
	base := math.Round(number * factor)
	if base < 0 || base > MaxQuantity {
		return 0, fmt.Errorf("parameter %s is out of range: %v %s", path, l.Value, l.Unit)
	}
	return int64(base), nil
}

// text returns a string parameter, or fallback if it is absent.
func (p Params) text(path, fallback string) string {
	if l := p.find(path); l != nil {
		if s, ok := l.Value.(string); ok {
			return s
		}
	}
	return fallback
}

// quantities reads several parameters and keeps the first error.
type quantities struct {
	params Params
	err    error
}

func (q *quantities) get(path, kind string, fallback int64) int64 {
	v, err := q.params.quantity(path, kind, fallback)
	if q.err == nil {
		q.err = err
	}
	return v
}

func uintOf(n int) Leaf { return Leaf{Value: float64(n), Type: "uint"} }

// ParseParams reads a tree of parameters from its JSON text.
func ParseParams(text string) (Params, error) {
	p := Params{}
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return nil, fmt.Errorf("read parameters: %w", err)
	}
	return p, nil
}
