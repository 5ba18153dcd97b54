package web

import (
	"strings"
	"testing"

	"netsim/fault"
)

func TestTags(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]struct{ match, weak bool }{
		`*`:                      {true, true},
		` * `:                    {true, true},
		`"4"`:                    {true, true},
		`"3"`:                    {false, false},
		`"3", "4"`:               {true, true},
		`"3","4"`:                {true, true},
		`"3" ,, "4",`:            {true, true},
		`W/"4"`:                  {false, true},
		`W/"4", "4"`:             {true, true},
		`"a,b", "4"`:             {true, true},
		`"44"`:                   {false, false},
		`""`:                     {false, false},
		`"3", W/"4", "x\y", "z"`: {false, true},
	} {
		tags, err := ParseTags("If-Match", value)
		if err != nil {
			t.Errorf("ParseTags(%s): %v", value, err)
			continue
		}
		if got := tags.Match(`"4"`); got != want.match {
			t.Errorf("%s: Match = %t, want %t", value, got, want.match)
		}
		if got := tags.MatchWeak(`"4"`); got != want.weak {
			t.Errorf("%s: MatchWeak = %t, want %t", value, got, want.weak)
		}
		if got := NotModified(value, `"4"`); got != want.weak {
			t.Errorf("%s: NotModified = %t, want %t", value, got, want.weak)
		}
	}
}

func TestTagsMalformed(t *testing.T) {
	t.Parallel()
	for _, value := range []string{
		"", " ", "4", `"4`, `4"`, `"4" "5"`, `"4"x`, `w/"4"`, `W/4`, `W/`, `*, "4"`, `"4", *`, "\"a b\"", "\"\x00\"", `,"4"`,
		strings.Repeat(`"4",`, 2000),
	} {
		if _, err := ParseTags("If-Match", value); !fault.Is(err, fault.Validation) {
			t.Errorf("ParseTags(%.40q): %v, want %s", value, err, fault.Validation)
		}
		if NotModified(value, `"4"`) {
			t.Errorf("NotModified(%.40q) = true, want false", value)
		}
	}
}

func TestETag(t *testing.T) {
	t.Parallel()
	if got := ETag(4); got != `"4"` {
		t.Errorf("ETag(4) = %s, want %q with its quotes", got, "4")
	}
}
