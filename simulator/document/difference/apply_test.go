package difference_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"netsim/simulator/document/difference"
)

// patched applies a patch according to RFC 6902, and fails the test where the RFC
// demands an error. Existing libraries mishandle null and empty names.
func patched(t rapid.TB, document string, operations []difference.Operation) any {
	t.Helper()
	value := plain(t, document)
	for _, o := range operations {
		if o.Path == "" || o.Op == "move" && o.From == "" {
			t.Fatalf("%+v applies to the whole document", o)
		}
		var moved any
		switch o.Op {
		case "remove":
			value, _ = remove(t, value, tokens(o.Path))
		case "add":
			value = add(t, value, tokens(o.Path), plain(t, string(o.Value)))
		case "replace":
			value, _ = remove(t, value, tokens(o.Path))
			value = add(t, value, tokens(o.Path), plain(t, string(o.Value)))
		case "move":
			value, moved = remove(t, value, tokens(o.From))
			value = add(t, value, tokens(o.Path), moved)
		default:
			t.Fatalf("%+v has an unknown op", o)
		}
	}
	return value
}

// tokens returns the reference tokens of a JSON Pointer (RFC 6901).
func tokens(path string) []string {
	list := strings.Split(path, "/")[1:]
	for i := range list {
		list[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(list[i])
	}
	return list
}

// add adds a member or an element at the path and returns the new value. It
// replaces an existing member.
func add(t rapid.TB, value any, path []string, added any) any {
	t.Helper()
	if object, ok := value.(map[string]any); ok {
		if len(path) > 1 {
			added = add(t, below(t, value, path[0]), path[1:], added)
		}
		object[path[0]] = added
		return object
	}
	list, i := elementOf(t, value, path[0])
	if len(path) > 1 {
		list[i] = add(t, below(t, value, path[0]), path[1:], added)
		return list
	}
	return slices.Insert(list, i, added)
}

// remove removes the value at the path. It returns the rest and the removed value.
func remove(t rapid.TB, value any, path []string) (rest, removed any) {
	t.Helper()
	removed = below(t, value, path[0])
	if object, ok := value.(map[string]any); ok {
		if len(path) == 1 {
			delete(object, path[0])
			return object, removed
		}
		object[path[0]], removed = remove(t, removed, path[1:])
		return object, removed
	}
	list, i := elementOf(t, value, path[0])
	if len(path) == 1 {
		return slices.Delete(list, i, i+1), removed
	}
	list[i], removed = remove(t, removed, path[1:])
	return list, removed
}

func below(t rapid.TB, value any, token string) any {
	t.Helper()
	if object, ok := value.(map[string]any); ok {
		member, has := object[token]
		if !has {
			t.Fatalf("no member %q in %v", token, value)
		}
		return member
	}
	list, i := elementOf(t, value, token)
	if i == len(list) {
		t.Fatalf("no element %s in %v", token, value)
	}
	return list[i]
}

// elementOf returns the list and the index of an element, which may be the list's length.
func elementOf(t rapid.TB, value any, token string) ([]any, int) {
	t.Helper()
	list, ok := value.([]any)
	i, err := strconv.Atoi(token)
	if !ok || err != nil || i < 0 || i > len(list) {
		t.Fatalf("no element %q in %v", token, value)
	}
	return list, i
}

func plain(t rapid.TB, text string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(fmt.Errorf("%w: %s", err, text))
	}
	return value
}

func text(t rapid.TB, value any) string {
	t.Helper()
	out, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
