package document_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netsim/simulator/document"
)

// TestCanonicalObjects: any object of strings is unchanged after it is encoded
// and decoded, and its members are in the order of their UTF-16 code units.
func TestCanonicalObjects(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		want := rapid.MapOf(rapid.String(), rapid.String()).Draw(rt, "object")
		text, err := document.Canonical(want)
		if err != nil {
			rt.Fatal(err)
		}
		got := map[string]string{}
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			rt.Fatalf("%v: %s", err, text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("%s (-want +got):\n%s", text, diff)
		}
		var keys []string
		d := json.NewDecoder(strings.NewReader(text))
		for token, err := d.Token(); err == nil; token, err = d.Token() {
			if key, ok := token.(string); ok {
				keys = append(keys, key)
				_, _ = d.Token() // its value
			}
		}
		if len(keys) != len(want) {
			rt.Fatalf("%d members in %s, want %d", len(keys), text, len(want))
		}
		if !slices.IsSortedFunc(keys, func(a, b string) int { return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b))) }) {
			rt.Fatalf("members of %s are not in the order of their UTF-16 code units", text)
		}
	})
}
