package audit

import (
	"bytes"
	"encoding/json"
	"testing"

	"netsim/events"
)

// TestASignedAbsurdityIsFound: whoever holds a key may sign anything, such as a
// chain that ends before it begins. It is refused, and does not end the program
// that reads it.
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
