package document

import "testing"

// FuzzParse reads documents that no client would send. What is read once is read again from
// its canonical text.
func FuzzParse(f *testing.F) {
	f.Add(`{}`)
	f.Add(`{"components":[{"type":"switch","name":"leaf","model":"clos-switch-v1","version":"1.0.0"}],"topology":{"topologyTiers":1}}`)
	f.Fuzz(func(t *testing.T, text string) {
		document, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Canonical(document)
		if err != nil {
			return // numbers that have no JSON
		}
		if _, err := Parse(again); err != nil {
			t.Errorf("%q, from %q, is refused: %v", again, text, err)
		}
	})
}
