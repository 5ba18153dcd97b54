package validation

import (
	"encoding/json"
	"fmt"
	"math"

	"netsim/simulator/document"
)

const maxUint = 1<<53 - 1

// Bounds on the depth of a tree of parameters and on the length of its names. The
// catalogue's trees have at most three levels, and its names at most 40 bytes.
const (
	maxDepth = 16
	maxName  = 128
)

// CheckParams checks the form of a tree of parameters: branches hold objects,
// and leaves hold a value of their type. The error names the path and is worded
// as in completions.md section 4.1.
func CheckParams(path string, text []byte) error {
	if len(text) == 0 {
		return nil
	}
	members, err := object(path, text)
	if err != nil {
		return err
	}
	return checkBranch(path, members, maxDepth)
}

// CheckParamTrees is CheckParams for the parameters of every declaration of a document
// that encoding/json has decoded into an any. It does not check whether they are those of
// the models.
func CheckParamTrees(doc any) error {
	members, _ := doc.(map[string]any)
	for _, collection := range []string{document.Components, document.Links, document.Applications} {
		list, _ := members[collection].([]any)
		for i := range list {
			declared, _ := list[i].(map[string]any)
			tree, given := declared["typedParameters"]
			if !given {
				continue
			}
			if err := CheckParamTree(fmt.Sprintf("%s[%d].typedParameters", collection, i), tree); err != nil {
				return err
			}
		}
	}
	return nil
}

// CheckParamTree is CheckParams for a tree that encoding/json has decoded into an any.
func CheckParamTree(path string, tree any) error {
	members, ok := tree.(map[string]any)
	if !ok {
		return fmt.Errorf("%s must be an object", path)
	}
	return checkBranch(path, members, maxDepth)
}

func checkBranch(path string, members map[string]any, depth int) error {
	if depth == 0 {
		return fmt.Errorf("%.256s is more than %d levels deep", path, maxDepth)
	}
	for _, name := range sortedKeys(members) {
		at := path + "." + name
		if len(name) > maxName {
			return fmt.Errorf("%s.%.64s is longer than %d characters", path, name, maxName)
		}
		below, ok := members[name].(map[string]any)
		if !ok {
			return fmt.Errorf("%.256s must be an object", at)
		}
		var err error
		if isLeaf(below) {
			_, err = leafOf(at, below)
		} else {
			err = checkBranch(at, below, depth-1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isLeaf reports whether a node is a leaf and not a branch (completions.md section
// 3.2).
func isLeaf(members map[string]any) bool {
	_, value := members["value"]
	_, kind := members["type"]
	return value && kind
}

// leafOf reads a leaf from its members. A number is a json.Number or a float64.
func leafOf(path string, members map[string]any) (*document.Leaf, error) {
	for _, name := range sortedKeys(members) {
		if name != "value" && name != "type" && name != "unit" {
			return nil, fmt.Errorf("%s.%.64s is unknown", path, name)
		}
	}
	l := new(document.Leaf)
	var ok bool
	if l.Type, ok = members["type"].(string); !ok {
		return nil, fmt.Errorf("%s.type must be a string", path)
	}
	if unit := members["unit"]; unit != nil {
		if l.Unit, ok = unit.(string); !ok {
			return nil, fmt.Errorf("%s.unit must be a string", path)
		}
	}
	l.Value = members["value"]
	if number, ok := l.Value.(json.Number); ok {
		f, err := number.Float64()
		if err != nil {
			return nil, fmt.Errorf("%s.value %.64s is too large", path, number)
		}
		l.Value = f
	}
	if !wellTyped(l.Type, l.Value) {
		return nil, fmt.Errorf("%s.value must be that of a %.64s, got %s", path, l.Type, shown(members["value"]))
	}
	return l, nil
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
		n, ok := value.(float64)
		return ok && !math.IsNaN(n) && !math.IsInf(n, 0)
	}
	return false
}

// units lists the units of a type for a message. It returns "" if the type has none.
func units(kind string) string {
	switch kind {
	case "bytes":
		return "B, KB, MB, GB, KiB, MiB"
	case "datarate":
		return "bps, Kbps, Mbps, Gbps, Tbps"
	case "timeval":
		return "ps, ns, us, ms, s"
	}
	return ""
}

// number returns a parameter in its base unit, 0 if there is none.
func number(p document.Params, path string) float64 {
	node, _ := p.Find(path)
	if node.Leaf == nil {
		return 0
	}
	n, _ := node.Value.(float64)
	factor, _ := document.Unit(node.Type, node.Unit)
	return n * factor
}

// word returns a string parameter, "" if there is none.
func word(p document.Params, path string) string {
	node, _ := p.Find(path)
	if node.Leaf == nil {
		return ""
	}
	s, _ := node.Value.(string)
	return s
}
