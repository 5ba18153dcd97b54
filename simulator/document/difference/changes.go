package difference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// changes collects the changes as lines for people.
type changes struct{ lines []Change }

// position is the position of a value in a document.
type position struct {
	subject string
	label   string // of the value within the subject, such as NumUpLinks
	joint   string // separates the label from that of a member
	before  string // its path in the earlier document
	after   string // its path in the later one
}

// collection is a member of a document that holds entities. Each entity is a subject of its own.
type collection struct{ member, one string }

func collections() []collection {
	return []collection{{"applications", "application"}, {"components", "component"}, {"containers", "container"}, {"links", "link"}}
}

// document adds the changes of the entities, then those of the other members.
func (c *changes) document(from, to members) {
	var compared []string
	for _, coll := range collections() {
		if bytes.Equal(from[coll.member], to[coll.member]) {
			continue
		}
		if was, is, ok := namedLists(from[coll.member], to[coll.member]); ok {
			c.entities(coll, was, is)
			compared = append(compared, coll.member)
		}
	}
	for _, name := range namesIn(from, to) {
		if !slices.Contains(compared, name) {
			c.member(position{subject: name, before: child("", name), after: child("", name)}, name, from, to)
		}
	}
}

func (c *changes) entities(coll collection, from, to []value) {
	noun := func(v value) string {
		name, _ := nameOf(v)
		return coll.one + " " + clip(name)
	}
	list := position{subject: coll.member, label: coll.member, before: child("", coll.member), after: child("", coll.member)}
	c.elements(list, from, to,
		func(kind string, at position, v value) {
			c.lines = append(c.lines, Change{
				Kind: kind, Subject: subjectOf(v, coll.one), Path: at.path(kind),
				Text: noun(v) + " " + kind,
			})
		},
		func(at position, was, is value) {
			at.subject = subjectOf(is, coll.one)
			c.value(at, was, is)
		})
}

// elements adds the changes of a list. It calls alone for a removed or an added element,
// and both for an element that differs. It adds a change if the common elements are in
// another order.
func (c *changes) elements(list position, from, to []value, alone func(kind string, at position, v value), both func(at position, was, is value)) {
	partner := align(from, to)
	origin := slices.Repeat([]int{-1}, len(to))
	for i, j := range partner {
		if j >= 0 {
			origin[j] = i
			continue
		}
		alone(Removed, position{subject: list.subject, before: element(list.before, i)}, from[i])
	}
	for j, i := range origin {
		at := position{subject: list.subject, after: element(list.after, j)}
		if i < 0 {
			alone(Added, at, to[j])
			continue
		}
		if !bytes.Equal(from[i], to[j]) {
			at.before = element(list.before, i)
			both(at, from[i], to[j])
		}
	}
	if !slices.IsSorted(kept(partner)) {
		c.add(Changed, list, "the order of "+list.label+" changed", nil, nil)
	}
}

func (c *changes) value(at position, from, to value) {
	if bytes.Equal(from, to) {
		return
	}
	if len(at.after) <= longestPath {
		was, isObject := objectOf(from)
		is, staysObject := objectOf(to)
		if isObject && staysObject && !whole(was) && !whole(is) {
			for _, name := range namesIn(was, is) {
				c.member(at.member(name), name, was, is)
			}
			return
		}
		if was, is, ok := namedLists(from, to); ok {
			c.list(at, was, is)
			return
		}
	}
	before, after := short(from), short(to)
	if before == after { // the difference is in a part that is not shown
		before, after = clip(string(from)), clip(string(to))
	}
	c.add(Changed, at, strings.TrimPrefix(fmt.Sprintf("%s %s → %s", at.label, before, after), " "), from, to)
}

// member adds the changes of a member that is in at least one of the objects.
func (c *changes) member(at position, name string, from, to members) {
	was, had := from[name]
	is, has := to[name]
	switch {
	case had && has:
		c.value(at, was, is)
	case had:
		c.add(Removed, at, at.description(was)+" "+Removed, nil, nil)
	default:
		c.add(Added, at, at.description(is)+" "+Added, nil, nil)
	}
}

// list adds the changes of named elements, with their names instead of the list's label.
func (c *changes) list(list position, from, to []value) {
	c.elements(list, from, to,
		func(kind string, at position, v value) {
			at.label = several(v) + subjectOf(v, "")
			c.add(kind, at, at.label+" "+kind, nil, nil)
		},
		func(at position, was, is value) {
			name, _ := nameOf(is)
			at.label, at.joint = clip(name), " "
			c.value(at, was, is)
		})
}

func (c *changes) add(kind string, at position, text string, before, after value) {
	separator := ": "
	if at.label == "" { // the subject itself
		separator = " "
	}
	c.lines = append(c.lines, Change{
		Kind: kind, Subject: at.subject, Path: at.path(kind), Before: before, After: after, Text: at.subject + separator + text,
	})
}

// path returns the path in the later document, or in the earlier one for a removed value.
func (p position) path(kind string) string {
	if kind == Removed {
		return p.before
	}
	return p.after
}

// member returns the position of a member. The label omits typedParameters.
func (p position) member(name string) position {
	m := p
	m.before, m.after = child(p.before, name), child(p.after, name)
	if name != "typedParameters" {
		m.label, m.joint = clip(p.label+p.joint+name), "."
	}
	return m
}

// description returns the label of an added or removed value. It includes the value if there
// is no label or if the value is shown as a whole.
func (p position) description(v value) string {
	if object, _ := objectOf(v); p.label == "" || whole(object) {
		return strings.TrimPrefix(p.label+" "+short(v), " ")
	}
	return p.label
}

// namedLists reads two lists whose elements have names. It checks only the first element of
// each list.
func namedLists(from, to value) (was, is []value, ok bool) {
	was, isList := listOf(from)
	is, staysList := listOf(to)
	for _, list := range [][]value{was, is} {
		if len(list) > 0 {
			_, named := nameOf(list[0])
			isList = isList && named
		}
	}
	return was, is, isList && staysList
}

// subjectOf returns the type and the name of an entity, such as "switch leaf". An entity
// without a type has untyped instead.
func subjectOf(entity value, untyped string) string {
	object, _ := objectOf(entity)
	kind, ok := textOf(object, "type")
	if !ok {
		kind = untyped
	}
	name, _ := textOf(object, "name")
	return clip(strings.TrimSpace(kind + " " + name))
}

// several returns the count of a reference as a prefix, or nothing if it is 1.
func several(reference value) string {
	object, _ := objectOf(reference)
	if count := string(object["count"]); count != "" && count != "1" {
		return clip(count) + " × "
	}
	return ""
}

// whole reports whether an object is shown as one value: a parameter, or a
// reference to a resource.
func whole(object members) bool {
	_, hasID := textOf(object, "id")
	return isLeaf(object) || hasID
}

func isLeaf(object members) bool {
	_, hasValue := object["value"]
	_, hasType := object["type"]
	return hasValue && hasType
}

// short formats a value: a parameter by its value and unit, a resource by its name, a
// string without quotes.
func short(v value) string {
	object, _ := objectOf(v)
	name, hasName := textOf(object, "name")
	var text string
	switch {
	case isLeaf(object):
		unit, _ := textOf(object, "unit")
		return strings.TrimSuffix(short(object["value"])+" "+clip(unit), " ")
	case whole(object) && hasName:
		return clip(name)
	case json.Unmarshal(v, &text) == nil && text != "":
		return clip(text)
	}
	return clip(string(v))
}

// longestShown bounds the part of a value that a line shows, in characters.
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
