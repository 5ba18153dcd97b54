package events_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"netsim/events"
)

// TestDecodeReadsWhatEncodingJSONReads: for data of every form, and for such data with
// random changes, Decode gives the value or the refusal of encoding/json.
func TestDecodeReadsWhatEncodingJSONReads(t *testing.T) {
	t.Parallel()
	for _, zero := range events.Types() {
		all := forms(t, zero)
		for _, line := range all {
			decodesAlike(t, zero, line)
		}
		rapid.Check(t, func(t *rapid.T) { decodesAlike(t, zero, changed(t, rapid.SampledFrom(all).Draw(t, "form"))) })
	}
}

// changed returns the text of an object with some of its bytes, members or values changed.
func changed(t *rapid.T, text string) string {
	parts := []string{
		"", "null", "true", "0", "-1", "01", "1.5", "1e3", "9223372036854775807", "99999999999999999999", `""`, `"a"`, `"\u00e9\""`, "\"\xff\"", "\"é\"",
		"[]", "{}", `["a"]`, `{"a":1}`, ",", ":", " ", "}", "]", "\"", "\\", "\n", "x",
	}
	for range rapid.IntRange(1, 3).Draw(t, "changes") {
		at := rapid.IntRange(0, len(text)).Draw(t, "at")
		switch part := rapid.SampledFrom(parts).Draw(t, "part"); rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0: // a part more
			text = text[:at] + part + text[at:]
		case 1: // some bytes replaced
			text = text[:at] + part + text[min(len(text), at+rapid.IntRange(1, 8).Draw(t, "bytes")):]
		case 2: // a value replaced
			if i := strings.IndexByte(text[at:], ':'); i >= 0 {
				from := at + i + 1
				if n := strings.IndexAny(text[from:], ",}"); n >= 0 {
					text = text[:from] + part + text[from+n:]
				}
			}
		case 3: // the members in another order, or one twice
			members := strings.Split(strings.Trim(text, "{}"), ",")
			if rapid.Bool().Draw(t, "twice") {
				members = append(members, members[0])
			}
			slices.Reverse(members)
			text = "{" + strings.Join(members, ",") + "}"
		case 4: // another case
			text = strings.ToUpper(text[:at]) + text[at:]
		}
	}
	return text
}

func decodesAlike(t rapid.TB, zero events.Data, text string) {
	t.Helper()
	into := reflect.New(reflect.TypeOf(zero))
	wantErr := json.Unmarshal([]byte(text), into.Interface())
	data, err := events.Decode(zero.EventType(), []byte(text))
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%s of %q: error %v, encoding/json: %v", zero.EventType(), text, err, wantErr)
	}
	if want := into.Elem().Interface(); err == nil && !reflect.DeepEqual(data, want) {
		t.Fatalf("%s of %q is read as\n%#v, by encoding/json as\n%#v", zero.EventType(), text, data, want)
	}
}
