// Package difference tells two versions of a configuration's document apart:
// as a JSON Patch (RFC 6902) that makes one of the other, and as lines for
// people. Entries of lists are told apart by their names, not by where they
// stand.
//
// It is pure. Its work and what it returns are bounded by the size of the
// documents, times a constant.
package difference

import (
	"bytes"
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
// object. Applying the patch to from gives to.
func Of(from, to []byte) (Difference, error) {
	old, err := read(from)
	if err != nil {
		return Difference{}, fmt.Errorf("read the earlier document: %w", err)
	}
	now, err := read(to)
	if err != nil {
		return Difference{}, fmt.Errorf("read the later document: %w", err)
	}
	var p patch
	p.object("", old, now)
	var c changes
	c.document(old, now)
	return Difference{Patch: p.operations, Changes: c.lines}, nil
}

// read keeps numbers as they are written: what is shown and sent on is the text
// that was stored.
func read(text []byte) (map[string]any, error) {
	var document map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return document, d.Decode(&document)
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

// members are the names in either object, sorted.
func members(from, to map[string]any) []string {
	names := slices.Collect(maps.Keys(from))
	for name := range to {
		if _, both := from[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// raw is the JSON text of what was read from JSON.
func raw(value any) json.RawMessage {
	text, _ := json.Marshal(value) //nolint:errchkjson // it was JSON
	return text
}
