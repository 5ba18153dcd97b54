package events

import (
	"bytes"
	"testing"
)

// FuzzParseHeadsIndex parses any text. Only the canonical text is an index.
func FuzzParseHeadsIndex(f *testing.F) {
	f.Add(HeadsIndex(nil))
	f.Add(HeadsIndex([]HeadsPart{{Family: Billing, Partition: 3, Count: 2, Streams: 1}}))
	f.Fuzz(func(t *testing.T, text []byte) {
		if parts, err := ParseHeadsIndex(text); err == nil && !bytes.Equal(HeadsIndex(parts), text) {
			t.Errorf("%q is read as %q", text, HeadsIndex(parts))
		}
	})
}

// FuzzDecode decodes any value as any event. It returns data or an error.
func FuzzDecode(f *testing.F) {
	for _, d := range Types() {
		f.Add(d.EventType(), []byte("{}"))
		f.Add(d.EventType(), []byte(`{"name":1}`))
	}
	f.Fuzz(func(t *testing.T, name string, value []byte) {
		if data, err := Decode(name, value); err == nil && data == nil {
			t.Errorf("%s of %q is nothing", name, value)
		}
	})
}
