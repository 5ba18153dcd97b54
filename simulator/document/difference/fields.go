package difference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// Fields returns the differences of two submissions field by field. A field has the path that
// an axis of a study has, such as groups[0].phases[1].dataSize. Elements of lists are compared
// by position. The texts must be JSON objects in canonical form.
func Fields(from, to []byte) ([]Change, error) {
	var f fields
	for _, text := range [][]byte{from, to} {
		if !json.Valid(text) {
			return nil, fmt.Errorf("the submission is not JSON: %.64q", text)
		}
	}
	f.value("", from, to)
	return f, nil
}

type fields []Change

func (f *fields) value(path string, from, to value) {
	if bytes.Equal(from, to) {
		return
	}
	was, isObject := objectOf(from)
	is, staysObject := objectOf(to)
	if isObject && staysObject {
		for _, name := range namesIn(was, is) {
			below := name
			if path != "" {
				below = path + "." + name
			}
			f.member(below, was[name], is[name])
		}
		return
	}
	old, isList := listOf(from)
	now, staysList := listOf(to)
	if !isList || !staysList {
		f.add(Changed, path, from, to, short(from)+" → "+short(to))
		return
	}
	for i := range max(len(old), len(now)) {
		var a, b value
		if i < len(old) {
			a = old[i]
		}
		if i < len(now) {
			b = now[i]
		}
		f.member(path+"["+strconv.Itoa(i)+"]", a, b)
	}
}

// member compares what may be absent in one of the texts.
func (f *fields) member(path string, from, to value) {
	switch {
	case from == nil:
		f.add(Added, path, nil, nil, short(to)+" "+Added)
	case to == nil:
		f.add(Removed, path, nil, nil, short(from)+" "+Removed)
	default:
		f.value(path, from, to)
	}
}

func (f *fields) add(kind, path string, from, to value, text string) {
	*f = append(*f, Change{Kind: kind, Subject: "submission", Path: path, Before: from, After: to, Text: path + " " + text})
}
