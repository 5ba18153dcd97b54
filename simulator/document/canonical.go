package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Canonical returns v's JSON in the canonical form of RFC 8785, so that equal
// values have equal texts and hashes. Integers beyond 2^53 are not exact.
func Canonical(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encode canonical JSON: %w", err)
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		return "", fmt.Errorf("encode canonical JSON: %w", err)
	}
	return string(appendCanonical(nil, plain)), nil
}

// CanonicalTree is Canonical for a value that encoding/json has decoded into an any.
func CanonicalTree(tree any) string { return string(appendCanonical(nil, tree)) }

func appendCanonical(b []byte, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		b = append(b, '{')
		for i, key := range slices.SortedFunc(maps.Keys(v), byCodeUnit) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, key), ':')
			b = appendCanonical(b, v[key])
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendCanonical(b, v[i])
		}
		return append(b, ']')
	case string:
		return appendString(b, v)
	case float64:
		return appendNumber(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	}
	return append(b, "null"...)
}

// byCodeUnit orders keys as RFC 8785 does, by UTF-16 code units. Below U+E000
// that is the order of their bytes.
func byCodeUnit(a, b string) int {
	if strings.IndexFunc(a, beyond) < 0 && strings.IndexFunc(b, beyond) < 0 {
		return strings.Compare(a, b)
	}
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

func beyond(r rune) bool { return r >= 0xe000 }

// escaped reports whether a string with this character needs encoding/json: the character
// must be escaped, or it is U+FFFD, to which bytes that are not UTF-8 decode.
func escaped(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == utf8.RuneError }

// appendNumber relies on encoding/json, which writes numbers as ECMAScript does, except
// for the sign of zero.
func appendNumber(b []byte, f float64) []byte {
	if f == 0 {
		return append(b, '0')
	}
	text, _ := json.Marshal(f) //nolint:errchkjson // a number that was JSON is finite
	return append(b, text...)
}

func appendString(b []byte, s string) []byte {
	if strings.IndexFunc(s, escaped) < 0 {
		return append(append(append(b, '"'), s...), '"')
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	text := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	// encoding/json escapes two characters that RFC 8785 does not escape. Other
	// escapes are copied with the character after the backslash, which may be
	// another backslash.
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			b = append(b, text[i])
			continue
		}
		switch {
		case bytes.HasPrefix(text[i:], []byte(`\u2028`)):
			b = append(b, "\u2028"...)
			i += 5
		case bytes.HasPrefix(text[i:], []byte(`\u2029`)):
			b = append(b, "\u2029"...)
			i += 5
		default:
			b = append(b, text[i], text[i+1])
			i++
		}
	}
	return b
}
