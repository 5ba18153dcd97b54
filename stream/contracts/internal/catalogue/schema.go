package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// schema is the part of JSON Schema that event data needs. Draft 7 is the latest
// draft that every common schema registry can compare.
type schema struct {
	Dialect     string   `json:"$schema,omitempty"`
	ID          string   `json:"$id,omitempty"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Type        any      `json:"type"`
	Format      string   `json:"format,omitempty"`
	Items       *schema  `json:"items,omitempty"`
	Properties  members  `json:"properties,omitempty"`
	Required    []string `json:"required,omitempty"`
}

// members are an object's properties, in the order of the Go fields.
type members []member

type member struct {
	name   string
	schema schema
}

// MarshalJSON writes an object.
func (m members) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	for i, one := range m {
		value, err := marshal(one.schema)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "%c%q:%s", "{,"[min(i, 1)], one.name, value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// schemaOf returns the schema of a type's data. It allows members that it does
// not name, because a later release may add some.
func schemaOf(t eventType) ([]byte, error) {
	s := objectSchema(t.Fields)
	s.Dialect = "http://json-schema.org/draft-07/schema#"
	s.ID = "urn:" + strings.ReplaceAll(t.Name, ".", ":")
	s.Title, s.Description = t.Name, t.When
	compact, err := marshal(s)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, compact, "", "  "); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func objectSchema(fields []field) schema {
	s := schema{Type: "object"}
	for _, f := range fields {
		s.Properties = append(s.Properties, member{f.Name, fieldSchema(f)})
		if !f.Optional {
			s.Required = append(s.Required, f.Name)
		}
	}
	return s
}

func fieldSchema(f field) schema {
	s := schema{Type: string(f.Kind)}
	switch f.Kind {
	case instant:
		s.Type, s.Format = "string", "date-time"
	case integer:
		s.Format = "int64"
	case object:
		s = objectSchema(f.Fields)
	}
	if f.List {
		items := s
		s = schema{Type: []string{"array", "null"}, Items: &items} // an empty list may be written as null
	}
	s.Description = f.Comment
	return s
}

// marshal returns JSON without HTML escapes.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return out.Bytes(), err
}
