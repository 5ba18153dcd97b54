package api

import (
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

//go:embed asyncapi.yaml
var asyncAPI []byte

//go:embed datacontract.yaml
var dataContract []byte

//go:embed events/*.schema.json
var schemaFiles embed.FS

// Schema is the JSON Schema of an event type's data.
type Schema struct {
	Type     string // such as netsim.workspace.created.v1
	Version  string // ce_dataversion of the events that it describes
	Document []byte // JSON
}

// Path returns where the service serves the schema, which is ce_dataschema.
func (s Schema) Path() string { return "/schemas/" + s.Type + "/" + s.Version }

// Schemas returns the schema of every event type, by type.
func Schemas() []Schema { return schemas() }

var schemas = sync.OnceValue(func() []Schema {
	const suffix = ".schema.json"
	entries, err := schemaFiles.ReadDir("events")
	if err != nil {
		panic(err) // the files are part of the program
	}
	var all []Schema
	for _, e := range entries {
		document, err := schemaFiles.ReadFile("events/" + e.Name())
		if err != nil {
			panic(err)
		}
		all = append(all, Schema{strings.TrimSuffix(e.Name(), suffix), "1", document})
	}
	return all
})

// SchemaOf serves the schema of a type and version. It is false if there is none.
func SchemaOf(eventType, version string) (http.Handler, bool) {
	f, ok := schemasByPath()[Schema{Type: eventType, Version: version}.Path()]
	return f, ok
}

var schemasByPath = sync.OnceValue(func() map[string]file {
	all := map[string]file{}
	for _, s := range Schemas() {
		all[s.Path()] = file{"application/schema+json", s.Document}
	}
	return all
})

// SchemaIndex serves the list of the schemas.
func SchemaIndex() http.Handler {
	type item struct {
		Type    string `json:"type"`
		Version string `json:"version"`
		Path    string `json:"path"`
	}
	var list struct {
		Items []item `json:"items"`
	}
	for _, s := range Schemas() {
		list.Items = append(list.Items, item{s.Type, s.Version, s.Path()})
	}
	content, err := json.Marshal(list)
	if err != nil {
		panic(fmt.Errorf("list the schemas: %w", err)) // they are texts
	}
	return file{"application/json", content}
}

// DataContract serves the Open Data Contract of the public topics.
func DataContract() http.Handler { return file{"application/yaml", dataContract} }

// AsyncAPI serves the contract of the public topics.
func AsyncAPI() http.Handler { return file{"application/yaml", asyncAPI} }
