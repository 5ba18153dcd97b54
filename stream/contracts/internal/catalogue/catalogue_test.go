package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"netsim/events"
)

const root = "../../../.."

func TestGeneratedFilesAreUpToDate(t *testing.T) {
	t.Parallel()
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Errorf("%v (go generate ./stream/contracts writes it)", err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s is out of date (go generate ./stream/contracts writes it):\n%s", name, cmp.Diff(string(got), string(want)))
		}
	}
	stored, err := filepath.Glob(root + "/api/events/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stored {
		if files["api/events/"+filepath.Base(path)] == nil {
			t.Errorf("%s is no longer generated", path)
		}
	}
}

// TestSchemasAcceptWhatWasWritten: the schema of every event type accepts its
// fixture, its example, every form that was ever written and its empty value, and
// names all their members.
func TestSchemasAcceptWhatWasWritten(t *testing.T) {
	t.Parallel()
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	for _, zero := range events.Types() {
		name := zero.EventType()
		s, err := compiler.Compile(root + "/api/events/" + name + ".schema.json")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, kind := range []string{"fixtures", "examples"} {
			stored := decoded(t, root+"/events/testdata/"+kind+"/"+name+".json")
			if err := s.Validate(stored); err != nil {
				t.Errorf("%s of %s: %v", kind, name, err)
			}
			described(t, name, stored, decoded(t, root+"/api/events/"+name+".schema.json"))
		}
		corpus, err := os.ReadFile(root + "/events/testdata/corpus/" + name + ".jsonl")
		if err != nil {
			t.Error(err)
		}
		for line := range bytes.Lines(corpus) {
			form, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(form); err != nil {
				t.Errorf("a form of %s: %v", name, err)
			}
		}
		empty, err := events.Encode(zero)
		if err != nil {
			t.Fatal(err)
		}
		bare, err := jsonschema.UnmarshalJSON(bytes.NewReader(empty))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(bare); err != nil {
			t.Errorf("an empty %s: %v", name, err)
		}
	}
}

// TestExamplesAreFull: the example of every type is what the service would write
// if every member had a value.
func TestExamplesAreFull(t *testing.T) {
	t.Parallel()
	types, err := read(root + "/events")
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range types {
		data, err := events.Decode(one.Name, one.Example)
		if err != nil {
			t.Error(err)
			continue
		}
		written, err := events.Encode(data)
		if err != nil {
			t.Fatal(err)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, one.Example); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(compact.String(), string(written)); diff != "" {
			t.Errorf("the example of %s is not as it would be written (-example +written):\n%s", one.Name, diff)
		}
		var members any
		if err := json.Unmarshal(one.Example, &members); err != nil {
			t.Fatal(err)
		}
		hasAll(t, one.Name, one.Fields, members)
	}
	stored, err := filepath.Glob(root + "/events/testdata/examples/*")
	if err != nil || len(stored) != len(types) {
		t.Errorf("%d examples for %d types: %v", len(stored), len(types), err)
	}
}

// hasAll reports fields that a value lacks.
func hasAll(t *testing.T, where string, fields []field, value any) {
	t.Helper()
	if list, ok := value.([]any); ok && len(list) > 0 {
		value = list[0]
	}
	members, _ := value.(map[string]any)
	for _, f := range fields {
		if members[f.Name] == nil {
			t.Errorf("%s: %s has no value", where, f.Name)
		} else if f.Kind == object {
			hasAll(t, where+"."+f.Name, f.Fields, members[f.Name])
		}
	}
}

// described reports members of a value that its schema does not name.
func described(t *testing.T, where string, value, schema any) {
	t.Helper()
	of, _ := schema.(map[string]any)
	switch value := value.(type) {
	case map[string]any:
		properties, _ := of["properties"].(map[string]any)
		for name, member := range value {
			if properties[name] == nil {
				t.Errorf("%s.%s is not in the schema", where, name)
			}
			described(t, where+"."+name, member, properties[name])
		}
	case []any:
		for _, item := range value {
			described(t, where+"[]", item, of["items"])
		}
	}
}

func decoded(t *testing.T, path string) any {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it is only read
	value, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return value
}

// TestAsyncAPIIsConsistent: every event type is a message of a channel in the
// AsyncAPI document, and all references resolve.
func TestAsyncAPIIsConsistent(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(root + "/api/asyncapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	resolve(t, doc, doc)
	sent := map[string]string{}
	for name, c := range doc["channels"].(map[string]any) {
		c := c.(map[string]any)
		if address := "netsim.public." + name; c["address"] != address {
			t.Errorf("the address of %s is %v", name, c["address"])
		}
		messages := c["messages"].(map[string]any)
		if messages[sealed] == nil {
			t.Errorf("%s is not a message of %s", sealed, name)
		}
		for message := range messages {
			sent[message] = name
		}
	}
	messages := doc["components"].(map[string]any)["messages"].(map[string]any)
	for _, zero := range events.Types() {
		name := zero.EventType()
		m, ok := messages[name].(map[string]any)
		if !ok || sent[name] == "" {
			t.Errorf("%s is not a message of any channel", name)
			continue
		}
		if payload := m["payload"].(map[string]any); payload["$ref"] != "#/components/schemas/"+name {
			t.Errorf("%s has the payload %v", name, payload)
		}
	}
	if len(messages) != len(events.Types()) || len(doc["channels"].(map[string]any)) != len(events.Families()) {
		t.Errorf("%d messages, want %d; channels %v", len(messages), len(events.Types()), doc["channels"])
	}
}

// resolve reports the references in a part of the document whose target does not
// exist.
func resolve(t *testing.T, doc map[string]any, part any) {
	t.Helper()
	switch part := part.(type) {
	case map[string]any:
		for key, value := range part {
			if target, ok := value.(string); ok && key == "$ref" {
				if !exists(doc, target) {
					t.Errorf("the target of %s does not exist", target)
				}
				continue
			}
			resolve(t, doc, value)
		}
	case []any:
		for _, item := range part {
			resolve(t, doc, item)
		}
	}
}

func exists(doc map[string]any, target string) bool {
	pointer, local := strings.CutPrefix(target, "#/")
	if !local {
		return false // the document is served alone
	}
	at := any(doc)
	for _, step := range strings.Split(pointer, "/") {
		m, ok := at.(map[string]any)
		if !ok || m[step] == nil {
			return false
		}
		at = m[step]
	}
	return true
}
