package audit

import (
	"bytes"
	"testing"
)

// FuzzCheckpoint parses the texts of checkpoints. Only the canonical text is one.
func FuzzCheckpoint(f *testing.F) {
	f.Add(Checkpoint{Name: "n", Cluster: "c"}.text())
	f.Add(Checkpoint{Name: "n", Cluster: "c", Losses: []Loss{{1, "e"}}, Parts: []Part{{Family: "billing", TopicID: "t"}}}.text())
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := parseCheckpoint(text); err == nil && c.text() != text {
			t.Errorf("%q is read as %q", text, c.text())
		}
	})
}

// FuzzVerifyBundle verifies files that are no bundles.
func FuzzVerifyBundle(f *testing.F) {
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"line":1,"sha256":"","body":{}}` + "\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		report, err := VerifyBundle(bytes.NewReader(file), Wanted{Account: "acct_0000000000e008000000000001"})
		if err == nil && len(report.Problems) == 0 {
			t.Error("a bundle without a signature is accepted")
		}
	})
}
