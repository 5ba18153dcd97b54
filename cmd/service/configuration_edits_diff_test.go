package service_test

import (
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"
)

// patched applies a JSON Patch (RFC 6902).
func patched(t *rapid.T, document any, patch array) any {
	for _, o := range patch {
		o := o.(object)
		path := tokens(o["path"])
		switch o["op"] {
		case "add":
			document = put(t, document, path, o["value"])
		case "remove":
			document, _ = take(t, document, path)
		case "replace":
			document, _ = take(t, document, path)
			document = put(t, document, path, o["value"])
		case "move":
			var moved any
			document, moved = take(t, document, tokens(o["from"]))
			document = put(t, document, path, moved)
		default:
			t.Fatalf("%v is not an operation", o)
		}
	}
	return document
}

func tokens(pointer any) []string {
	path := strings.Split(pointer.(string), "/")[1:]
	for i := range path {
		path[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(path[i])
	}
	return path
}

// child returns the value at a token of a JSON Pointer, and its index in a list. With
// beyond 1 the index may be the length of the list.
func child(t *rapid.T, in any, token string, beyond int) (any, int) {
	switch in := in.(type) {
	case object:
		return in[token], 0
	case array:
		i, err := strconv.Atoi(token)
		if err != nil || i < 0 || i >= len(in)+beyond {
			t.Fatalf("no element %q in a list of %d", token, len(in))
		}
		if i == len(in) {
			return nil, i
		}
		return in[i], i
	}
	t.Fatalf("%q is below a value that is neither an object nor a list", token)
	return nil, 0
}

// put adds a value at the path, and returns the changed document.
func put(t *rapid.T, in any, path []string, value any) any {
	last := len(path) == 1
	below, i := child(t, in, path[0], map[bool]int{true: 1}[last])
	if !last {
		value = put(t, below, path[1:], value)
	}
	if list, ok := in.(array); ok {
		if last {
			return slices.Insert(list, i, value)
		}
		list[i] = value
		return list
	}
	in.(object)[path[0]] = value
	return in
}

// take removes the value at the path, and returns the changed document and the value.
func take(t *rapid.T, in any, path []string) (rest, taken any) {
	below, i := child(t, in, path[0], 0)
	if len(path) > 1 {
		below, taken = take(t, below, path[1:])
		if list, ok := in.(array); ok {
			list[i] = below
		} else {
			in.(object)[path[0]] = below
		}
		return in, taken
	}
	if list, ok := in.(array); ok {
		return slices.Delete(list, i, i+1), below
	}
	if _, there := in.(object)[path[0]]; !there {
		t.Fatalf("no member %q", path[0])
	}
	delete(in.(object), path[0])
	return in, below
}
