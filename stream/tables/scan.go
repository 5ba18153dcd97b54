package tables

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"
)

// members are the members of an event type, in the order in which they are written.
type members struct {
	list  []bound
	index map[string]int // into list
}

// bound is a member and its column.
type bound struct {
	name   string
	column int
	kind   code
}

func (m *members) add(name string, column int, kind Type) {
	m.index[name] = len(m.list)
	m.list = append(m.list, bound{name, column, kind.code()})
}

// find returns the member with a name; next is a guess of its index. Names match as
// in encoding/json: exactly, or else without regard to case.
func (m *members) find(name []byte, next int) int {
	if next < len(m.list) && string(name) == m.list[next].name {
		return next
	}
	if i, ok := m.index[string(name)]; ok {
		return i
	}
	for i := range m.list {
		if bytes.EqualFold(name, []byte(m.list[i].name)) {
			return i
		}
	}
	return -1
}

// scan reads the members of a JSON object into a row. It reads what encoding/json
// reads, without reflection: of members with the same name the last one counts, null
// leaves what there was, and unknown members are ignored. It returns false for a value
// that is not of the member's type; bad is then the column if it is an amount or a
// day, whose text is in the row.
func scan(object []byte, m *members, r *Row, bad *int) bool {
	i := space(object, 0)
	if i >= len(object) || object[i] != '{' {
		return false
	}
	if i = space(object, i+1); i < len(object) && object[i] == '}' {
		return space(object, i+1) == len(object)
	}
	next := 0
	for {
		end := skipString(object, i)
		if end < 0 {
			return false
		}
		name, ok := r.unquote(object[i:end])
		if !ok {
			return false
		}
		if i = space(object, end); i >= len(object) || object[i] != ':' {
			return false
		}
		i = space(object, i+1)
		if end = skip(object, i); end < 0 {
			return false
		}
		if at := m.find(name, next); at >= 0 {
			next = at + 1
			if !r.set(&m.list[at], object[i:end], bad) {
				return false
			}
		}
		if i = space(object, end); i >= len(object) {
			return false
		}
		switch object[i] {
		case ',':
			i = space(object, i+1)
		case '}':
			return space(object, i+1) == len(object)
		default:
			return false
		}
	}
}

// set reads the value of a member.
func (r *Row) set(b *bound, raw []byte, bad *int) (ok bool) {
	if string(raw) == "null" {
		return true
	}
	v := &r.values[b.column]
	switch b.kind {
	case text:
		v.Text, ok = r.unquote(raw)
	case integral:
		v.Int, ok = integer(raw)
	case boolean:
		ok = string(raw) == "true" || string(raw) == "false"
		v.Int = 0
		if raw[0] == 't' {
			v.Int = 1
		}
	case timestamps:
		v.Int, ok = timestamp(raw)
	case nested:
		ok = (raw[0] == '{' || raw[0] == '[') && json.Valid(raw)
		v.Text = valid(raw)
	case date, decimal:
		if v.Text, ok = r.unquote(raw); !ok {
			return false
		}
		if len(v.Text) == 0 {
			r.null(b.column)
			return true
		}
		if b.kind == date {
			v.Int, ok = day(v.Text)
		} else {
			v.Amount, ok = parseAmount(v.Text)
		}
		if !ok {
			*bad = b.column
			return false
		}
	}
	if ok {
		r.fill(b.column)
	}
	return ok
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
	for i++; i < len(text); i++ {
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
	for i < len(text) && text[i] != ',' && text[i] != '}' && text[i] > ' ' {
		i++
	}
	if i == from {
		return -1
	}
	return i
}

// unquote returns the text of a JSON string, and false for what is not one.
func (r *Row) unquote(raw []byte) ([]byte, bool) {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return nil, false
	}
	inner := raw[1 : len(raw)-1]
	plain := true
	for _, c := range inner {
		if c == '\\' || c < ' ' || c >= utf8.RuneSelf {
			plain = false
			break
		}
	}
	if plain {
		return inner, true
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, false
	}
	return r.keep(s), true
}

func integer(raw []byte) (int64, bool) {
	if len(raw) > 18 {
		n, err := strconv.ParseInt(string(raw), 10, 64)
		return n, err == nil && raw[0] != '+'
	}
	digits := raw
	if raw[0] == '-' {
		digits = raw[1:]
	}
	if len(digits) == 0 || (digits[0] == '0' && len(digits) > 1) {
		return 0, false
	}
	var n int64
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	if raw[0] == '-' {
		n = -n
	}
	return n, true
}

// timestamp reads a time in RFC 3339, in quotes, as microseconds.
func timestamp(raw []byte) (int64, bool) {
	var t time.Time
	if err := t.UnmarshalJSON(raw); err != nil {
		return 0, false
	}
	return t.UnixMicro(), true
}

// day reads a day as YYYY-MM-DD, as days since 1970.
func day(text []byte) (int64, bool) {
	t, err := time.Parse(time.DateOnly, string(text))
	if err != nil || len(text) != len(time.DateOnly) {
		return 0, false
	}
	return t.Unix() / 86400, true
}
