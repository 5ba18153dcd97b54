// Package difference compares two versions of a configuration's document. It returns a
// JSON Patch (RFC 6902) that turns one into the other, and changes as lines for people.
// Elements of lists are identified by their names, not by their positions.
//
// It is pure. Its time and its result grow about linearly with the documents.
package difference

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Difference is the difference of two documents; empty if they are equal.
type Difference struct {
	Patch   []Operation
	Changes []Change
}

// Operation is one operation of a JSON Patch.
type Operation struct {
	Op    string          `json:"op"` // add, remove, replace or move
	Path  string          `json:"path"`
	From  string          `json:"from,omitempty"`  // of a move
	Value json.RawMessage `json:"value,omitempty"` // of an add or a replace
}

// The kinds of changes.
const (
	Added   = "added"
	Removed = "removed"
	Changed = "changed"
)

// Change is one difference, described for people.
type Change struct {
	Kind    string
	Subject string // such as "switch leaf", "topology"
	Path    string // JSON Pointer to the value in the later document, or in the earlier one if it was removed
	Before  json.RawMessage
	After   json.RawMessage // After and Before are set only if a value changed
	Text    string
}

// Of returns the difference between two documents, each the JSON text of an object.
// Applying the patch to from gives to. Documents should be in canonical form, since values
// are compared as texts: a value that is only written differently counts as changed.
func Of(from, to []byte) (Difference, error) {
	var old, now members
	if err := json.Unmarshal(from, &old); err != nil {
		return Difference{}, fmt.Errorf("read the earlier document: %w", err)
	}
	if err := json.Unmarshal(to, &now); err != nil {
		return Difference{}, fmt.Errorf("read the later document: %w", err)
	}
	var p patch
	p.object("", old, now)
	var c changes
	c.document(old, now)
	return Difference{Patch: p.operations, Changes: c.lines}, nil
}

// value is the text of a JSON value. Only values that differ are parsed, usually a small
// part of the documents.
type value = json.RawMessage

type members = map[string]value

// objectOf reads the members of an object. It returns false if the value is not an object.
func objectOf(v value) (members, bool) {
	if len(v) == 0 || v[0] != '{' {
		return nil, false
	}
	var object members
	err := json.Unmarshal(v, &object)
	return object, err == nil
}

// listOf reads the elements of a list. It returns false if the value is not a list.
func listOf(v value) ([]value, bool) {
	if len(v) == 0 || v[0] != '[' {
		return nil, false
	}
	var list []value
	err := json.Unmarshal(v, &list)
	return list, err == nil
}

// textOf reads a member that is a string. It returns false if there is no such member.
func textOf(object members, name string) (string, bool) {
	v := object[name]
	if len(v) == 0 || v[0] != '"' {
		return "", false
	}
	var text string
	err := json.Unmarshal(v, &text)
	return text, err == nil
}

// nameOf reads the name of an object, and no other member.
func nameOf(v value) (string, bool) {
	var object struct {
		Name *string `json:"name"`
	}
	if len(v) == 0 || v[0] != '{' || json.Unmarshal(v, &object) != nil || object.Name == nil {
		return "", false
	}
	return *object.Name, true
}

// longestPath bounds the paths of differences, in bytes. A value with a longer path is
// compared as a whole; otherwise a long key above many values would be repeated for each
// of them. Paths of a model's parameters are shorter than 120 bytes.
const longestPath = 256

// child returns the path of a member or an element, escaped by RFC 6901.
func child(path, token string) string { return path + "/" + escaper.Replace(token) }

func element(path string, i int) string { return path + "/" + strconv.Itoa(i) }

// escaper is safe for concurrent use.
var escaper = strings.NewReplacer("~", "~0", "/", "~1")

// namesIn returns the names of all members of the two objects, sorted.
func namesIn(from, to members) []string {
	names := slices.Collect(maps.Keys(from))
	for name := range to {
		if _, both := from[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
