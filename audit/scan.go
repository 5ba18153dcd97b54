package audit

import (
	"reflect"
	"strings"
	"time"

	"netsim/events"
	"netsim/events/scan"
)

// readers read the data of the most frequent events. They belong to one goroutine, and
// the zero value is ready.
type readers struct {
	usage    reader[events.UsageRecorded]
	cost     reader[events.DailyCostRated]
	held     reader[events.CreditHeld]
	released reader[events.CreditReleased]
}

// reader reads JSON objects into structs of one type. Its table is that of the struct's
// tags.
type reader[T any] struct {
	scan.Table
	data     T // that is being read
	members  []member
	segments *reader[events.CostSegment]
}

// member is a member of the table.
type member struct {
	into any // points to its field in the reader's data
	// last is its last value, if it is a string. Most values are the same in many events in
	// a row, which then share one copy.
	last string
}

// read reads an object. It returns false, and into is as before, unless the text has the
// form in which the service writes it: ASCII without escapes, integers, and members that
// the struct has.
func (r *reader[T]) read(text []byte, into *T) bool {
	if r.members == nil {
		r.prepare()
	}
	r.data = *new(T)
	if !r.Object(text, func(i int, value []byte) bool { return i >= 0 && r.set(&r.members[i], value) }) {
		return false
	}
	*into = r.data
	return true
}

func (r *reader[T]) prepare() {
	data := reflect.ValueOf(&r.data).Elem()
	for i := range data.NumField() {
		name, _, _ := strings.Cut(data.Type().Field(i).Tag.Get("json"), ",")
		r.Add(name)
		r.members = append(r.members, member{into: data.Field(i).Addr().Interface()})
	}
}

func (r *reader[T]) set(m *member, value []byte) (ok bool) {
	switch into := m.into.(type) {
	case *string:
		text, plain := scan.Plain(value)
		if plain && string(text) != m.last {
			m.last = string(text)
		}
		*into, ok = m.last, plain
	case *int64:
		*into, ok = integer(value)
	case *time.Time:
		*into, ok = moment(value)
	case *[]events.CostSegment:
		if *into != nil {
			return false // encoding/json reads a second list into the first one
		}
		if r.segments == nil {
			r.segments = new(reader[events.CostSegment])
		}
		*into = make([]events.CostSegment, 0, 1)
		ok = scan.Array(value, func(value []byte) bool {
			*into = append(*into, events.CostSegment{})
			return r.segments.read(value, &(*into)[len(*into)-1])
		})
	}
	return ok
}

func integer(raw []byte) (n int64, ok bool) {
	digits := raw
	if raw[0] == '-' {
		digits = raw[1:]
	}
	if len(digits) == 0 || len(digits) > 18 || digits[0] == '0' && len(raw) > 1 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if raw[0] == '-' {
		n = -n
	}
	return n, true
}

// moment reads a UTC time such as "2026-11-21T03:04:05.678Z", in quotes. The fraction is
// optional and has up to nine digits.
func moment(raw []byte) (t time.Time, ok bool) {
	const least = len("2026-11-21T03:04:05Z")
	text, ok := scan.Plain(raw)
	if !ok || len(text) < least || len(text) == least+1 || len(text) > least+10 || text[len(text)-1] != 'Z' {
		return t, false
	}
	number := func(from, to int) (n int) {
		for _, c := range text[from:to] {
			ok = ok && c >= '0' && c <= '9'
			n = n*10 + int(c-'0')
		}
		return n
	}
	year, month, day := number(0, 4), number(5, 7), number(8, 10)
	hour, minute, second, nanos := number(11, 13), number(14, 16), number(17, 19), 0
	if len(text) > least {
		nanos = number(20, len(text)-1)
		for range 9 - (len(text) - 1 - 20) {
			nanos *= 10
		}
	}
	if text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':' ||
		len(text) > least && text[19] != '.' || hour > 23 || minute > 59 || second > 59 {
		return t, false
	}
	t = time.Date(year, time.Month(month), day, hour, minute, second, nanos, time.UTC)
	return t, ok && t.Day() == day && t.Month() == time.Month(month) && year != 0
}
