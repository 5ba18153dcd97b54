package contract

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const maxShown = 64 // characters of a wrong value that a message shows

// violation is an error in the value at a path.
type violation struct {
	path string // such as workload.phases[0].dataSize; empty for the whole value
	text string // such as "must be between 1 and 10, got 0"
}

// at prepends the name of a member, or the index of an item, to the path.
func (v *violation) at(step string) *violation {
	if v.path != "" && v.path[0] != '[' {
		step += "."
	}
	v.path = step + v.path
	return v
}

// message returns the violation as a sentence. whole names the value if the path is
// empty.
func (v *violation) message(whole string) string {
	if v.path == "" {
		return whole + " " + v.text
	}
	return v.path + " " + v.text
}

func mustBe(what string, got any) *violation {
	return &violation{text: "must be " + what + ", got " + show(got)}
}

func mustHave(least int, most *int, things string, got int) *violation {
	var what string
	switch {
	case most == nil:
		what = fmt.Sprintf("at least %d", least)
	case least == 0:
		what = fmt.Sprintf("at most %d", *most)
	default:
		what = fmt.Sprintf("between %d and %d", least, *most)
	}
	return &violation{text: fmt.Sprintf("must have %s %s, got %d", what, things, got)}
}

// formats has the string formats that are checked.
var formats = map[string]struct {
	noun  string
	valid func(string) bool
}{
	"date":      {"a date such as 2026-11-21", parses(time.DateOnly)},
	"date-time": {"an RFC 3339 timestamp such as 2026-11-21T08:30:00Z", parses(time.RFC3339Nano)},
}

func parses(layout string) func(string) bool {
	return func(v string) bool {
		_, err := time.Parse(layout, v)
		return err == nil
	}
}

// nouns names the types of the schema.
func (s *schema) nouns() string {
	nouns := make([]string, len(s.types))
	for i, t := range s.types {
		switch t {
		case "null":
			nouns[i] = t
		case "boolean":
			nouns[i] = "true or false"
		case "integer", "array", "object":
			nouns[i] = "an " + t
		default:
			nouns[i] = "a " + t
		}
	}
	return strings.Join(nouns, " or ")
}

// bounds describes the numbers within the bounds, for a message.
func (s *schema) bounds() string {
	switch {
	case s.max == nil:
		return "at least " + plain(*s.min)
	case s.min == nil:
		return "at most " + plain(*s.max)
	}
	return "between " + plain(*s.min) + " and " + plain(*s.max)
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// choices lists the enum as the documents do: [8, 16, 32].
func (s *schema) choices() string {
	texts := make([]string, len(s.enum))
	for i, choice := range s.enum {
		texts[i] = fmt.Sprint(choice)
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// memberNames lists the members that the object may have.
func (s *schema) memberNames() string {
	if len(s.members) == 0 {
		return "none"
	}
	names := make([]string, len(s.members))
	for i, m := range s.members {
		names[i] = m.name
	}
	return strings.Join(names, ", ")
}

// show returns the beginning of a wrong value, so that a client can find it.
func show(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		return "'" + clip(v) + "'"
	case json.Number:
		return clip(v.String())
	case bool:
		return strconv.FormatBool(v)
	case []any:
		return "an array"
	default:
		return "an object"
	}
}

// clip shortens text and escapes unprintable characters.
func clip(text string) string {
	ellipsis := ""
	text = text[:min(len(text), (maxShown+1)*utf8.UTFMax)] // a value may have megabytes
	if runes := []rune(text); len(runes) > maxShown {
		text, ellipsis = string(runes[:maxShown]), "…"
	}
	quoted := strconv.Quote(text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`) + ellipsis
}
