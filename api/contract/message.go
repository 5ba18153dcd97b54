package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

const maxShown = 64 // characters of an offending value that a message repeats

var nounOf = map[string]string{
	"null":    "null",
	"boolean": "true or false",
	"integer": "an integer",
	"number":  "a number",
	"string":  "a string",
	"array":   "an array",
	"object":  "an object",
}

// formats are the string formats that are checked.
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

// name is the subject of a message.
func name(path string) string {
	if path == "" {
		return "the request body"
	}
	return path
}

// join appends a member to a path: workload, phases[0] → workload.phases[0].
func join(path, member string) string {
	if path == "" {
		return member
	}
	return path + "." + member
}

// show repeats an offending value so that it can be found, and no more of it.
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
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("a %T", value)
}

// clip shortens text and escapes what does not print.
func clip(text string) string {
	ellipsis := ""
	if runes := []rune(text); len(runes) > maxShown {
		text, ellipsis = string(runes[:maxShown]), "…"
	}
	quoted := strconv.Quote(text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`) + ellipsis
}

// bounds says what a number must be.
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

// count says how many things there must be.
func count(least int, most *int, things string) string {
	switch {
	case most == nil:
		return fmt.Sprintf("at least %d %s", least, things)
	case least == 0:
		return fmt.Sprintf("at most %d %s", *most, things)
	}
	return fmt.Sprintf("between %d and %d %s", least, *most, things)
}

// choices lists an enum as the documents do: [8, 16, 32].
func (s *schema) choices() string {
	texts := make([]string, len(s.enum))
	for i, e := range s.enum {
		texts[i] = "null"
		if e != nil {
			texts[i] = fmt.Sprint(e)
		}
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// members lists the members that a client may send.
func (s *schema) members() string {
	if len(s.properties) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(s.properties)), ", ")
}
