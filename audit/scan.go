package audit

import (
	"reflect"
	"strings"
	"sync"
	"time"

	"netsim/events"
	"netsim/events/scan"
)

// shape says how the data of an event type is read: which field of its struct each member
// sets.
type shape struct {
	scan.Table
	fields []field // by index in the table
}

type field struct {
	index int // in the struct
	word  int // the entry of words, for a string
}

// words caches the last value of each string member. Most values are the same in many
// events in a row, which then share one copy.
type words [64]string

// shapes returns the shapes of the data that is read here, from the tags of the structs.
var shapes = sync.OnceValue(func() map[reflect.Type]*shape {
	all, numbers := map[reflect.Type]*shape{}, map[string]int{}
	for _, of := range []reflect.Type{
		reflect.TypeFor[events.UsageRecorded](), reflect.TypeFor[events.DailyCostRated](), reflect.TypeFor[events.CostSegment](),
		reflect.TypeFor[events.CreditHeld](), reflect.TypeFor[events.CreditReleased](),
	} {
		s := new(shape)
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			if _, known := numbers[name]; !known {
				numbers[name] = len(numbers)
			}
			s.Add(name)
			s.fields = append(s.fields, field{i, numbers[name]})
		}
		all[of] = s
	}
	return all
})

// read reads a JSON object into the struct to which into points, which must be empty. It
// returns false, and the struct must not be used, unless the text has the form in which
// the service writes it: ASCII without escapes, integers, and members that the struct has.
// seen may be nil.
func read[T any](text []byte, into *T, seen *words) bool {
	s, at := shapes()[reflect.TypeFor[T]()], reflect.ValueOf(into).Elem()
	return s.Object(text, func(i int, value []byte) (ok bool) {
		if i < 0 {
			return false
		}
		member := at.Field(s.fields[i].index)
		switch member.Kind() { //nolint:exhaustive // these are the kinds of most members, and quicker this way
		case reflect.String:
			text, ok := seen.text(s.fields[i].word, value)
			member.SetString(text)
			return ok
		case reflect.Int64:
			n, ok := integer(value)
			member.SetInt(n)
			return ok
		}
		switch into := member.Addr().Interface().(type) {
		case *time.Time:
			*into, ok = moment(value)
		case *[]events.CostSegment:
			if *into != nil {
				return false // encoding/json reads a second list into the first one
			}
			*into = make([]events.CostSegment, 0, 1)
			ok = scan.Array(value, func(value []byte) bool {
				*into = append(*into, events.CostSegment{})
				return read(value, &(*into)[len(*into)-1], seen)
			})
		}
		return ok
	})
}

// text reads a string through the cache's entry.
func (w *words) text(entry int, raw []byte) (string, bool) {
	text, ok := scan.Plain(raw)
	if !ok || w == nil {
		return string(text), ok
	}
	if string(text) != w[entry] {
		w[entry] = string(text)
	}
	return w[entry], true
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
