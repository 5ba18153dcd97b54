package validation

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"netsim/simulator/design"
)

const maxUint = 1<<53 - 1

// CheckParams checks the form of a tree of parameters: branches hold objects,
// and leaves a value of their type. The error names the path, in the words of
// completions.md section 4.1.
func CheckParams(path string, text []byte) error {
	if len(text) == 0 {
		return nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil || members == nil {
		return fmt.Errorf("%s must be an object", path)
	}
	_, value := members["value"]
	_, kind := members["type"]
	if value && kind {
		return checkLeaf(path, members)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if err := CheckParams(path+"."+name, members[name]); err != nil {
			return err
		}
	}
	return nil
}

func checkLeaf(path string, members map[string]json.RawMessage) error {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if name != "value" && name != "type" && name != "unit" {
			return fmt.Errorf("%s.%s is unknown", path, name)
		}
	}
	var kind, unit string
	if json.Unmarshal(members["type"], &kind) != nil {
		return fmt.Errorf("%s.type must be a string", path)
	}
	if raw, given := members["unit"]; given && json.Unmarshal(raw, &unit) != nil {
		return fmt.Errorf("%s.unit must be a string", path)
	}
	var value any
	if err := json.Unmarshal(members["value"], &value); err != nil {
		return fmt.Errorf("%s.value cannot be read", path)
	}
	if !wellTyped(kind, value) {
		return fmt.Errorf("%s.value must be that of a %s, got %.64s", path, kind, members["value"])
	}
	return nil
}

func wellTyped(kind string, value any) bool {
	switch kind {
	case "bool":
		_, ok := value.(bool)
		return ok
	case "string":
		_, ok := value.(string)
		return ok
	case "uint":
		n, ok := value.(float64)
		return ok && n >= 0 && n <= maxUint && n == math.Trunc(n)
	case "double", "bytes", "datarate", "timeval":
		_, ok := value.(float64)
		return ok
	}
	return false
}

// base returns what one of a unit is in the type's base unit (byte, bit/s,
// second), and whether the type has the unit.
func base(kind, unit string) (float64, bool) {
	switch kind {
	case "bytes":
		f, ok := map[string]float64{"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20}[unit]
		return f, ok
	case "datarate":
		f, ok := map[string]float64{"bps": 1, "Kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12}[unit]
		return f, ok
	case "timeval":
		f, ok := map[string]float64{"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[unit]
		return f, ok
	}
	return 1, unit == ""
}

// find returns the leaf at a path, whose steps are separated by dots, or nil.
func find(p design.Params, path string) *design.Leaf {
	step, rest, deeper := strings.Cut(path, ".")
	node, ok := p[step]
	switch {
	case !ok:
		return nil
	case deeper:
		return find(node.Branch, rest)
	}
	return node.Leaf
}

// each visits the leaves of a tree in the order of their paths.
func each(p design.Params, path string, visit func(path string, l *design.Leaf)) {
	for _, name := range slices.Sorted(maps.Keys(p)) {
		at := name
		if path != "" {
			at = path + "." + name
		}
		if leaf := p[name].Leaf; leaf != nil {
			visit(at, leaf)
			continue
		}
		each(p[name].Branch, at, visit)
	}
}
