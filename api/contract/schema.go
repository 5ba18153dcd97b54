package contract

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// schema is a compiled schema object. Values are as encoding/json decodes them
// with UseNumber: nil, bool, string, json.Number, []any and map[string]any.
type schema struct {
	types []string // empty: any type
	enum  []any

	min, max *float64 // exact up to 2^53

	minLength int
	maxLength *int
	pattern   *regexp.Regexp
	form      string // what the pattern means, in words
	format    string

	required   []string
	properties map[string]*schema
	open       bool    // other members are allowed
	other      *schema // of other members; nil: anything

	items              *schema
	minItems, maxItems *int
}

// check returns the first violation in a fixed order as a message, or "".
// path names the value; it is empty for the whole body. In strict mode, objects
// with named members hold no others even where the contract leaves them open.
func (s *schema) check(path string, value any, strict bool) string {
	if message := s.checkType(path, value); message != "" {
		return message
	}
	if len(s.enum) > 0 && !s.inEnum(value) {
		return name(path) + " must be one of " + s.choices() + ", got " + show(value)
	}
	switch v := value.(type) {
	case string:
		return s.checkString(path, v)
	case json.Number:
		return s.checkNumber(path, v)
	case []any:
		return s.checkArray(path, v, strict)
	case map[string]any:
		return s.checkObject(path, v, strict)
	}
	return ""
}

func (s *schema) checkType(path string, value any) string {
	if len(s.types) == 0 || slices.ContainsFunc(s.types, func(t string) bool { return isType(value, t) }) {
		return ""
	}
	nouns := make([]string, len(s.types))
	for i, t := range s.types {
		nouns[i] = nounOf[t]
	}
	return name(path) + " must be " + strings.Join(nouns, " or ") + ", got " + show(value)
}

func isType(value any, t string) bool {
	switch v := value.(type) {
	case nil:
		return t == "null"
	case bool:
		return t == "boolean"
	case string:
		return t == "string"
	case json.Number:
		return t == "number" || t == "integer" && !strings.ContainsAny(string(v), ".eE")
	case []any:
		return t == "array"
	case map[string]any:
		return t == "object"
	}
	return false
}

func (s *schema) inEnum(value any) bool {
	if n, ok := value.(json.Number); ok {
		f, err := n.Float64()
		return err == nil && slices.Contains(s.enum, any(f))
	}
	switch value.(type) {
	case []any, map[string]any:
		return false // not comparable, and no enum of the contract holds one
	}
	return slices.Contains(s.enum, value)
}

func (s *schema) checkString(path, v string) string {
	length := utf8.RuneCountInString(v)
	tooLong := s.maxLength != nil && length > *s.maxLength
	if length >= s.minLength && !tooLong && (s.pattern == nil || s.pattern.MatchString(v)) {
		return s.checkFormat(path, v)
	}
	switch {
	case s.form != "":
		return name(path) + " must be " + s.form + ", got " + show(v)
	case s.pattern != nil && length >= s.minLength && !tooLong:
		return name(path) + " must match " + s.pattern.String() + ", got " + show(v)
	}
	return name(path) + " must have " + count(s.minLength, s.maxLength, "characters") + ", got " + strconv.Itoa(length)
}

func (s *schema) checkFormat(path, v string) string {
	if f, known := formats[s.format]; known && !f.valid(v) {
		return name(path) + " must be " + f.noun + ", got " + show(v)
	}
	return ""
}

func (s *schema) checkNumber(path string, v json.Number) string {
	f, err := v.Float64()
	if s.min != nil && f < *s.min || s.max != nil && f > *s.max {
		return name(path) + " must be " + s.bounds() + ", got " + show(v)
	}
	if err == nil && slices.Contains(s.types, "integer") {
		_, err = strconv.ParseInt(string(v), 10, 64)
	}
	if err != nil {
		return name(path) + " must fit in 64 bits, got " + show(v)
	}
	return ""
}

func (s *schema) checkArray(path string, v []any, strict bool) string {
	if len(v) < at(s.minItems, 0) || len(v) > at(s.maxItems, len(v)) {
		return name(path) + " must have " + count(at(s.minItems, 0), s.maxItems, "items") + ", got " + strconv.Itoa(len(v))
	}
	if s.items == nil {
		return ""
	}
	for i, item := range v {
		if message := s.items.check(path+"["+strconv.Itoa(i)+"]", item, strict); message != "" {
			return message
		}
	}
	return ""
}

func (s *schema) checkObject(path string, v map[string]any, strict bool) string {
	if !s.open || strict && len(s.properties) > 0 {
		for _, member := range slices.Sorted(maps.Keys(v)) {
			if _, known := s.properties[member]; !known {
				return join(path, clip(member)) + " is unknown; known members: " + s.members()
			}
		}
	}
	for _, member := range s.required {
		if _, present := v[member]; !present {
			return join(path, member) + " is required"
		}
	}
	for _, member := range slices.Sorted(maps.Keys(v)) {
		of, known := s.properties[member]
		if !known {
			of = s.other
		}
		if of == nil {
			continue
		}
		if message := of.check(join(path, clip(member)), v[member], strict); message != "" {
			return message
		}
	}
	return ""
}

func at(limit *int, otherwise int) int {
	if limit == nil {
		return otherwise
	}
	return *limit
}
