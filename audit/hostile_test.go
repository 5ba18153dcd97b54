package audit

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"netsim/events"
)

// TestASignedAbsurdityIsFound: a key's owner can sign anything, such as a chain that
// ends before it begins. That is refused without a panic.
func TestASignedAbsurdityIsFound(t *testing.T) {
	t.Parallel()
	w := lived(t)
	lines := bytes.SplitAfter(bundleOf(t, w, request()), []byte("\n"))
	forged := bundleWriter{out: new(bytes.Buffer)}
	for _, text := range lines[:len(lines)-2] { // without the seal
		l, err := decodeLine(text)
		if err != nil {
			t.Fatal(err)
		}
		if c, is := l.body.(*checkpointLine); is {
			was, err := OpenCheckpoint(c.Note, w.key.Verifier)
			if err != nil {
				t.Fatal(err)
			}
			chain := Chain{Stream: alice, Partition: c.Proofs[len(c.Proofs)-1].Partition}
			chain.Head = events.Head{Sequence: -7, Hash: events.Hash{1}}
			if c.Note, err = was.Sign(w.key, []Chain{chain}); err != nil {
				t.Fatal(err)
			}
			c.Proofs = []proof{{Stream: alice, Partition: chain.Partition, Sequence: -7, Hash: chain.Head.Hash.String(), Path: []string{}}}
		}
		forged.add(l.kind, l.body)
	}
	if err := forged.seal(alice, w.key); err != nil {
		t.Fatal(err)
	}
	if r := verifyBundle(t, bytes.Join(forged.lines, nil), ""); len(r.Problems) == 0 {
		text, _ := json.Marshal(r) //nolint:errchkjson // it is only shown
		t.Errorf("nothing was found: %s", text)
	}
}

// TestWhatIsHeldIsInTheLog: a log that lost its last day and the checkpoint of that
// day is consistent, but not with an auditor's note.
func TestWhatIsHeldIsInTheLog(t *testing.T) {
	t.Parallel()
	w := lived(t)
	ctx, verifier, held := t.Context(), w.key.Verifier, w.note
	look := func(notes ...string) string {
		t.Helper()
		found, err := Held(ctx, w.log(), verifier, notes)
		if err != nil {
			t.Fatal(err)
		}
		return findings(found)
	}
	if said := look(held); said != "" {
		t.Errorf("of a whole log: %s", said)
	}
	if said, want := look("netsim checkpoint v1\n"), "note 1 that you hold: "; !strings.Contains(said, want) {
		t.Errorf("of what is no note: %q, want %q", said, want)
	}
	// A writer to the topics can cut all of them.
	for name, records := range w.records {
		if len(records) > 0 && !strings.Contains(name, "billing") {
			w.records[name] = records[:len(records)-1]
		}
	}
	r, err := Verify(ctx, w.log(), verifier, nil)
	if err != nil || len(r.Findings) > 0 {
		t.Fatalf("%v, found:\n%s", err, findings(r.Findings))
	}
	if said, want := look(held), "the log has no checkpoint 2026-11-05"; !strings.Contains(said, want) {
		t.Errorf("of a log that was cut: %q, want %q", said, want)
	}
}
