package contract

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
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
	content   *schema // schema of JSON inside a string; nil: any string

	any []*schema // the value has the form of one of them; nil: of any

	required []string
	members  []member // ordered by name
	open     bool     // other members are allowed
	other    *schema  // schema of other members; nil: any value

	items    *schema
	minItems int
	maxItems *int
}

type member struct {
	name   string
	schema *schema
}

// check returns the first violation in a fixed order, or nil. Integers in a
// value that passes get their plain form (see whole). In strict mode, check refuses
// members that the schema does not name, even where the contract allows them.
func (s *schema) check(value any, strict bool) *violation {
	if len(s.types) > 0 && !slices.ContainsFunc(s.types, func(t string) bool { return isType(value, t) }) {
		return mustBe(s.nouns(), value)
	}
	if len(s.enum) > 0 && !s.inEnum(value) {
		return mustBe("one of "+s.choices(), value)
	}
	if found := s.checkAny(value, strict); found != nil {
		return found
	}
	switch v := value.(type) {
	case string:
		return s.checkString(v)
	case json.Number:
		return s.checkNumber(v)
	case []any:
		return s.checkArray(v, strict)
	case map[string]any:
		return s.checkObject(v, strict)
	}
	return nil
}

// checkAny returns how the value violates the first of several forms, if it has none of them.
func (s *schema) checkAny(value any, strict bool) *violation {
	var first *violation
	for _, form := range s.any {
		found := form.check(value, strict)
		if found == nil {
			return nil
		}
		if first == nil {
			first = found
		}
	}
	return first
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
		if t == "number" {
			return true
		}
		_, integer := whole(v)
		return t == "integer" && integer
	case []any:
		return t == "array"
	case map[string]any:
		return t == "object"
	}
	return false
}

func (s *schema) inEnum(value any) bool {
	switch v := value.(type) {
	case json.Number:
		f, err := v.Float64()
		return err == nil && slices.Contains(s.enum, any(f))
	case []any, map[string]any:
		return false // arrays and objects are not comparable, and no enum contains one
	}
	return slices.Contains(s.enum, value)
}

func (s *schema) checkString(v string) *violation {
	length := utf8.RuneCountInString(v)
	fits := length >= s.minLength && (s.maxLength == nil || length <= *s.maxLength)
	matches := s.pattern == nil || s.pattern.MatchString(v)
	switch {
	case s.form != "" && !(fits && matches):
		return mustBe(s.form, v)
	case !fits:
		return mustHave(s.minLength, s.maxLength, "characters", length)
	case !matches:
		return mustBe("of the form "+s.pattern.String(), v)
	}
	if f, known := formats[s.format]; known && !f.valid(v) {
		return mustBe(f.noun, v)
	}
	if s.content != nil {
		value, err := decode([]byte(v))
		if err != nil {
			return mustBe("json", v)
		}
		return s.content.check(value, true)
	}
	return nil
}

func (s *schema) checkNumber(v json.Number) *violation {
	f, err := v.Float64()
	if s.min != nil && f < *s.min || s.max != nil && f > *s.max {
		return mustBe(s.bounds(), v)
	}
	if err == nil && slices.Contains(s.types, "integer") {
		integer, _ := whole(v)
		_, err = strconv.ParseInt(string(integer), 10, 64)
	}
	if err != nil {
		return mustBe("a number of at most 64 bits", v)
	}
	return nil
}

func (s *schema) checkArray(v []any, strict bool) *violation {
	if len(v) < s.minItems || s.maxItems != nil && len(v) > *s.maxItems {
		return mustHave(s.minItems, s.maxItems, "items", len(v))
	}
	if s.items == nil {
		return nil
	}
	for i, item := range v {
		if found := s.items.check(item, strict); found != nil {
			return found.at("[" + strconv.Itoa(i) + "]")
		}
		v[i] = s.items.asInteger(item)
	}
	return nil
}

func (s *schema) checkObject(v map[string]any, strict bool) *violation {
	for _, name := range s.unnamed(v) {
		if !s.open || strict && len(s.members) > 0 {
			return (&violation{text: "is unknown; known members: " + s.memberNames()}).at(clip(name))
		}
		if s.other == nil {
			break
		}
		if found := s.other.check(v[name], strict); found != nil {
			return found.at(clip(name))
		}
		v[name] = s.other.asInteger(v[name])
	}
	for _, name := range s.required {
		if _, present := v[name]; !present {
			return (&violation{text: "is required"}).at(name)
		}
	}
	for _, m := range s.members {
		value, present := v[m.name]
		if !present {
			continue
		}
		if found := m.schema.check(value, strict); found != nil {
			return found.at(m.name)
		}
		v[m.name] = m.schema.asInteger(value)
	}
	return nil
}

// unnamed returns the members of v that the schema does not name, in order.
func (s *schema) unnamed(v map[string]any) []string {
	named := 0
	for _, m := range s.members {
		if _, present := v[m.name]; present {
			named++
		}
	}
	if named == len(v) {
		return nil
	}
	rest := make([]string, 0, len(v)-named)
	for name := range v {
		if !slices.ContainsFunc(s.members, func(m member) bool { return m.name == name }) {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	return rest
}
