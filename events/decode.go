package events

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"netsim/events/scan"
)

// form reads the JSON objects of a struct type without encoding/json, which takes several
// times as long. It leaves objects with other members than the struct has to encoding/json,
// and values of unusual types or forms.
type form struct {
	scan.Table
	fields []field
}

// field is a member of the table.
type field struct {
	index []int // of the field in the struct
	read  func(into reflect.Value, text []byte) bool
}

// formOf returns nil for a type that only encoding/json reads.
func formOf(t reflect.Type) *form {
	f := &form{}
	seen := map[string]bool{}
	for _, one := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(one.Tag.Get("json"), ",")
		switch {
		case one.Anonymous && name == "" && one.Type.Kind() == reflect.Struct:
			continue // its fields follow
		case !one.IsExported() || one.Anonymous || name == "" || name == "-" || seen[name] || strings.Contains(options, "string"):
			return nil
		}
		seen[name] = true
		f.Add(name)
		f.fields = append(f.fields, field{one.Index, valueReader(one.Type)})
	}
	return f
}

func valueReader(t reflect.Type) func(reflect.Value, []byte) bool {
	switch {
	case t == reflect.TypeFor[string]():
		return readString
	case t == reflect.TypeFor[int64]():
		return readInteger
	case t == reflect.TypeFor[bool]():
		return readBool
	case t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]():
		if f := formOf(t); f != nil {
			return f.read
		}
	}
	return readOther
}

// read reads an object into a struct. It returns false if encoding/json has to read it; the
// struct may then be changed.
func (f *form) read(into reflect.Value, text []byte) bool {
	return f.Object(text, func(i int, value []byte) bool {
		return i >= 0 && f.fields[i].read(into.FieldByIndex(f.fields[i].index), value)
	})
}

func readString(into reflect.Value, text []byte) bool {
	plain, ok := scan.Plain(text)
	if !ok {
		return readOther(into, text)
	}
	into.SetString(string(plain))
	return true
}

func readInteger(into reflect.Value, text []byte) bool {
	const longest = 18 // digits of an integer that surely fits
	digits := text
	if text[0] == '-' {
		digits = text[1:]
	}
	if len(digits) == 0 || len(digits) > longest || digits[0] == '0' && len(text) > 1 {
		return false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return false
		}
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	into.SetInt(n)
	return err == nil
}

func readBool(into reflect.Value, text []byte) bool {
	into.SetBool(text[0] == 't')
	return string(text) == "true" || string(text) == "false"
}

// readOther reads a value of another type, or a string with escapes.
func readOther(into reflect.Value, text []byte) bool {
	return json.Unmarshal(text, into.Addr().Interface()) == nil
}

// decoder returns a function that reads the data of events of type T, with the results of
// encoding/json.
func decoder[T Data]() func(value []byte) (Data, error) {
	f := formOf(reflect.TypeFor[T]())
	return func(value []byte) (Data, error) {
		var d T
		if f != nil && f.read(reflect.ValueOf(&d).Elem(), value) {
			return d, nil
		}
		d = *new(T)
		if err := json.Unmarshal(value, &d); err != nil {
			return nil, fmt.Errorf("decode %s: %w", d.EventType(), err)
		}
		return d, nil
	}
}
