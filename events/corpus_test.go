package events_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"netsim/events"
)

// The corpus has data of every type in every form that a release has written: a
// line a form, the oldest first. The first line has only the members that are always
// written, each later one all members that a release knew.
const corpus = "testdata/corpus"

// TestEveryFormIsReadAsItWasWritten: data of every form is read, and written again
// byte for byte. No stored form has changed.
func TestEveryFormIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	known := map[string]bool{"sealed.txt": true}
	for _, zero := range events.Types() {
		name := zero.EventType()
		known[name+".jsonl"] = true
		for i, line := range forms(t, zero) {
			data, err := events.Decode(name, []byte(line))
			if err != nil {
				t.Errorf("form %d of %s: %v", i+1, name, err)
				continue
			}
			if written, err := events.Encode(data); err != nil || string(written) != line {
				t.Errorf("form %d of %s is written as\n%s (%v), but it was\n%s", i+1, name, written, err, line)
			}
		}
	}
	files, err := os.ReadDir(corpus)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !known[f.Name()] {
			t.Errorf("%s has data that no type of the registry reads", f.Name())
		}
	}
	sealed(t)
}

// forms returns the lines of a type's corpus. With -learn it adds the type's example
// if it has members that no line has.
func forms(t *testing.T, zero events.Data) []string {
	t.Helper()
	name := zero.EventType()
	path := filepath.Join(corpus, name+".jsonl")
	all := lines(t, path)
	example, err := os.ReadFile(filepath.Join("testdata/examples", name+".json"))
	if err != nil {
		t.Errorf("%s has no example: write one with a value for every member: %v", name, err)
		return all
	}
	data, err := events.Decode(name, example)
	if err != nil {
		t.Errorf("the example: %v", err)
		return all
	}
	newest, err := events.Encode(data)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) > 0 && !slices.ContainsFunc(fields(name, reflect.TypeOf(zero)), func(field string) bool {
		_, path, _ := strings.Cut(field, " ")
		path, _, _ = strings.Cut(path, " ")
		return !has(generic(t, []byte(all[len(all)-1])), strings.Split(path, "."))
	}) {
		return all
	}
	if !*learn {
		t.Errorf("no line of %s has all members (go test ./events -learn adds one)", path)
		return all
	}
	all = append(all, string(newest))
	store(t, path, []byte(strings.Join(all, "\n")+"\n"))
	return all
}

// has reports whether data has a value at a path, such as files[] name.
func has(value any, path []string) bool {
	if len(path) == 0 {
		return true
	}
	name, list := strings.CutSuffix(path[0], "[]")
	members, _ := value.(map[string]any)
	inner, ok := members[name]
	if items, _ := inner.([]any); list {
		if len(items) == 0 {
			return false
		}
		inner = items[0]
	}
	return ok && has(inner, path[1:])
}

// sealed reports lines of the corpus that have changed since they were stored.
func sealed(t *testing.T) {
	t.Helper()
	const path = corpus + "/sealed.txt"
	stored := map[string]bool{}
	for _, zero := range events.Types() {
		name := zero.EventType()
		text, err := os.ReadFile(filepath.Join(corpus, name+".jsonl"))
		if err != nil {
			continue // another test reports it
		}
		for i, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
			stored[fmt.Sprintf("%x %s %d", sha256.Sum256(line), name, i+1)] = true
		}
	}
	old := lines(t, path)
	for _, line := range old {
		if !stored[line] {
			t.Errorf("%s: this form was changed or removed", line[2*sha256.Size+1:])
		}
		delete(stored, line)
	}
	if len(stored) == 0 {
		return
	}
	var fresh []string
	for line := range stored {
		fresh = append(fresh, line)
	}
	slices.SortFunc(fresh, func(a, b string) int { return strings.Compare(a[2*sha256.Size:], b[2*sha256.Size:]) })
	if !*learn {
		t.Fatalf("new forms that are not sealed yet (go test ./events -learn seals them):\n%s", strings.Join(fresh, "\n"))
	}
	store(t, path, []byte(strings.Join(append(old, fresh...), "\n")+"\n"))
}
