package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"netsim/events"
)

// eventType is one registered event type.
type eventType struct {
	Name   string // on the wire
	When   string // when it is recorded: "Records that …"
	Family events.Family
	Fields []field

	Example []byte // of the data, in which every member has a value
}

func (t eventType) schemaFile() string { return t.Name + ".schema.json" }

// schemaPath is where the service serves the schema: ce_dataschema.
func (t eventType) schemaPath() string { return "/schemas/" + t.Name + "/1" }

// field is one member of an event's data.
type field struct {
	Name     string
	Kind     kind
	List     bool
	Fields   []field // of an object
	Comment  string
	Optional bool // left out when it is empty
}

// kind is the JSON type of a field or of a list's items.
type kind string

const (
	text    kind = "string"
	boolean kind = "boolean"
	integer kind = "integer"
	instant kind = "time"
	object  kind = "object"
)

// source has the declarations of package events.
type source struct {
	structs map[string]*ast.StructType
	docs    map[string]string
}

// read returns the registered types in catalogue order, with their comments in the
// Go source in dir.
func read(dir string) ([]eventType, error) {
	src, err := parse(dir)
	if err != nil {
		return nil, err
	}
	var types []eventType
	for _, zero := range events.Types() {
		name := reflect.TypeOf(zero).Name()
		t := eventType{Name: zero.EventType(), When: sentence(name, src.docs[name])}
		if t.When == "" {
			return nil, fmt.Errorf("%s: its comment does not begin with \"%s records\"", name, name)
		}
		if t.Family, err = familyOf(t.Name); err != nil {
			return nil, err
		}
		if t.Fields, err = src.fields(name); err != nil {
			return nil, err
		}
		if t.Example, err = readExample(dir, t.Name); err != nil {
			return nil, err
		}
		types = append(types, t)
	}
	return types, nil
}

func parse(dir string) (source, error) {
	src := source{structs: map[string]*ast.StructType{}, docs: map[string]string{}}
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return src, err
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return src, err
		}
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, spec := range g.Specs {
				t := spec.(*ast.TypeSpec)
				if s, ok := t.Type.(*ast.StructType); ok {
					src.structs[t.Name.Name], src.docs[t.Name.Name] = s, g.Doc.Text()
				}
			}
		}
	}
	return src, nil
}

// sentence returns a type's comment without the Go name and the source: "Records
// that …".
func sentence(name, doc string) string {
	doc, _, _ = strings.Cut(strings.Join(strings.Fields(doc), " "), "Source:")
	said, ok := strings.CutPrefix(strings.TrimSpace(doc), name+" records ")
	if !ok {
		return ""
	}
	return "Records " + said
}

func (src source) fields(structName string) ([]field, error) {
	var fields []field
	for _, f := range src.structs[structName].Fields.List {
		if len(f.Names) == 0 { // an embedded struct: its fields count as fields of this one
			inner, err := src.fields(f.Type.(*ast.Ident).Name)
			if err != nil {
				return nil, err
			}
			fields = append(fields, inner...)
			continue
		}
		one, err := src.field(f)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", structName, f.Names[0].Name, err)
		}
		fields = append(fields, one)
	}
	return fields, nil
}

func (src source) field(f *ast.Field) (field, error) {
	tag, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		return field{}, err
	}
	name, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	one := field{
		Name: name, Optional: options == "omitempty" || options == "omitzero",
		Comment: strings.Join(strings.Fields(f.Doc.Text()+" "+f.Comment.Text()), " "),
	}
	of := f.Type
	if list, ok := of.(*ast.ArrayType); ok {
		one.List, of = true, list.Elt
	}
	switch of := of.(type) {
	case *ast.SelectorExpr: // time.Time, the only type of another package
		one.Kind = instant
	case *ast.Ident:
		switch of.Name {
		case "string":
			one.Kind = text
		case "bool":
			one.Kind = boolean
		case "int64":
			one.Kind = integer
		default:
			if src.structs[of.Name] == nil {
				return field{}, fmt.Errorf("events do not hold a %s", of.Name)
			}
			one.Kind = object
			one.Fields, err = src.fields(of.Name)
		}
	default:
		return field{}, fmt.Errorf("events do not hold a %T", of)
	}
	return one, err
}

// familyOf returns the family of a type, by the second part of its name. Types that
// are in every topic are listed with the checkpoints.
func familyOf(eventType string) (events.Family, error) {
	aggregate := strings.Split(eventType, ".")[1]
	switch aggregate {
	case "webhook":
		return events.Workspaces, nil
	case "upload":
		return events.MappingFiles, nil
	case "study":
		return events.Simulations, nil
	case "log", "operation":
		return events.Checkpoints, nil
	}
	for _, f := range events.Families() {
		if strings.TrimSuffix(string(f), "s") == strings.ReplaceAll(aggregate, "_", "") {
			return f, nil
		}
	}
	return "", fmt.Errorf("%s belongs to no family", eventType)
}
