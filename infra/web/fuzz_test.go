package web

import (
	"testing"
	"time"
)

// FuzzCursor opens changed cursors. None opens as another position.
func FuzzCursor(f *testing.F) {
	cursors, err := NewCursors([][]byte{make([]byte, 32)}, time.Now)
	if err != nil {
		f.Fatal(err)
	}
	// Each process of the fuzzer seals one of its own, with the same key.
	sealed := cursors.Seal([]byte("binding"), []byte("position"))
	f.Add(sealed)
	f.Add(sealed + "A")
	f.Fuzz(func(t *testing.T, cursor string) {
		if position, err := cursors.Open([]byte("binding"), cursor); err == nil && string(position) != "position" {
			t.Errorf("%q opens as %q", cursor, position)
		}
	})
}

// FuzzParseTags parses any value of a header. Tags have their quotes, and no tag is lost
// when they are written again.
func FuzzParseTags(f *testing.F) {
	for _, s := range []string{"*", `"4"`, `W/"4", "5"`, `"a",,"b"`, `"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		tags, err := ParseTags("If-Match", value)
		if err != nil {
			return
		}
		if !tags.any && len(tags.strong)+len(tags.weak) == 0 {
			t.Errorf("%q has no tag", value)
		}
		for _, tag := range append(tags.strong, tags.weak...) {
			if len(tag) < 2 || tag[0] != '"' || tag[len(tag)-1] != '"' {
				t.Errorf("%q has the tag %s", value, tag)
			}
		}
	})
}
