package audit

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var learn = flag.Bool("learn", false, "write the files of testdata that are missing")

// TestFixtures: the bundles for the tests of the command line have the defects that
// those tests need.
func TestFixtures(t *testing.T) {
	t.Parallel()
	if *learn {
		w := fourDays(t)
		forger := fourDaysWith(t, w.key, false, time.Time{})
		lossy := fourDaysWith(t, w.key, true, time.Time{})
		lossy.publish("2026-11-06", at("2026-11-07 00:02:30"), func(c Checkpoint, chains []Chain) (string, error) {
			c.Losses = []Loss{{1, "event"}}
			return c.Sign(w.key, chains)
		})
		writeMissing(t, map[string][]byte{
			"key":           []byte(w.key.Verifier + "\n"),
			"bundle.jsonl":  bundleOf(t, w, request()),
			brokenBase:      bundleOf(t, fourDaysWith(t, fixedKey(t), true, time.Time{}), request()),
			"forged.jsonl":  bundleOf(t, forger, request()),
			"spliced.jsonl": spliced(t, w, forger),
			"lossy.jsonl":   bundleOf(t, lossy, request()),
			"held.note":     []byte(noteOf(t, w, "2026-11-04")),
			"other.note":    []byte(noteOf(t, forger, "2026-11-04")),
		})
	}
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	key, held := strings.TrimSpace(string(read("key"))), []string{string(read("held.note"))}
	for name, want := range map[string]string{
		"bundle.jsonl": "", "forged.jsonl": "the bundle has no checkpoint 2026-11-04", "spliced.jsonl": "the proof of " + alice + " at checkpoint 2026-11-04 is missing",
	} {
		r := verifyWanted(t, read(name), Wanted{Verifier: key, Notes: held})
		if reported := findings(r.Problems); (reported == "") != (want == "") || !strings.Contains(reported, want) {
			t.Errorf("%s: found %q, want %q", name, reported, want)
		}
	}
	for strict, want := range map[bool]string{false: "", true: "checkpoint 2026-11-06 names 1 losses of the log that operators accepted"} {
		r := verifyWanted(t, read("lossy.jsonl"), Wanted{Strict: strict})
		if reported := findings(r.Problems); (reported == "") != (want == "") || !strings.Contains(reported, want) || r.Losses != 1 {
			t.Errorf("a bundle with an accepted loss, strict %t: found %q with %d losses, want %q", strict, reported, r.Losses, want)
		}
	}
}

// writeMissing writes the files of testdata that are missing. It keeps existing
// ones, because bundles of earlier releases must stay valid.
func writeMissing(t *testing.T, files map[string][]byte) {
	t.Helper()
	for name, text := range files {
		file, err := os.OpenFile(filepath.Join("testdata", name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			_, err = file.Write(text)
		}
		if err := errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

func noteOf(t *testing.T, w *world, name string) string {
	t.Helper()
	notes, err := w.log().checkpoints(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range notes {
		if n.name == name {
			return n.note
		}
	}
	t.Fatalf("no checkpoint %s", name)
	return ""
}

// spliced returns a forged bundle in which every checkpoint but the last is replaced
// by the honest one. Their proofs, which would show what is missing, are left out,
// and the last checkpoint is signed again so that it follows the honest ones.
func spliced(t *testing.T, honest, forger *world) []byte {
	t.Helper()
	var forged bytes.Buffer
	w := newBundleWriter(&forged)
	previous := ""
	for text := range bytes.Lines(bundleOf(t, forger, request())) {
		l, err := decodeLine(text)
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := l.body.(*checkpointLine); ok {
			read, err := OpenCheckpoint(c.Note, forger.key.Verifier)
			if err != nil {
				t.Fatal(err)
			}
			if read.Name == "2026-11-05" {
				read.Previous = HashOf(previous)
				if c.Note, err = sign(read.text(), forger.key); err != nil {
					t.Fatal(err)
				}
			} else {
				c.Note, c.Proofs = noteOf(t, honest, read.Name), []proof{}
			}
			previous = c.Note
		}
		if l.kind != kindSeal {
			w.add(l.kind, l.body)
		}
	}
	if err := w.seal(alice, forger.key); err != nil {
		t.Fatal(err)
	}
	return forged.Bytes()
}

// TestAPreliminaryBundle: a bundle of a period that had not ended is written and
// accepted only on request.
func TestAPreliminaryBundle(t *testing.T) {
	t.Parallel()
	w, r := fourDays(t), request()
	w.use(alice, "cluster", "start", 9, 1, at("2026-11-06 05:00:00"))
	w.checkpoint("noon", at("2026-11-06 12:00:00"))
	r.To = "2026-11-06"
	if err := WriteBundle(t.Context(), w.log(), r, w.key, new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "2026-11-07T00:00:00.000Z or later") {
		t.Errorf("a bundle of a period that has not ended: error %v, want one with the end", err)
	}
	r.Preliminary = true
	text := bundleOf(t, w, r)
	reported := findings(verifyBundle(t, text, w.key.Verifier).Problems)
	if !strings.Contains(reported, "covered until 2026-11-06T12:00:00.000Z only: it had not ended") {
		t.Errorf("found %q, want a period that had not ended", reported)
	}
	got := verifyWanted(t, text, Wanted{Verifier: w.key.Verifier, Preliminary: true})
	if len(got.Problems) > 0 || got.Covered != "2026-11-06T12:00:00.000Z" {
		t.Errorf("a preliminary bundle: %+v", got)
	}
}
