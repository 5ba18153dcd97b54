package main

import (
	"bytes"
	_ "embed"
	"strings"
	"text/template"
)

//go:embed events.md.tmpl
var pageTemplate string

// compatibility is the rule of the schema registry's subjects.
const compatibility = "FORWARD_TRANSITIVE"

// page returns docs/events.md.
func page(types []eventType) ([]byte, error) {
	of := func(f family) (all []eventType) {
		for _, t := range types {
			if t.Family == f.Family {
				all = append(all, t)
			}
		}
		return all
	}
	t, err := template.New("events.md").Funcs(template.FuncMap{
		"cell": cell, "form": form, "typesOf": of,
		"example": func(t eventType) string { return strings.TrimSpace(string(t.Example)) },
	}).Parse(pageTemplate)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, struct {
		Families      []family
		Attributes    []attribute
		Compatibility string
	}{families(), attributes(), compatibility})
	return out.Bytes(), err
}

// cell escapes the characters that would end a table's cell.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// form returns the type of a field, in a word or two.
func form(f field) string {
	what := string(f.Kind)
	if f.Kind == object {
		var inner []string
		for _, one := range f.Fields {
			inner = append(inner, describe(one))
		}
		what = "{" + strings.Join(inner, ", ") + "}"
	}
	if f.List {
		what = "list of " + what
	}
	if f.Optional {
		what += ", may be absent"
	}
	return what
}

func describe(f field) string {
	s := "`" + f.Name + "` " + form(f)
	if f.Comment != "" {
		s += ": " + f.Comment
	}
	return s
}
