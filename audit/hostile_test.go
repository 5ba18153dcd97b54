package audit

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"netsim/events"
)

// TestSignedNegativeSequenceIsReported: a key's owner can sign anything, such as a
// head with a negative sequence. The audit reports it and does not panic.
func TestSignedNegativeSequenceIsReported(t *testing.T) {
	t.Parallel()
	w := fourDays(t)
	lines := bytes.SplitAfter(bundleOf(t, w, request()), []byte("\n"))
	var text bytes.Buffer
	forged := newBundleWriter(&text)
	for _, before := range lines[:len(lines)-2] { // without the seal
		l, err := decodeLine(before)
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := l.body.(*checkpointLine); ok {
			opened, err := OpenCheckpoint(c.Note, w.key.Verifier)
			if err != nil {
				t.Fatal(err)
			}
			chain := Chain{Stream: alice, Partition: c.Proofs[len(c.Proofs)-1].Partition}
			chain.Head = events.Head{Sequence: -7, Hash: events.Hash{1}}
			if c.Note, err = opened.Sign(w.key, []Chain{chain}); err != nil {
				t.Fatal(err)
			}
			c.Proofs = []proof{{Stream: alice, Partition: chain.Partition, Sequence: -7, Hash: chain.Head.Hash.String(), Path: []string{}}}
		}
		forged.add(l.kind, l.body)
	}
	if err := forged.seal(alice, w.key); err != nil {
		t.Fatal(err)
	}
	if r := verifyBundle(t, text.Bytes(), ""); len(r.Problems) == 0 {
		said, _ := json.Marshal(r) //nolint:errchkjson // only for the message
		t.Errorf("want a problem with the negative sequence, got none: %s", said)
	}
}

// TestHeldCheckpointMissingFromLog: a log that lost its last checkpoint is
// consistent, but an auditor who holds that checkpoint detects the loss.
func TestHeldCheckpointMissingFromLog(t *testing.T) {
	t.Parallel()
	w := fourDays(t)
	ctx, verifier, held := t.Context(), w.key.Verifier, w.note
	check := func(notes ...string) string {
		t.Helper()
		found, err := Held(ctx, w.log(), verifier, notes)
		if err != nil {
			t.Fatal(err)
		}
		return findings(found)
	}
	if got := check(held); got != "" {
		t.Errorf("a whole log: %s", got)
	}
	if got, want := check("netsim checkpoint v1\n"), "note 1 that you hold: "; !strings.Contains(got, want) {
		t.Errorf("an invalid note: %q, want %q", got, want)
	}
	// Cut the last checkpoint, as a client with access to the broker can.
	for name, records := range w.records {
		if len(records) > 0 && !strings.Contains(name, "billing") {
			w.records[name] = records[:len(records)-1]
		}
	}
	r, err := Verify(ctx, w.log(), verifier, nil)
	if err != nil || len(r.Findings) > 0 {
		t.Fatalf("verify the cut log: %v, want no findings, found:\n%s", err, findings(r.Findings))
	}
	if got, want := check(held), "the log has no checkpoint 2026-11-05"; !strings.Contains(got, want) {
		t.Errorf("a cut log: %q, want %q", got, want)
	}
}
