// Package difference tells two versions of a configuration's document apart:
// as a JSON Patch (RFC 6902) that makes one of the other, and as lines for
// people. Entries of lists are told apart by their names, not by where they
// stand.
//
// It is pure. Its work and what it returns are bounded by the size of the
// documents, times a constant.
package difference

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Difference is what there is between two documents: nothing when they are
// equal.
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

// Change is one difference as a person would tell it.
type Change struct {
	Kind    string
	Subject string // such as "switch leaf", "topology"
	Path    string // JSON Pointer into the document that has it: the later one if both do
	Before  json.RawMessage
	After   json.RawMessage // as Before, only of a value that changed
	Text    string
}

// Of returns the difference between two documents, each the JSON text of an
// object. Applying the patch to from gives to. Values are compared as texts, so
// they should be written in one way: of one that is not, the patch says that it
// is replaced by its equal.
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

// value is the text of a JSON value. Values are read as far as they differ:
// most of a document is as it was.
type value = json.RawMessage

type members = map[string]value

// objectOf reads the members of an object; false where the value is none.
func objectOf(v value) (members, bool) {
	if len(v) == 0 || v[0] != '{' {
		return nil, false
	}
	var object members
	err := json.Unmarshal(v, &object)
	return object, err == nil
}

// listOf reads the elements of a list; false where the value is none.
func listOf(v value) ([]value, bool) {
	if len(v) == 0 || v[0] != '[' {
		return nil, false
	}
	var list []value
	err := json.Unmarshal(v, &list)
	return list, err == nil
}

// textOf reads a member that is text; false where there is none.
func textOf(object members, name string) (string, bool) {
	v := object[name]
	if len(v) == 0 || v[0] != '"' {
		return "", false
	}
	var text string
	err := json.Unmarshal(v, &text)
	return text, err == nil
}

// nameOf reads an object's name, and nothing else of it.
func nameOf(v value) (string, bool) {
	var object struct {
		Name *string `json:"name"`
	}
	if len(v) == 0 || v[0] != '{' || json.Unmarshal(v, &object) != nil || object.Name == nil {
		return "", false
	}
	return *object.Name, true
}

// longestPath is where looking for smaller differences ends: a value whose path
// is longer, in bytes, is compared as a whole. Paths of parameters that a model
// has are below 120; without a bound, one long key above many values would be
// repeated for each of them.
const longestPath = 256

// child is the path of a member or an element, escaped as RFC 6901 asks.
func child(path, token string) string { return path + "/" + escaper.Replace(token) }

func element(path string, i int) string { return path + "/" + strconv.Itoa(i) }

// escaper is read only.
var escaper = strings.NewReplacer("~", "~0", "/", "~1")

// namesIn are the names of the members of either object, sorted.
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
