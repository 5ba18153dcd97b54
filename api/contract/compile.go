package contract

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// compiler compiles each schema of the document once, so that a schema may contain
// itself.
type compiler map[*openapi3.Schema]*schema

// compile returns the checker of a schema. It refuses keywords that the
// checker does not know.
func (c compiler) compile(ref *openapi3.SchemaRef) (*schema, error) {
	if ref == nil {
		return nil, nil
	}
	from := ref.Value
	if done, ok := c[from]; ok {
		return done, nil
	}
	if keyword := unsupported(from); keyword != "" {
		return nil, fmt.Errorf("the keyword %s is not supported", keyword)
	}

	s := &schema{
		types:     from.Type.Slice(),
		enum:      from.Enum,
		min:       from.Min,
		max:       from.Max,
		minLength: int(from.MinLength),
		maxLength: limit(from.MaxLength),
		format:    from.Format,
		required:  from.Required,
		open:      from.AdditionalProperties.Has == nil || *from.AdditionalProperties.Has,
		maxItems:  limit(from.MaxItems),
		minItems:  int(from.MinItems),
	}
	c[from] = s

	if form, ok := from.Extensions["x-netsim-form"].(string); ok {
		s.form = form
	}
	var err error
	if from.Pattern != "" {
		if s.pattern, err = regexp.Compile(from.Pattern); err != nil {
			return nil, fmt.Errorf("pattern: %w", err)
		}
	}
	for _, form := range from.AnyOf {
		of, err := c.compile(form)
		if err != nil {
			return nil, fmt.Errorf("anyOf: %w", err)
		}
		s.any = append(s.any, of)
	}
	if s.items, err = c.compile(from.Items); err != nil {
		return nil, fmt.Errorf("items: %w", err)
	}
	if s.content, err = c.compile(from.ContentSchema); err != nil {
		return nil, fmt.Errorf("contentSchema: %w", err)
	}
	if s.other, err = c.compile(from.AdditionalProperties.Schema); err != nil {
		return nil, fmt.Errorf("additionalProperties: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(from.Properties)) {
		of, err := c.compile(from.Properties[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		s.members = append(s.members, member{name, of})
	}
	return s, nil
}

// unsupported names a keyword of the schema that check would ignore, or "".
func unsupported(s *openapi3.Schema) string {
	for keyword, used := range map[string]bool{
		"oneOf":                 s.OneOf != nil,
		"allOf":                 s.AllOf != nil,
		"not":                   s.Not != nil,
		"const":                 s.Const != nil,
		"if":                    s.If != nil,
		"multipleOf":            s.MultipleOf != nil,
		"exclusiveMinimum":      s.ExclusiveMin.IsSet(),
		"exclusiveMaximum":      s.ExclusiveMax.IsSet(),
		"uniqueItems":           s.UniqueItems,
		"prefixItems":           s.PrefixItems != nil,
		"contains":              s.Contains != nil,
		"minProperties":         s.MinProps != 0,
		"maxProperties":         s.MaxProps != nil,
		"patternProperties":     s.PatternProperties != nil,
		"propertyNames":         s.PropertyNames != nil,
		"dependentSchemas":      s.DependentSchemas != nil,
		"dependentRequired":     s.DependentRequired != nil,
		"unevaluatedItems":      s.UnevaluatedItems.Has != nil || s.UnevaluatedItems.Schema != nil,
		"unevaluatedProperties": s.UnevaluatedProperties.Has != nil || s.UnevaluatedProperties.Schema != nil,
		"nullable":              s.Nullable,
	} {
		if used {
			return keyword
		}
	}
	if _, known := formats[s.Format]; !known && s.Format != "" && s.Format != "double" && s.Format != "int64" {
		return "format " + s.Format
	}
	return ""
}

func limit(n *uint64) *int {
	if n == nil {
		return nil
	}
	value := int(*n)
	return &value
}
