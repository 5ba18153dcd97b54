package audit_test

import (
	"testing"

	"golang.org/x/mod/sumdb/note"

	"netsim/audit"
)

// TestKeyVerifiesWhatItSigns tests many keys, because a key's text may contain the
// character that separates its parts.
func TestKeyVerifiesWhatItSigns(t *testing.T) {
	t.Parallel()
	for range 200 {
		text, err := audit.NewKey("netsim")
		if err != nil {
			t.Fatal(err)
		}
		key, err := audit.ParseKey(text)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := note.Sign(&note.Note{Text: "hello\n"}, key)
		if err != nil {
			t.Fatal(err)
		}
		verifier, err := note.NewVerifier(key.Verifier)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := note.Open(signed, note.VerifierList(verifier)); err != nil {
			t.Fatalf("%s: %v", key.Verifier, err)
		}
	}
}

func TestKeyRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "PRIVATE+KEY+netsim", "netsim+00000000+AAAA"} {
		if _, err := audit.ParseKey(text); err == nil {
			t.Errorf("ParseKey accepts %q", text)
		}
	}
}
