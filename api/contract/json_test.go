package contract

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// decode refuses text that encoding/json would change silently.
func TestDecodeRefusesWhatItWouldChange(t *testing.T) {
	t.Parallel()
	cases := []struct{ given, then string }{
		{`{"name":"a","name":"b"}`, "name is given twice"},
		{`{"name":"a","n\u0061me":"b"}`, "name is given twice"},
		{`{"a":[{"b":1},{"b":1,"c":{},"b":2}],"a":1}`, "a[1].b is given twice"},
		{`[{"a":1,"a":1}]`, "[0].a is given twice"},
		{"{\"name\":\"a\xff\"}", "the request body is not utf-8"},
		{"\xfe\xff", "the request body is not utf-8"},
		{`{"name":"a\u0000"}`, "the request body holds a NUL character at byte 11"},
		{`{"a\u0000":1}`, "the request body holds a NUL character at byte 4"},
		{`"\ud800"`, "the request body holds half a surrogate pair at byte 2"},
		{`"\ud83d\ud83d"`, "the request body holds half a surrogate pair at byte 2"},
		{`"\udca9"`, "the request body holds half a surrogate pair at byte 2"},
		{`"\ud83d\ude00 \ud83d"`, "the request body holds half a surrogate pair at byte 15"},
		{`{"a":{"a":"\\u0000","b":":\":{","\\":1},"b":[{"a":1},{"a":"\ud83d\ude00"}]}`, ""},
		{"\"\ufffd\"", ""},
	}
	for _, c := range cases {
		_, err := decode([]byte(c.given))
		then := ""
		if err != nil {
			then = err.Error()
		}
		if then != c.then {
			t.Errorf("%q: %q, want %q", c.given, then, c.then)
		}
	}
}

// decode accepts everything that json.Marshal writes, except NUL.
func TestDecodeAcceptsWhatMarshalWrites(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		given := rapid.MapOf(rapid.String(), rapid.SliceOf(rapid.MapOf(rapid.String(), rapid.String()))).Draw(t, "value")
		text, err := json.Marshal(given)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decode(text); err != nil && !strings.Contains(string(text), `\u0000`) {
			t.Fatalf("%s: %v", text, err)
		}
	})
}
