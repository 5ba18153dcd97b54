package validation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"netsim/simulator/catalogue"
	"netsim/simulator/document"
)

// Patch changes some leaves of a tree of parameters and returns the new tree. It does
// not modify stored; the new tree shares the unchanged nodes with it. The patch has the
// nesting of the stored tree down to each leaf that it changes. Either all leaves change
// or none. An absent optional parameter can be patched as if its default were stored.
// Values beyond a minimum or maximum are accepted: Check reports them.
//
// Every error is the client's; its text is the message of a 400 and names the position
// below path (completions.md section 3.7).
func Patch(path string, stored document.Params, patch []byte, schema []catalogue.Parameter) (document.Params, error) {
	members, err := object(path, patch)
	if err != nil {
		return nil, err
	}
	return patchTree(path, stored, members, schema)
}

// PatchGlobals is Patch for global parameters, some sections of which only the service
// sets (completions.md section 3.3).
func PatchGlobals(path string, stored document.Params, patch []byte) (document.Params, error) {
	members, err := object(path, patch)
	if err != nil {
		return nil, err
	}
	for _, name := range sortedKeys(members) {
		if OfService(name) {
			return nil, fmt.Errorf("%s.%s is set by the service", path, name)
		}
	}
	return patchTree(path, stored, members, catalogue.Globals())
}

func patchTree(path string, stored document.Params, members map[string]any, schema []catalogue.Parameter) (document.Params, error) {
	p := patching{schema: map[string]*catalogue.Parameter{}}
	for i := range schema {
		p.schema[schema[i].Path] = &schema[i]
	}
	return p.branch(path, "", stored, members)
}

// OfService reports whether a section of the global parameters is set by the
// service, never by a client, and left out of replies.
func OfService(section string) bool {
	return section == "ComputeConfiguration" || section == "ParallelizationParameters"
}

type patching struct {
	schema map[string]*catalogue.Parameter // by path
}

// branch patches the nodes below one node. path is for messages, key for the schema.
func (p patching) branch(path, key string, stored document.Params, patch map[string]any) (document.Params, error) {
	if len(patch) == 0 {
		return nil, fmt.Errorf("%s must name at least one parameter to change", path)
	}
	patched := maps.Clone(stored)
	for _, name := range sortedKeys(patch) {
		node, there := stored[name]
		if known := p.schema[join(key, name)]; !there && known != nil && known.Optional {
			node, there = document.Param{Leaf: &known.Default}, true
		}
		if !there {
			return nil, fmt.Errorf("%s.%.64s does not exist", path, name)
		}
		var err error
		if patched[name], err = p.node(path+"."+name, join(key, name), node, patch[name]); err != nil {
			return nil, err
		}
	}
	return patched, nil
}

func (p patching) node(path, key string, stored document.Param, patch any) (document.Param, error) {
	members, ok := patch.(map[string]any)
	switch {
	case !ok:
		return document.Param{}, fmt.Errorf("%s must be an object", path)
	case stored.Leaf == nil && isLeaf(members):
		return document.Param{}, fmt.Errorf("%s is a section of parameters, not a parameter", path)
	case stored.Leaf == nil:
		branch, err := p.branch(path, key, stored.Branch, members)
		return document.Param{Branch: branch}, err
	}
	leaf, err := p.leaf(path, key, stored.Leaf, members)
	return document.Param{Leaf: leaf}, err
}

func (p patching) leaf(path, key string, stored *document.Leaf, members map[string]any) (*document.Leaf, error) {
	_, typed := members["type"]
	_, valued := members["value"]
	switch {
	case !typed && !valued:
		return nil, fmt.Errorf("%s is a parameter, not a section: it needs a value and the type '%s'", path, stored.Type)
	case !typed:
		return nil, fmt.Errorf("%s.type is missing, it must be '%s'", path, stored.Type)
	case !valued:
		return nil, fmt.Errorf("%s.value is missing", path)
	}
	if kind, _ := members["type"].(string); kind != stored.Type {
		return nil, fmt.Errorf("%s.type must be '%s' as it is stored, got %s", path, stored.Type, shown(members["type"]))
	}
	leaf, err := leafOf(path, members)
	if err != nil {
		return nil, err
	}
	known := p.schema[key]
	if known == nil {
		known = &catalogue.Parameter{}
	}
	if known.ReadOnly {
		return nil, fmt.Errorf("%s is read-only", path)
	}
	if text, ok := leaf.Value.(string); ok {
		if known.Enum != nil && !slices.Contains(known.Enum, text) {
			return nil, fmt.Errorf("%s.value must be one of [%s], got '%.64s'", path, strings.Join(known.Enum, ", "), text)
		}
		if strings.ContainsAny(text, forbidden) {
			return nil, fmt.Errorf("%s.value must not hold any of [ ] { } ( ) ' \" ; $ * ? # ~ ` | & < > \\ or a line break, got %s",
				path, shown(text))
		}
	}
	return leaf, checkUnit(path, leaf)
}

// forbidden has the characters that strings of a patch must not contain, including all
// line breaks.
const forbidden = "[]{}()'\";$*?#~`|&<>\\" + "\n\v\f\r\u0085\u2028\u2029"

func checkUnit(path string, l *document.Leaf) error {
	if _, known := document.Unit(l.Type, l.Unit); known {
		return nil
	}
	switch may := units(l.Type); {
	case may == "":
		return fmt.Errorf("%s.unit must not be given: a %s has none, got '%.64s'", path, l.Type, l.Unit)
	case l.Unit == "":
		return fmt.Errorf("%s.unit is missing, it must be one of [%s]", path, may)
	default:
		return fmt.Errorf("%s.unit must be one of [%s], got '%.64s'", path, may, l.Unit)
	}
}

// object reads the text of a JSON object. Numbers keep their digits until their type
// is known.
func object(path string, text []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var members map[string]any
	if err := d.Decode(&members); err != nil || members == nil || d.More() {
		return nil, errors.New(path + " must be an object")
	}
	return members, nil
}

// shown formats a value for messages.
func shown(value any) string {
	text, err := json.Marshal(value)
	if err != nil { // NaN or an infinity, which JSON does not have
		return fmt.Sprint(value)
	}
	return fmt.Sprintf("%.64s", text)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
