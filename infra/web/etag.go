package web

import (
	"slices"
	"strconv"
	"strings"

	"netsim/fault"
)

const maxTags = 4 << 10 // bytes of an If-Match or If-None-Match

// ETag returns the strong entity tag of a version with its quotes, such as "4"
// (completions.md section 1.5).
func ETag(version int64) string { return strconv.Quote(strconv.FormatInt(version, 10)) }

// Tags is a parsed If-Match or If-None-Match.
type Tags struct {
	any    bool
	strong []string // with quotes
	weak   []string // with quotes, without W/
}

// ParseTags parses the value of a header field: * or a list of entity tags. For
// anything else the error is Validation, with the field's name.
func ParseTags(field, value string) (Tags, error) {
	bad := func() (Tags, error) {
		return Tags{}, fault.New(fault.Validation, "%s must be * or a list of quoted entity tags, got %.64q", strings.ToLower(field), value)
	}
	rest := strings.Trim(value, " \t")
	if rest == "*" {
		return Tags{any: true}, nil
	}
	if rest == "" || len(rest) > maxTags {
		return bad()
	}
	var t Tags
	for {
		after, weak := strings.CutPrefix(rest, "W/")
		n := tagLength(after)
		if n == 0 {
			return bad()
		}
		if weak {
			t.weak = append(t.weak, after[:n])
		} else {
			t.strong = append(t.strong, after[:n])
		}
		rest = strings.TrimLeft(after[n:], " \t")
		if rest == "" {
			return t, nil
		}
		if rest[0] != ',' {
			return bad()
		}
		rest = strings.TrimLeft(rest, ", \t") // empty elements are allowed
		if rest == "" {
			return t, nil
		}
	}
}

// tagLength returns the length of the quoted tag at the start of s, or 0 if there is
// none.
func tagLength(s string) int {
	if s == "" || s[0] != '"' {
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return i + 1
		case c < 0x21 || c == 0x7f:
			return 0
		}
	}
	return 0
}

// Match reports whether If-Match holds for the current tag of an existing
// resource. The comparison is strong: a weak tag never matches.
func (t Tags) Match(current string) bool {
	return t.any || slices.Contains(t.strong, current)
}

// Strong returns the strong tags without their quotes, and whether the field is *,
// for comparisons outside HTTP.
func (t Tags) Strong() (tags []string, anyTag bool) {
	for _, tag := range t.strong {
		tags = append(tags, tag[1:len(tag)-1])
	}
	return tags, t.any
}

// MatchWeak reports whether If-None-Match matches the current tag, by the weak
// comparison. The answer to a GET is then 304.
func (t Tags) MatchWeak(current string) bool {
	return t.any || slices.Contains(t.strong, current) || slices.Contains(t.weak, current)
}

// NotModified reports whether the answer to a GET with this If-None-Match is 304.
// A malformed value is ignored.
func NotModified(ifNoneMatch, current string) bool {
	if ifNoneMatch == "" {
		return false
	}
	t, err := ParseTags("If-None-Match", ifNoneMatch)
	return err == nil && t.MatchWeak(current)
}
