// Package scan finds the members of an event's data in its JSON text, by a table of the
// members that a reader knows, and without reflection or copies.
//
// It finds where values are; what a value means is for the reader. stream/tables reads all
// that encoding/json reads. audit reads only the form in which the service writes, and
// leaves any other text to encoding/json.
package scan

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Table is the members of an event type, in the order in which they are written.
type Table struct {
	names  []string
	quoted []string
	index  map[string]int // into names
}

// Add adds a member. Its index is the number of those before it.
func (t *Table) Add(name string) {
	if t.index == nil {
		t.index = map[string]int{}
	}
	t.index[name] = len(t.names)
	t.names, t.quoted = append(t.names, name), append(t.quoted, `"`+name+`"`)
}

// Object calls member for each member of a JSON object, in the order of the text, with its
// index in the table, or -1, and the text of its value. It returns false if the text is
// not an object, and as soon as member does. Members of one name may come several times.
// Values are delimited, not validated: that is for member, as is the value of a member
// that the table does not have.
func (t *Table) Object(text []byte, member func(index int, value []byte) bool) bool {
	next := 0
	return items(text, '{', '}', func(i int) int {
		at, end := t.find(text, i, next)
		if end < 0 {
			return -1
		}
		if i = space(text, end); i >= len(text) || text[i] != ':' {
			return -1
		}
		i = space(text, i+1)
		if end = skip(text, i); end < 0 || !member(at, text[i:end]) {
			return -1
		}
		if at >= 0 {
			next = at + 1
		}
		return end
	})
}

// Array calls element with the text of each element of a JSON array, as Object does for
// members.
func Array(text []byte, element func(value []byte) bool) bool {
	return items(text, '[', ']', func(i int) (end int) {
		if end = skip(text, i); end < 0 || !element(text[i:end]) {
			return -1
		}
		return end
	})
}

// items calls item with the begin of each item of a list between two brackets. item
// returns its end, or -1 to stop.
func items(text []byte, open, closed byte, item func(begin int) (end int)) bool {
	i := space(text, 0)
	if i >= len(text) || text[i] != open {
		return false
	}
	if i = space(text, i+1); i < len(text) && text[i] == closed {
		return space(text, i+1) == len(text)
	}
	for {
		if i = item(i); i < 0 {
			return false
		}
		if i = space(text, i); i >= len(text) {
			return false
		}
		switch text[i] {
		case ',':
			i = space(text, i+1)
		case closed:
			return space(text, i+1) == len(text)
		default:
			return false
		}
	}
}

// Plain returns the text of a JSON string of ASCII without escapes. It shares memory with
// the string.
func Plain(raw []byte) ([]byte, bool) {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return nil, false
	}
	inner := raw[1 : len(raw)-1]
	for _, c := range inner {
		if c == '\\' || c < ' ' || c >= utf8.RuneSelf {
			return nil, false
		}
	}
	return inner, true
}

// find returns the index of the member whose name begins at i, -1 if there is none, and
// the end of the name, -1 for a name that is not a JSON string. next is a guess of the
// index. Names match as in encoding/json: exactly, or else without regard to case.
func (t *Table) find(text []byte, i, next int) (index, end int) {
	if next < len(t.quoted) && bytes.HasPrefix(text[i:], []byte(t.quoted[next])) {
		return next, i + len(t.quoted[next])
	}
	if end = skipString(text, i); end < 0 {
		return -1, -1
	}
	name, plain := Plain(text[i:end])
	if !plain {
		var s string
		if err := json.Unmarshal(text[i:end], &s); err != nil {
			return -1, -1
		}
		name = []byte(s)
	}
	if index, known := t.index[string(name)]; known {
		return index, end
	}
	for index := range t.names {
		if bytes.EqualFold(name, []byte(t.names[index])) {
			return index, end
		}
	}
	return -1, end
}

func space(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the end of the string that begins at i, -1 when there is none.
func skipString(text []byte, i int) int {
	if i >= len(text) || text[i] != '"' {
		return -1
	}
	i++
	if n := bytes.IndexByte(text[i:], '"'); n < 1 || text[i+n-1] != '\\' {
		if n < 0 {
			return -1
		}
		return i + n + 1
	}
	for ; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return -1
}

// skip returns the end of the value that begins at i, -1 when there is none.
func skip(text []byte, i int) int {
	if i >= len(text) {
		return -1
	}
	switch text[i] {
	case '"':
		return skipString(text, i)
	case '{', '[':
		for depth := 0; i < len(text); {
			switch text[i] {
			case '"':
				if i = skipString(text, i); i < 0 {
					return -1
				}
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return -1
	}
	from := i
	for i < len(text) && text[i] != ',' && text[i] != '}' && text[i] != ']' && text[i] > ' ' {
		i++
	}
	if i == from {
		return -1
	}
	return i
}
