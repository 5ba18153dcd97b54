package conformance_test

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
)

// probe is a value just outside a bound of a schema, and a value just inside.
type probe struct {
	at      string // path of the value, which the refusal names
	what    string // why outside is refused
	outside any
	inside  any // nil if there is none
}

// deepest bounds the depth of the probed members, because schemas may contain
// themselves.
const deepest = 5

// probeBody adds the probes of a body or of a part of it. put returns the whole body
// with another value for the part.
func probeBody(add func(probe), s *openapi3.Schema, at string, value any, depth int, put func(any) any) {
	for _, p := range probes(s, value) {
		p.at, p.outside = cmp.Or(at, "the request body"), put(p.outside)
		if p.inside != nil {
			p.inside = put(p.inside)
		}
		add(p)
	}
	switch v := value.(type) {
	case map[string]any:
		probeMembers(add, s, at, v, depth, put)
	case []any:
		if s.Items != nil && depth < deepest {
			if len(v) == 0 {
				v = []any{sample(s.Items.Value)}
			}
			probeBody(add, s.Items.Value, at+"[0]", v[0], depth+1, func(item any) any {
				return put(append([]any{item}, v[1:]...))
			})
		}
	}
}

func probeMembers(add func(probe), s *openapi3.Schema, at string, value map[string]any, depth int, put func(any) any) {
	with := func(name string, member any) map[string]any {
		other := maps.Clone(value)
		other[name] = member
		return other
	}
	if s.AdditionalProperties.Has != nil && !*s.AdditionalProperties.Has {
		add(probe{at: below(at, "surprise"), what: "an unknown member", outside: put(with("surprise", 1))})
	}
	for _, name := range s.Required {
		other := maps.Clone(value)
		delete(other, name)
		add(probe{at: below(at, name), what: "a missing member", outside: put(other)})
	}
	if depth == deepest {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		of := s.Properties[name].Value
		member, given := value[name]
		if !given {
			member = sample(of)
		}
		probeBody(add, of, below(at, name), member, depth+1, func(v any) any { return put(with(name, v)) })
	}
}

func below(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// probes returns the probes of one value, without its members and items. The schema
// must accept value.
func probes(s *openapi3.Schema, value any) []probe {
	var all []probe
	add := func(what string, outside, inside any) {
		all = append(all, probe{what: what, outside: outside, inside: inside})
	}
	if s.Type != nil {
		for _, other := range []any{"text", 1.5, true, []any{}, map[string]any{}} {
			if !s.Type.Includes(kind(other)) && !(kind(other) == "number" && s.Type.Includes("integer")) {
				add("another type", other, nil)
				break
			}
		}
		if s.Type.Includes("integer") {
			add("a fraction", 1.5, nil)
		}
		if !s.Type.Includes("null") {
			add("null", nil, nil)
		}
	}
	if len(s.Enum) > 0 {
		for _, choice := range s.Enum {
			add("no choice", "no such choice", choice)
		}
	}
	if s.Min != nil {
		add("below the minimum", *s.Min-1, *s.Min)
	}
	if s.Max != nil {
		add("above the maximum", *s.Max+1, *s.Max)
	}
	if v, ok := value.(string); ok && len(s.Enum) == 0 {
		probeText(add, s, v)
	}
	if v, ok := value.([]any); ok {
		probeItems(add, s, v)
	}
	return all
}

func probeText(add func(what string, outside, inside any), s *openapi3.Schema, value string) {
	if s.MinLength > 0 {
		add("too short", value[:0], fitted(s, value, int(s.MinLength)))
	}
	if s.MaxLength != nil {
		most := int(*s.MaxLength)
		add("too long", padded(value, most+1), fitted(s, value, most))
	}
	if s.Format == "date" || s.Format == "date-time" {
		add("no "+s.Format, "yesterday", nil)
	}
	if s.Pattern != "" {
		form := regexp.MustCompile(s.Pattern)
		for _, other := range []string{"no form", " ", "-", "é", "x\u0001", strings.ToUpper(value), value + "\u0001"} {
			if !form.MatchString(other) {
				add("another form", other, nil)
				return
			}
		}
	}
}

// fitted returns the text padded to the length, or nil if the schema does not accept it.
func fitted(s *openapi3.Schema, value string, length int) any {
	fit := padded(value, length)
	if s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(fit) {
		return nil
	}
	return fit
}

// padded returns the text, cut or lengthened to the length in characters.
func padded(value string, length int) string {
	if have := utf8.RuneCountInString(value); have < length {
		return value + strings.Repeat("a", length-have)
	}
	return string([]rune(value)[:length])
}

func probeItems(add func(what string, outside, inside any), s *openapi3.Schema, value []any) {
	item := func() any {
		if len(value) > 0 {
			return value[0]
		}
		return sample(s.Items.Value)
	}
	if s.MinItems > 0 {
		add("too few", []any{}, slices.Repeat([]any{item()}, int(s.MinItems)))
	}
	if s.MaxItems != nil {
		most := int(*s.MaxItems)
		add("too many", slices.Repeat([]any{item()}, most+1), slices.Repeat([]any{item()}, most))
	}
}

func kind(value any) string {
	switch value.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

// sample returns a value that the schema accepts: its example, or a generated value.
func sample(s *openapi3.Schema) any {
	switch {
	case s.Example != nil:
		return s.Example
	case len(s.Examples) > 0:
		return s.Examples[0]
	case s.Default != nil:
		return s.Default
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type == nil || s.Type.Includes("object"):
		made := map[string]any{}
		for _, name := range s.Required {
			made[name] = sample(s.Properties[name].Value)
		}
		return made
	case s.Type.Includes("array"):
		made := []any{}
		for range s.MinItems {
			made = append(made, sample(s.Items.Value))
		}
		return made
	case s.Type.Includes("boolean"):
		return true
	case s.Type.Includes("string"):
		return sampleText(s)
	case s.Min != nil:
		return *s.Min
	}
	return 1.0
}

// sampleText returns the first of several texts that the schema accepts.
func sampleText(s *openapi3.Schema) string {
	form := regexp.MustCompile(s.Pattern)
	for _, text := range []string{
		"a", "2026-11-21", "2026-11-21T08:30:00Z", "1.0.0", "clos-switch-v1", "8:1", "64x400G", "10us",
		"config_01kahcfv4ge3brkm7e1q8s0c9d", "workspace_01kahcfv4ge3brkm7f0v3x2m8p", "ts_01kahcfv4ge3brkm7h2w4x6y8z",
		"5b1d1b2e-58b1-4b5f-8a55-0d7d3a0c2f11", strings.Repeat("a", 64),
	} {
		dated := s.Format == "" || strings.HasPrefix(text, "2026") && (s.Format == "date") == (len(text) == 10)
		length := uint64(len(text))
		if dated && form.MatchString(text) && length >= s.MinLength && (s.MaxLength == nil || length <= *s.MaxLength) {
			return text
		}
	}
	panic("no sample matches " + s.Pattern + "; give the schema an example")
}
