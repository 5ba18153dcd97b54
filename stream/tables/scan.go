package tables

import (
	"encoding/json"
	"strconv"
	"time"

	"netsim/events/scan"
)

// members are the members of an event type that have a column.
type members struct {
	scan.Table
	list []bound // by index in the table
}

// bound is a member and its column.
type bound struct {
	column int
	kind   code
}

func (m *members) add(name string, column int, kind Type) {
	m.Add(name)
	m.list = append(m.list, bound{column, kind.code()})
}

// read reads the members of a JSON object into the row. It reads what encoding/json reads:
// of members with the same name the last one counts, null leaves what there was, and
// unknown members are ignored. It returns false for a value that is not of the member's
// type; bad is then the column if it is an amount or a day, whose text is in the row.
func (r *Row) read(object []byte, m *members, bad *int) bool {
	return m.Object(object, func(at int, value []byte) bool { return at < 0 || r.set(&m.list[at], value, bad) })
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

// unquote returns the text of a JSON string, and false for what is not one.
func (r *Row) unquote(raw []byte) ([]byte, bool) {
	if inner, plain := scan.Plain(raw); plain {
		return inner, true
	}
	if len(raw) < 2 || raw[0] != '"' {
		return nil, false
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
