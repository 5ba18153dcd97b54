package service_test

import (
	"encoding/json"
	"maps"
	"slices"
)

type (
	object = map[string]any
	array  = []any
)

// versionModel models a version of a configuration: its name, and its document in plain
// JSON with all declared components. Its methods implement the edits of completions 3.5
// a second time and share no code with the service. Their comments name the rows of
// the table there.
type versionModel struct {
	account *editAccount
	Name    string
	Doc     object
}

// answer is the expected reply: the status, and the body unless it is nil.
type answer struct {
	status int
	body   any
}

// wholeDocument stands for the body of GET after the edit.
const wholeDocument = "the whole document"

func refused(status int) answer { return answer{status: status} }

func copyOf[T any](v T) T {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	var c T
	if err := json.Unmarshal(text, &c); err != nil {
		panic(err)
	}
	return c
}

func (s *versionModel) list(member string) array { return s.Doc[member].(array) }
func (s *versionModel) topology() object         { return s.Doc["topology"].(object) }

// find returns the declaration of a name and the member that contains it.
func (s *versionModel) find(name string) (string, object) {
	for _, member := range []string{"applications", "components", "containers", "links"} {
		for _, d := range s.list(member) {
			if d.(object)["name"] == name {
				return member, d.(object)
			}
		}
	}
	return "", nil
}

// declare is rows 7 and 11.
func (s *versionModel) declare(model, kind, name string) answer {
	known := s.account.models[model]
	if _, taken := s.find(name); known == nil || known["type"] != kind || taken != nil {
		return refused(400)
	}
	if known["trafficType"] == "chakra" && s.mapped() {
		return refused(422)
	}
	made := copyOf(known)
	made["name"] = name
	member := map[string]string{"application": "applications", "rack": "containers", "pod": "containers", "layer": "links"}[kind]
	if member == "" {
		member = "components"
	}
	if made["trafficType"] == "non-coordinated" {
		for _, kind := range []string{"client", "server"} {
			missing := 1 - s.sum(kind)
			if missing < -1e-9 {
				return refused(400)
			}
			s.addShare(name, kind, max(missing, 0))
		}
	}
	s.Doc[member] = append(s.list(member), made)
	s.setModels()
	s.setRanks()
	return answer{201, made}
}

// setRanks sets the number of Chakra files to the traceset's ranks.
func (s *versionModel) setRanks() {
	for _, c := range s.chakra() {
		c["NumOfChakraFiles"] = leaf("uint", s.ranks())
	}
}

func (s *versionModel) hasChakra() bool { return len(s.chakra()) > 0 }

// losesChakra reports whether the last Chakra application is gone while a traceset or
// mapping file is attached. had is whether there was a Chakra application before.
func (s *versionModel) losesChakra(had bool) bool {
	return had && !s.hasChakra() && (s.mapped() || s.Doc["activeTraceset"] != nil)
}

// remove is rows 8 and 12: it removes a part and all references to it.
func (s *versionModel) remove(name string, application bool) answer {
	member, declared := s.find(name)
	if declared == nil || (member == "applications") != application {
		return refused(404)
	}
	had := s.hasChakra()
	s.Doc[member] = slices.DeleteFunc(s.list(member), func(d any) bool { return d.(object)["name"] == name })
	if s.losesChakra(had) {
		return refused(409)
	}
	for _, h := range s.holders() {
		h["components"] = slices.DeleteFunc(h["components"].(array), func(ref any) bool {
			return ref.(object)["name"] == name || ref.(object)["parentApplicationName"] == name
		})
	}
	if d, ok := s.topology()["appDistribution"].(object); ok {
		d["randomApplicationDistribution"] = slices.DeleteFunc(s.shares(), func(e any) bool { return e.(object)["parentApplication"] == name })
	}
	if !application {
		return answer{204, nil}
	}
	for _, kind := range []string{"client", "server"} {
		s.rescale(kind)
	}
	return answer{200, nil}
}

// holders returns all parts with references, the topology first.
func (s *versionModel) holders() []object {
	all := []object{s.topology()}
	for _, member := range []string{"containers", "components"} {
		for _, d := range s.list(member) {
			all = append(all, d.(object))
		}
	}
	return all
}

// holder returns the part that a path names, or the status of the refusal.
func (s *versionModel) holder(in, name string) (object, int) {
	member, d := s.find(name)
	switch {
	case in == "topology":
		return s.topology(), 0
	case in == "containers" && member != "containers", in == "configurations" && member != "components":
		return nil, 404
	case in == "configurations" && d["type"] != "server":
		return nil, 400
	}
	return d, 0
}

func at(holder object, name string) int {
	return slices.IndexFunc(holder["components"].(array), func(ref any) bool { return ref.(object)["name"] == name })
}

// addReference is rows 14, 18 and 27.
func (s *versionModel) addReference(in, holder string, ref object) answer {
	h, status := s.holder(in, holder)
	if status != 0 {
		return refused(status)
	}
	if !slices.Contains(h["allowedComponents"].(array), ref["type"]) {
		return refused(400)
	}
	name := ref["name"].(string)
	_, declared := s.find(name)
	switch {
	case declared == nil && in == "containers":
		return refused(400)
	case declared == nil:
		return refused(404)
	case declared["type"] != ref["type"], at(h, name) >= 0:
		return refused(400)
	}
	if ref["type"] == "application" {
		parent, _ := ref["parentApplicationName"].(string)
		if member, _ := s.find(parent); member != "applications" {
			return refused(400)
		}
	}
	ref = copyOf(ref)
	ref["model"], ref["version"] = declared["model"], declared["version"]
	h["components"] = append(h["components"].(array), ref)
	return answer{200, h}
}

// changeReference is rows 15, 20 and 28.
func (s *versionModel) changeReference(in, holder, name string, change object) answer {
	h, status := s.holder(in, holder)
	if status != 0 {
		return refused(status)
	}
	i := at(h, name)
	if i < 0 {
		return refused(404)
	}
	ref := h["components"].(array)[i].(object)
	maps.Copy(ref, copyOf(change))
	if ref["group"] == "" {
		delete(ref, "group")
	}
	return answer{200, h}
}

// removeReference is rows 16, 21 and 29.
func (s *versionModel) removeReference(in, holder, name string) answer {
	h, status := s.holder(in, holder)
	if status != 0 {
		return refused(status)
	}
	i := at(h, name)
	if i < 0 {
		return refused(404)
	}
	h["components"] = slices.Delete(h["components"].(array), i, i+1)
	return answer{204, nil}
}

// patch is rows 9, 13, 24 and 25. The rules of completions 3.7 allow the patch in every
// tree that has its names, except in the parameters of the model c.forbidden.
func (s *versionModel) patch(member, name string, c parameters) answer {
	tree := s.Doc["globalParameters"]
	if member != "" {
		where, declared := s.find(name)
		if where != member {
			return refused(404)
		}
		tree = declared["typedParameters"]
		if c.forbidden == declared["model"] {
			return refused(400)
		}
	}
	if c.forbidden == "everywhere" || len(c.patch) == 0 || !repeats(tree.(object), c.patch) {
		return refused(400)
	}
	if chakra, ok := c.patch["ChakraConfiguration"].(object); ok && chakra["UseMapping"] != nil && s.mapped() {
		return refused(422)
	}
	overlay(tree.(object), copyOf(c.patch))
	return answer{200, tree}
}

func isLeaf(o object) bool { return o["value"] != nil && o["type"] != nil }

// repeats reports whether a patch has the same nesting and types as the tree.
func repeats(tree, patch object) bool {
	for name, p := range patch {
		node, there := tree[name].(object)
		if !there || isLeaf(node) != isLeaf(p.(object)) {
			return false
		}
		if isLeaf(node) && node["type"] != p.(object)["type"] || !isLeaf(node) && (len(p.(object)) == 0 || !repeats(node, p.(object))) {
			return false
		}
	}
	return true
}

func overlay(tree, patch object) {
	for name, p := range patch {
		if isLeaf(p.(object)) {
			tree[name] = p
		} else {
			overlay(tree[name].(object), p.(object))
		}
	}
}
