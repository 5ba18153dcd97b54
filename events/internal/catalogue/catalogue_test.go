package main

import (
	"bytes"
	"encoding/json"
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

// TestAttributesAreThoseOfARecord: the documented headers are exactly those of
// a record, and match their patterns.
func TestAttributesAreThoseOfARecord(t *testing.T) {
	t.Parallel()
	hash := events.Hash{1}
	full, fullHash := events.Frame{
		ID: "id", Type: "type", Stream: "stream", PartitionKey: "key", Sequence: 2, PreviousHash: hash,
		CommandID: "command", CommandDigest: "digest", Time: time.UnixMilli(0), Actor: "actor",
		CorrelationID: "correlation", CauseID: "cause", DataVersion: 1,
	}.Message([]byte("{}"))
	keys, err := events.ParseWriterKeys(strings.Repeat("0f", 32))
	if err != nil {
		t.Fatal(err)
	}
	full = keys.Seal(events.Billing, fullHash, full)
	least, _ := events.Frame{
		ID: "id", Type: "type", Stream: "stream", PartitionKey: "key", Sequence: 1, Time: time.UnixMilli(0), DataVersion: 1,
	}.Message([]byte("{}"))
	var all, required []string
	for _, a := range attributes() {
		all = append(all, a.Name)
		if a.Required {
			required = append(required, a.Name)
		}
	}
	if diff := cmp.Diff(names(full), all); diff != "" {
		t.Errorf("headers of a full record (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(names(least), required); diff != "" {
		t.Errorf("headers that every record has (-want +got):\n%s", diff)
	}
	for i, a := range attributes() {
		if !regexp.MustCompile(a.Pattern).Match(full.Headers[i].Value) {
			t.Errorf("%s: %q does not match %s", a.Name, full.Headers[i].Value, a.Pattern)
		}
	}
}

func names(m events.Message) (names []string) {
	for _, h := range m.Headers {
		names = append(names, h.Key)
	}
	return names
}

// TestSchemasAcceptWhatWasWritten: the schema of every event type accepts its
// fixture and its empty value, and names all their members.
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
		stored := decoded(t, root+"/events/testdata/fixtures/"+name+".json")
		if err := s.Validate(stored); err != nil {
			t.Errorf("the stored %s: %v", name, err)
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
		described(t, name, stored, decoded(t, root+"/api/events/"+name+".schema.json"))
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
	sent := map[string]bool{}
	channels := doc["channels"].(map[string]any)
	for _, c := range channels {
		for name := range c.(map[string]any)["messages"].(map[string]any) {
			sent[name] = true
		}
	}
	messages := doc["components"].(map[string]any)["messages"].(map[string]any)
	for _, zero := range events.Types() {
		name := zero.EventType()
		m, ok := messages[name].(map[string]any)
		if !ok || !sent[name] {
			t.Errorf("%s is not a message of any channel", name)
			continue
		}
		payload, _ := m["payload"].(map[string]any)
		schema, _ := payload["schema"].(map[string]any)
		if schema["$ref"] != "./events/"+name+".schema.json" || m["headers"] == nil {
			t.Errorf("%s has the payload %v and the headers %v", name, payload, m["headers"])
		}
	}
	if len(channels) != len(events.Families()) || len(messages) != len(events.Types()) {
		t.Errorf("%d channels and %d messages, want %d and %d", len(channels), len(messages), len(events.Families()), len(events.Types()))
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
		_, err := os.Stat(filepath.Join(root, "api", target))
		return err == nil
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

// The Python program in docs/events.md prints the facts and skips all other
// records.
func TestTheReaderOfThePageReads(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(root + "/docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	program := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(page)
	if program == nil {
		t.Fatal("docs/events.md has no Python")
	}
	stream := events.NewID(events.WorkspacePrefix)
	frame := events.Frame{
		ID: "1", Type: "netsim.workspace.created.v1", Stream: stream, PartitionKey: stream,
		Sequence: 1, Time: time.UnixMilli(0), DataVersion: 1,
	}
	first, hash := frame.Message([]byte(`{"name":"first"}`))
	other, _ := frame.Message([]byte(`{"name":"other"}`))
	frame.Type, frame.Sequence, frame.PreviousHash = "netsim.workspace.updated.v1", 2, hash
	second, _ := frame.Message([]byte(`{"name":"second"}`))
	records, err := json.Marshal([]events.Message{first, first, other, second})
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
	want := []string{
		`0 netsim.workspace.created.v1 {"name":"first"}`,
		`3 netsim.workspace.updated.v1 {"name":"second"}`,
	}
	if got := slices.Collect(strings.Lines(string(printed))); strings.Join(got, "") != strings.Join(want, "\n")+"\n" {
		t.Errorf("the program prints %q, want %q", got, want)
	}
}
