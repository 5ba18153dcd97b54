package plan

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// Field is the parsed path of a field: its steps from the base.
type Field []Step

// Step goes to a member of an object, and then to an element of it: an array's by its
// index, a declaration's by its name. The element is "" if there is none.
type Step struct{ Member, Element string }

// MaxField is the length of the longest path of a field.
const MaxField = 255

// stepForm is a member, and an index or a name in brackets.
var stepForm = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_]*)(?:\[([A-Za-z0-9][A-Za-z0-9._-]*)\])?(\.|$)`) //nolint:gochecknoglobals // it is constant

// parse reads the path of a field.
func parse(path string) (Field, error) {
	var f Field
	for rest := path; ; {
		m := stepForm.FindStringSubmatch(rest)
		if m == nil || len(path) > MaxField {
			return nil, fmt.Errorf("must be a path such as workload.phases[0].dataSize, got %q", path)
		}
		f = append(f, Step{m[1], m[2]})
		rest = rest[len(m[0]):]
		if rest == "" && m[3] == "" {
			return f, nil
		}
	}
}

// FieldOf returns the steps of the field of an axis that New has checked.
func FieldOf(a Axis) Field {
	f, _ := parse(a.Field)
	return f
}

// within reports whether the field is another one, or a part of it, as both are written.
func (f Field) within(other Field) bool {
	return len(f) >= len(other) && slices.EqualFunc(f[:len(other)], other, Step.holds)
}

// holds reports whether a step leads to what another one goes through: to the same member,
// and to all of its elements or the same one.
func (s Step) holds(other Step) bool {
	return s.Member == other.Member && (other.Element == "" || s.Element == other.Element)
}

// in returns the field with the indexes of its elements in a tree of decoded JSON, as far as
// the tree has them.
func (f Field) in(tree map[string]any) Field {
	f = slices.Clone(f)
	for i, s := range f {
		there := tree[s.Member]
		if s.Element != "" {
			list, _ := there.([]any)
			k, err := index(list, s.Element)
			if err != nil {
				return f
			}
			f[i].Element, there = strconv.Itoa(k), list[k]
		}
		tree, _ = there.(map[string]any)
	}
	return f
}

// errNoField is the error of a path that leads nowhere.
var errNoField = errors.New("the base has no such field")

// Set sets the field in a tree of decoded JSON. It makes the objects on the way, and
// neither elements nor a field below a value that is not an object.
func (f Field) Set(tree map[string]any, value any) error {
	for _, s := range f[:len(f)-1] {
		next, err := s.into(tree)
		if err != nil {
			return err
		}
		tree = next
	}
	last := f[len(f)-1]
	if last.Element == "" {
		tree[last.Member] = value
		return nil
	}
	list, _ := tree[last.Member].([]any)
	i, err := index(list, last.Element)
	if err == nil {
		list[i] = value
	}
	return err
}

// into returns the object that a step goes to.
func (s Step) into(tree map[string]any) (map[string]any, error) {
	there, has := tree[s.Member]
	if s.Element != "" {
		list, _ := there.([]any)
		i, err := index(list, s.Element)
		if err != nil {
			return nil, err
		}
		there = list[i]
	} else if !has {
		there = map[string]any{}
		tree[s.Member] = there
	}
	object, is := there.(map[string]any)
	if !is {
		return nil, errNoField
	}
	return object, nil
}

// index returns the index of an element, which is given by its index or by its name.
func index(list []any, text string) (int, error) {
	i, err := strconv.Atoi(text)
	if err != nil {
		i = slices.IndexFunc(list, func(item any) bool {
			declaration, _ := item.(map[string]any)
			return declaration["name"] == text
		})
	}
	if i < 0 || i >= len(list) {
		return 0, errNoField
	}
	return i, nil
}
