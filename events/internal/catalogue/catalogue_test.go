package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"netsim/events"
	"netsim/infra/facts"
	"netsim/stream/public"
)

const root = "../../.."

func TestGeneratedFilesAreUpToDate(t *testing.T) {
	t.Parallel()
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Errorf("%v (go generate ./events writes it)", err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s is out of date (go generate ./events writes it):\n%s", name, cmp.Diff(string(got), string(want)))
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

// TestAttributesHaveForms: every documented header has a pattern, and its example
// and the value that a fact has match it.
func TestAttributesHaveForms(t *testing.T) {
	t.Parallel()
	full := events.Frame{
		ID: "id", Type: "netsim.workspace.updated.v1", Stream: "stream", PartitionKey: "key", Sequence: 2, PreviousHash: events.Hash{1},
		CommandID: "command", CommandDigest: "digest", Time: time.UnixMilli(0), Actor: "actor",
		CorrelationID: "correlation", CauseID: "cause", DataVersion: 1,
	}
	values := map[string]string{schemaIDHeader: "7"}
	record, _ := full.Message([]byte(`{"name":"n"}`))
	fact := facts.Decode(events.Workspaces, &events.Record{Message: record})
	for _, h := range public.Message(&fact, "netsim.workspaces").Headers {
		values[h.Key] = string(h.Value)
	}
	for _, a := range attributes() {
		if a.Pattern == "" {
			t.Errorf("%s has no pattern: give it one and an example", a.Name)
		}
		form := regexp.MustCompile(a.Pattern)
		if !form.MatchString(a.Example) || !form.MatchString(values[a.Name]) {
			t.Errorf("%s: the example %q or the value %q does not match %s", a.Name, a.Example, values[a.Name], a.Pattern)
		}
	}
}

// TestTheLogPageListsTheHeadersOfARecord: docs/log.md has a row for each header of
// the frame.
func TestTheLogPageListsTheHeadersOfARecord(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(root + "/docs/log.md")
	if err != nil {
		t.Fatal(err)
	}
	m, _ := events.Frame{
		ID: "id", Type: "type", Stream: "stream", PartitionKey: "key", Sequence: 2, PreviousHash: events.Hash{1},
		CommandID: "command", CommandDigest: "digest", Time: time.UnixMilli(0), Actor: "actor",
		CorrelationID: "correlation", CauseID: "cause", DataVersion: 1,
	}.Message([]byte("{}"))
	for _, h := range m.Headers {
		if !strings.Contains(string(page), "`"+h.Key+"`") {
			t.Errorf("docs/log.md does not name %s", h.Key)
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

// TestDataContractIsComplete: every event type is an object of its topic, with the
// members of its schema; and amounts of money are numbers that are written as text.
func TestDataContractIsComplete(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(root + "/api/datacontract.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Schema []struct {
			Name         string
			PhysicalName string `yaml:"physicalName"`
			Properties   []struct {
				Name         string
				LogicalType  string `yaml:"logicalType"`
				PhysicalType string `yaml:"physicalType"`
				Required     bool
			}
		}
	}
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	types, err := read(root + "/events")
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Schema) != len(types)+1 || doc.Schema[0].Name != headersElement || len(doc.Schema[0].Properties) != len(attributes()) {
		t.Fatalf("%d objects, want the headers and %d types", len(doc.Schema), len(types))
	}
	amounts := 0
	for i, one := range types {
		object := doc.Schema[i+1]
		if want := "netsim.public." + string(one.Family); object.Name != one.Name || object.PhysicalName != want {
			t.Errorf("object %d is %s in %s, want %s in %s", i, object.Name, object.PhysicalName, one.Name, want)
		}
		if len(object.Properties) != len(one.Fields) {
			t.Errorf("%s has %d properties, want %d", one.Name, len(object.Properties), len(one.Fields))
			continue
		}
		for j, f := range one.Fields {
			p := object.Properties[j]
			if p.Name != f.Name || p.Required == f.Optional || p.LogicalType == "" || p.PhysicalType == "" {
				t.Errorf("%s: property %+v of the field %s, optional %t", one.Name, p, f.Name, f.Optional)
			}
			if money := f.Name == "amount" || f.Name == "cost" || f.Name == "rateAmount" || f.Name == "previousCost" || f.Name == "dayPrice"; money {
				amounts++
				if p.LogicalType != "number" || p.PhysicalType != "string" {
					t.Errorf("%s.%s is %s as %s, want a number as string", one.Name, f.Name, p.LogicalType, p.PhysicalType)
				}
			}
		}
	}
	if amounts < 8 {
		t.Errorf("only %d amounts of money", amounts)
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

// The Python program in docs/log.md prints the facts and skips all other records.
func TestTheReaderOfTheLogReads(t *testing.T) {
	t.Parallel()
	stream := events.NewID(events.WorkspacePrefix)
	frame := events.Frame{
		ID: "1", Type: "netsim.workspace.created.v1", Stream: stream, PartitionKey: stream,
		Sequence: 1, Time: time.UnixMilli(0), DataVersion: 1,
	}
	first, hash := frame.Message([]byte(`{"name":"first"}`))
	other, _ := frame.Message([]byte(`{"name":"other"}`))
	frame.Type, frame.Sequence, frame.PreviousHash = "netsim.workspace.updated.v1", 2, hash
	second, _ := frame.Message([]byte(`{"name":"second"}`))
	prints(t, "log.md", []events.Message{first, first, other, second},
		`0 netsim.workspace.created.v1 {"name":"first"}`,
		`3 netsim.workspace.updated.v1 {"name":"second"}`)
}

// The Python program in docs/events.md prints each fact once, also when the topic
// repeats some.
func TestTheReaderOfThePublicTopicsReads(t *testing.T) {
	t.Parallel()
	fact := func(stream string, sequence int64, data string) events.Message {
		frame := events.Frame{
			ID: fmt.Sprint(stream, sequence), Type: "netsim.workspace.updated.v1", Stream: stream, PartitionKey: stream,
			Sequence: sequence, Time: time.UnixMilli(0), DataVersion: 1,
		}
		if sequence > 1 {
			frame.PreviousHash = events.Hash{1}
		}
		m, _ := frame.Message([]byte(data))
		f := facts.Decode(events.Workspaces, &events.Record{Message: m, Topic: "netsim.workspaces"})
		return public.Message(&f, "netsim.workspaces")
	}
	a1, b2, a2 := fact("workspace_a", 1, `{"name":"a1"}`), fact("workspace_b", 2, `{"name":"b2"}`), fact("workspace_a", 2, `{"name":"a2"}`)
	prints(t, "events.md", []events.Message{a1, b2, a1, a2, b2, a2},
		`workspace_a 1 netsim.workspace.updated.v1 {'name': 'a1'}`,
		`workspace_b 2 netsim.workspace.updated.v1 {'name': 'b2'}`,
		`workspace_a 2 netsim.workspace.updated.v1 {'name': 'a2'}`)
}

// prints runs the Python program of a page with records and compares what it prints.
func prints(t *testing.T, page string, messages []events.Message, want ...string) {
	t.Helper()
	text, err := os.ReadFile(root + "/docs/" + page)
	if err != nil {
		t.Fatal(err)
	}
	program := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(text)
	if program == nil {
		t.Fatalf("docs/%s has no Python", page)
	}
	records, err := json.Marshal(messages)
	if err != nil {
		t.Fatal(err)
	}
	python := exec.CommandContext(t.Context(), "python3", "-c", string(program[1]))
	python.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH="+strings.Join(
		[]string{"testdata", root + "/events/testdata/golden"}, string(filepath.ListSeparator)))
	python.Stdin = bytes.NewReader(records)
	python.Stderr = t.Output()
	printed, err := python.Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Collect(strings.Lines(string(printed))); strings.Join(got, "") != strings.Join(want, "\n")+"\n" {
		t.Errorf("the program of docs/%s prints %q, want %q", page, got, want)
	}
}
