package difference

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// changes gathers the lines that tell people what changed.
type changes struct{ lines []Change }

// place is where in a document a value is.
type place struct {
	subject string
	label   string // of the value within the subject, such as NumUpLinks
	joint   string // between the label and that of a member
	before  string // its path in the earlier document
	after   string // its path in the later one
}

// collection is a member that holds entities, which are subjects of their own.
type collection struct{ member, one string }

func collections() []collection {
	return []collection{{"applications", "application"}, {"components", "component"}, {"containers", "container"}, {"links", "link"}}
}

// document tells the entities first, then the members that are not.
func (c *changes) document(from, to map[string]any) {
	var told []string
	for _, of := range collections() {
		was, wasList := from[of.member].([]any)
		is, isList := to[of.member].([]any)
		if wasList && isList && named(was) && named(is) {
			c.entities(of, was, is)
			told = append(told, of.member)
		}
	}
	for _, name := range members(from, to) {
		if !slices.Contains(told, name) {
			c.member(place{subject: name, before: child("", name), after: child("", name)}, name, from, to)
		}
	}
}

func (c *changes) entities(of collection, from, to []any) {
	noun := func(value any) string {
		name, _ := nameOf(value)
		return of.one + " " + clip(name)
	}
	list := place{subject: of.member, label: of.member, before: child("", of.member), after: child("", of.member)}
	c.elements(list, from, to,
		func(kind string, at place, value any) {
			c.lines = append(c.lines, Change{
				Kind: kind, Subject: subjectOf(value, of.one), Path: at.path(kind),
				Text: noun(value) + " " + kind,
			})
		},
		func(at place, was, is any) {
			at.subject = subjectOf(is, of.one)
			c.value(at, was, is)
		})
}

// elements tells the elements of a list that are gone, those of the later one,
// and whether those in both stand in another order.
func (c *changes) elements(list place, from, to []any, alone func(kind string, at place, value any), both func(at place, was, is any)) {
	partner := align(from, to)
	origin := slices.Repeat([]int{-1}, len(to))
	for i, j := range partner {
		if j >= 0 {
			origin[j] = i
			continue
		}
		alone(Removed, place{subject: list.subject, before: element(list.before, i)}, from[i])
	}
	for j, i := range origin {
		at := place{subject: list.subject, after: element(list.after, j)}
		if i < 0 {
			alone(Added, at, to[j])
			continue
		}
		at.before = element(list.before, i)
		both(at, from[i], to[j])
	}
	if !slices.IsSorted(kept(partner)) {
		c.tell(Changed, list, "the order of "+list.label+" changed", nil, nil)
	}
}

func (c *changes) value(at place, from, to any) {
	if len(at.after) <= longestPath {
		switch was := from.(type) {
		case map[string]any:
			if is, ok := to.(map[string]any); ok && !whole(was) && !whole(is) {
				for _, name := range members(was, is) {
					c.member(at.member(name), name, was, is)
				}
				return
			}
		case []any:
			if is, ok := to.([]any); ok && named(was) && named(is) {
				c.list(at, was, is)
				return
			}
		}
	}
	if reflect.DeepEqual(from, to) {
		return
	}
	before, after := short(from), short(to)
	if before == after { // the difference is in what is not shown
		before, after = clip(string(raw(from))), clip(string(raw(to)))
	}
	c.tell(Changed, at, strings.TrimPrefix(fmt.Sprintf("%s %s → %s", at.label, before, after), " "), raw(from), raw(to))
}

// member tells a member of an object, which may be in one of them only.
func (c *changes) member(at place, name string, from, to map[string]any) {
	was, had := from[name]
	is, has := to[name]
	switch {
	case had && has:
		c.value(at, was, is)
	case had:
		c.tell(Removed, at, at.told(was)+" "+Removed, nil, nil)
	default:
		c.tell(Added, at, at.told(is)+" "+Added, nil, nil)
	}
}

// list tells the elements by their names; the label of the list is not shown.
func (c *changes) list(list place, from, to []any) {
	c.elements(list, from, to,
		func(kind string, at place, value any) {
			at.label = several(value) + subjectOf(value, "")
			c.tell(kind, at, at.label+" "+kind, nil, nil)
		},
		func(at place, was, is any) {
			name, _ := nameOf(is)
			at.label, at.joint = clip(name), " "
			c.value(at, was, is)
		})
}

func (c *changes) tell(kind string, at place, text string, before, after json.RawMessage) {
	colon := ": "
	if at.label == "" { // the subject itself
		colon = " "
	}
	c.lines = append(c.lines, Change{
		Kind: kind, Subject: at.subject, Path: at.path(kind), Before: before, After: after, Text: at.subject + colon + text,
	})
}

// path is where a change is, in the document that has it.
func (p place) path(kind string) string {
	if kind == Removed {
		return p.before
	}
	return p.after
}

// member is the place of a member. That parameters are typed goes without
// saying.
func (p place) member(name string) place {
	m := p
	m.before, m.after = child(p.before, name), child(p.after, name)
	if name != "typedParameters" {
		m.label, m.joint = clip(p.label+p.joint+name), "."
	}
	return m
}

// told names a value that is there or is not, and shows one that is short.
func (p place) told(value any) string {
	object, _ := value.(map[string]any)
	if p.label == "" || whole(object) {
		return strings.TrimPrefix(p.label+" "+short(value), " ")
	}
	return p.label
}

// named reports whether all elements have names to be told apart by.
func named(list []any) bool {
	return !slices.ContainsFunc(list, func(value any) bool {
		_, ok := nameOf(value)
		return !ok
	})
}

// subjectOf is an entity's type, or what it is called without one, and its
// name: "switch leaf".
func subjectOf(entity any, untyped string) string {
	kind, ok := text(entity, "type")
	if !ok {
		kind = untyped
	}
	name, _ := nameOf(entity)
	return clip(strings.TrimSpace(kind + " " + name))
}

// several is how many of a reference there are, as a prefix.
func several(reference any) string {
	object, _ := reference.(map[string]any)
	if count, ok := object["count"].(json.Number); ok && count != "1" {
		return count.String() + " × "
	}
	return ""
}

// whole reports whether an object is shown as one value: a parameter, or a
// reference to a resource.
func whole(object map[string]any) bool {
	_, hasID := text(object, "id")
	return isLeaf(object) || hasID
}

func isLeaf(object map[string]any) bool {
	_, value := object["value"]
	_, kind := object["type"]
	return value && kind
}

// short shows a value: a parameter by its value and unit, a resource by its
// name.
func short(value any) string {
	switch v := value.(type) {
	case map[string]any:
		name, hasName := nameOf(v)
		switch {
		case isLeaf(v):
			unit, _ := text(v, "unit")
			return strings.TrimSuffix(short(v["value"])+" "+clip(unit), " ")
		case whole(v) && hasName:
			return clip(name)
		}
	case string:
		if v != "" {
			return clip(v)
		}
	case json.Number:
		return clip(v.String())
	}
	return clip(string(raw(value)))
}

// longestShown bounds what a line shows of one value, in characters.
const longestShown = 128

func clip(s string) string {
	n := 0
	for i := range s {
		if n++; n > longestShown {
			return s[:i] + "…"
		}
	}
	return s
}
