package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"netsim/fault"
)

// decode reads exactly one JSON value. It refuses what encoding/json would change
// silently: invalid UTF-8 and unpaired surrogates, which become U+FFFD, and repeated
// members, where the last one wins. It also refuses NUL, which PostgreSQL does not
// store.
func decode(body []byte) (any, error) {
	if !utf8.Valid(body) {
		return nil, fault.New(fault.Validation, "the request body is not utf-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return nil, fault.New(fault.Validation, "the request body is not json at byte %d: %s", syntax.Offset, syntax.Error())
	}
	if err != nil {
		return nil, fault.New(fault.Validation, "the request body is not json: it ends too early")
	}
	if _, err = decoder.Token(); err != io.EOF {
		return nil, fault.New(fault.Validation, "the request body must be one json value, but more follows at byte %d", decoder.InputOffset())
	}
	named, err := scan(body)
	if err != nil {
		return nil, err
	}
	if named != members(value) {
		return nil, &fault.Fault{Code: fault.Validation, Message: repeated(json.NewDecoder(bytes.NewReader(body))).message("the request body")}
	}
	return value, nil
}

// scan returns how many members a JSON text has, and refuses escapes of NUL and of
// unpaired surrogates.
func scan(text []byte) (named int, err error) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			quoted = !quoted
		case text[i] == ':' && !quoted:
			named++
		case text[i] != '\\':
		case text[i+1] != 'u':
			i++
		default:
			r := escaped(text[i:])
			switch {
			case r == 0:
				return 0, fault.New(fault.Validation, "the request body holds a NUL character at byte %d", i+1)
			case utf16.IsSurrogate(r) && utf16.DecodeRune(r, escaped(text[i+6:])) == utf8.RuneError:
				return 0, fault.New(fault.Validation, "the request body holds half a surrogate pair at byte %d", i+1)
			case utf16.IsSurrogate(r):
				i += 6
			}
			i += 5
		}
	}
	return named, nil
}

// escaped returns the value of the escape \uXXXX at the start of the text, or -1.
func escaped(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	r, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(r)
}

// members counts the members of all objects in the value.
func members(value any) int {
	n := 0
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			n += members(item)
		}
	case map[string]any:
		n = len(v)
		for _, member := range v {
			n += members(member)
		}
	}
	return n
}

// repeated returns the first repeated member in the next value. The value must be
// well-formed.
func repeated(d *json.Decoder) *violation {
	token, _ := d.Token()
	opening, composite := token.(json.Delim)
	if !composite {
		return nil
	}
	seen := map[string]bool{}
	for i := 0; d.More(); i++ {
		step := "[" + strconv.Itoa(i) + "]"
		if opening == '{' {
			name, _ := d.Token()
			step = clip(name.(string))
			if seen[name.(string)] {
				return (&violation{text: "is given twice"}).at(step)
			}
			seen[name.(string)] = true
		}
		if found := repeated(d); found != nil {
			return found.at(step)
		}
	}
	_, _ = d.Token() // the closing delimiter
	return nil
}
