package audit

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"netsim/rating"
)

// succeeded returns a world whose log three keys signed, one after the other: the
// first key for four days, each of the others for one more day. change, unless
// nil, replaces the second succession.
func succeeded(t *testing.T, change func(w *world, keys []*Key)) (w *world, keys []*Key) {
	t.Helper()
	w = fourDays(t)
	keys = []*Key{w.key, newTestKey(t), newTestKey(t)}
	w.succeed("second", keys[1], at("2026-11-06 12:00:00"))
	w.use(alice, "cluster", "start", 9, 2, at("2026-11-06 13:00:00"))
	w.accrueAll("2026-11-06")
	w.checkpoint("2026-11-06", at("2026-11-07 00:02:30"))
	if change == nil {
		w.succeed("third", keys[2], at("2026-11-07 12:00:00"))
	} else {
		change(w, keys)
		w.key = keys[2]
	}
	w.accrueAll("2026-11-07")
	w.checkpoint("2026-11-07", at("2026-11-08 00:02:30"))
	return w, keys
}

func (w *world) accrueAll(day string) {
	date := at(day + " 00:00:00")
	for _, account := range []string{alice, bob} {
		w.accrue(account, "cluster", date, date.AddDate(0, 0, 1).Add(30*time.Second))
		w.accrue(account, "storage", date, date.AddDate(0, 0, 1).Add(30*time.Second))
	}
}

// ofDays returns a bundle request for a period.
func ofDays(from, to string) Request {
	r := request()
	r.From, r.To = from, to
	return r
}

type falseSuccession struct {
	change func(w *world, keys []*Key)
	want   string
}

// falseSuccessions are ways to bring a third key into a log without a valid
// succession, each with the finding of a verifier that knows the first key.
func falseSuccessions(t *testing.T) map[string]falseSuccession {
	t.Helper()
	when := at("2026-11-07 12:00:00")
	by := func(signers func(w *world, third *Key) []*Key) func(w *world, keys []*Key) {
		return func(w *world, keys []*Key) {
			third := keys[2]
			w.publish("third", when, func(c Checkpoint, chains []Chain) (string, error) {
				c, err := c.over(chains)
				if err != nil {
					return "", err
				}
				c.Succession = Succession{w.key.Verifier, third.Verifier}
				return sign(c.text(), signers(w, third)...)
			})
		}
	}
	return map[string]falseSuccession{
		"unsucceeded": {func(*world, []*Key) {}, "and no succession leads from that key to another"},
		"unrelated":   {by(func(*world, *Key) []*Key { return []*Key{newTestKey(t)} }), "it is signed by test+"},
		"by itself":   {by(func(_ *world, third *Key) []*Key { return []*Key{third} }), "it is signed by test+"},
		"unproved":    {by(func(w *world, _ *Key) []*Key { return []*Key{w.key} }), "is not signed by both"},
		"replayed": {func(w *world, keys []*Key) {
			other := newWorldOf(t, w.key)
			other.cluster = "cluster-2"
			other.rate("", "cluster", rating.Unit, "10.00", when)
			other.succeed("third", keys[2], when)
			w.publish("third", when, func(Checkpoint, []Chain) (string, error) { return other.note, nil })
		}, "it is of cluster cluster-2, this is cluster-1"},
		"earlier": {func(w *world, keys []*Key) { // the first key, which is no longer the log's
			w.publish("third", when, func(c Checkpoint, chains []Chain) (string, error) { return c.Succeed(keys[0], keys[2], chains) })
		}, "it is signed by test+"},
	}
}

// TestASuccessionIsFollowed: each of three keys verifies the whole log, an auditor's
// notes, and bundles of its beginning and its end.
func TestASuccessionIsFollowed(t *testing.T) {
	t.Parallel()
	w, keys := succeeded(t, nil)
	held := []string{noteOf(t, w, "2026-11-05"), noteOf(t, w, "2026-11-06"), noteOf(t, w, "third")}
	early, late := bundleOf(t, w, ofDays("2026-11-02", "2026-11-04")), bundleOf(t, w, ofDays("2026-11-07", "2026-11-07"))
	for i, key := range keys {
		r, err := Verify(t.Context(), w.log(), key.Verifier, nil)
		if err != nil || len(r.Findings) > 0 || r.Checkpoints != 8 {
			t.Errorf("verify with key %d: %v, %d checkpoints, want 8 and no findings, found:\n%s", i+1, err, r.Checkpoints, findings(r.Findings))
		}
		if found, err := Held(t.Context(), w.log(), key.Verifier, held); err != nil || len(found) > 0 {
			t.Errorf("key %d: %v, want no findings on the held notes, found:\n%s", i+1, err, findings(found))
		}
		for name, text := range map[string][]byte{"early": early, "late": late} {
			r := verifyWanted(t, text, Wanted{Verifier: key.Verifier, Notes: held[2:]})
			if len(r.Problems) > 0 || r.Verifier != keys[2].Verifier {
				t.Errorf("key %d, the %s bundle: sealed by %s, want the third key and no problems, found:\n%s", i+1, name, r.Verifier, findings(r.Problems))
			}
		}
		last := Latest(append(slices.Clone(held), noteOf(t, w, "second"), noteOf(t, fourDays(t), "2026-11-05")), key.Verifier)
		if last.Name != "third" {
			t.Errorf("key %d: the latest checkpoint is %q, want third", i+1, last.Name)
		}
	}
	for i, want := range []bool{false, false, true} {
		if err := keys[i].Continues(w.note); (err == nil) != want {
			t.Errorf("key %d continues the log: error %v, want none: %v", i+1, err, want)
		}
		if err := keys[i].Continues(noteOf(t, w, "third")); (err == nil) != want {
			t.Errorf("key %d continues after the succession: error %v, want none: %v", i+1, err, want)
		}
	}
	w.key = keys[1]
	if err := WriteBundle(t.Context(), w.log(), request(), w.key, new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "was succeeded by "+keys[2].Verifier) {
		t.Errorf("a bundle sealed by a succeeded key: error %v, want one that names the successor", err)
	}
	if reported := findings(verifyBundle(t, early, newTestKey(t).Verifier).Problems); !strings.Contains(reported, "line 1: the bundle was sealed with the key "+keys[2].Verifier) {
		t.Errorf("verified with an unrelated key: want a problem with the seal, found %s", reported)
	}
}

// TestAFalseSuccessionIsFound: a verification with the first key finds a false
// succession in the log, and in bundles that the new key sealed.
func TestAFalseSuccessionIsFound(t *testing.T) {
	t.Parallel()
	for name, tt := range falseSuccessions(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, keys := succeeded(t, tt.change)
			r, err := Verify(t.Context(), w.log(), keys[0].Verifier, nil)
			if err != nil {
				t.Fatal(err)
			}
			reported := findings(r.Findings)
			for _, want := range []string{tt.want, "checkpoint 2026-11-07: it is signed by test+"} {
				if !strings.Contains(reported, want) {
					t.Errorf("%q was not found, but:\n%s", want, reported)
				}
			}
			if name == "earlier" { // WriteBundle itself refuses the log
				if err := WriteBundle(t.Context(), w.log(), request(), w.key, new(bytes.Buffer)); !errors.Is(err, ErrOtherKey) {
					t.Errorf("WriteBundle: error %v, want %v", err, ErrOtherKey)
				}
				return
			}
			for where, text := range map[string][]byte{"header": forgedBundle(t, w, true), "checkpoints": forgedBundle(t, w, false)} {
				reported := findings(verifyBundle(t, text, keys[0].Verifier).Problems)
				for _, want := range []string{tt.want, "line 1: the bundle was sealed with the key " + keys[2].Verifier} {
					if !strings.Contains(reported, want) {
						t.Errorf("notes in the %s: %q was not found, but:\n%s", where, want, reported)
					}
				}
			}
		})
	}
}

// forgedBundle returns the bundle of the third key's day, sealed with that key.
// The other notes of the log, valid or not, are in its header or among its
// checkpoints.
func forgedBundle(t *testing.T, w *world, inHeader bool) []byte {
	t.Helper()
	notes, err := w.log().checkpoints(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var forged bytes.Buffer
	out := newBundleWriter(&forged)
	for text := range bytes.Lines(bundleOf(t, w, ofDays("2026-11-07", "2026-11-07"))) {
		l, err := decodeLine(text)
		if err != nil {
			t.Fatal(err)
		}
		switch body := l.body.(type) {
		case *header:
			body.Successions = nil
			for _, n := range notes {
				if inHeader && (n.name == "second" || n.name == "third") {
					body.Successions = append(body.Successions, n.note)
				}
			}
		case *checkpointLine:
			if inHeader {
				break
			}
			for _, n := range notes {
				if n.name != "2026-11-07" && n.note != body.Note {
					out.add(kindCheckpoint, &checkpointLine{n.note, []proof{}})
				}
			}
		}
		if l.kind != kindSeal {
			out.add(l.kind, l.body)
		}
	}
	if err := out.seal(alice, w.key); err != nil {
		t.Fatal(err)
	}
	return forged.Bytes()
}

// TestSuccessionFixtures: the bundles by three keys for the tests of the command
// line have the properties that those tests need.
func TestSuccessionFixtures(t *testing.T) {
	t.Parallel()
	if *learn {
		w, keys := succeeded(t, nil)
		files := map[string][]byte{"succeeded.jsonl": bundleOf(t, w, ofDays("2026-11-07", "2026-11-07"))}
		for i, key := range keys {
			files[[]string{"first.key", "second.key", "third.key"}[i]] = []byte(key.Verifier + "\n")
		}
		files["unsucceeded.jsonl"] = withoutSuccessions(t, w)
		writeMissing(t, files)
	}
	for _, name := range []string{"first.key", "second.key", "third.key"} {
		key, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		for bundle, bad := range map[string]bool{"succeeded.jsonl": false, "unsucceeded.jsonl": name == "first.key"} {
			text, err := os.ReadFile(filepath.Join("testdata", bundle))
			if err != nil {
				t.Fatal(err)
			}
			if r := verifyBundle(t, text, strings.TrimSpace(string(key))); (len(r.Problems) > 0) != bad {
				t.Errorf("%s with %s: want problems %v, found %s", bundle, name, bad, findings(r.Problems))
			}
		}
	}
}

// withoutSuccessions returns a bundle without its successions.
func withoutSuccessions(t *testing.T, w *world) []byte {
	t.Helper()
	var forged bytes.Buffer
	out := newBundleWriter(&forged)
	for text := range bytes.Lines(bundleOf(t, w, ofDays("2026-11-07", "2026-11-07"))) {
		l, err := decodeLine(text)
		if err != nil {
			t.Fatal(err)
		}
		if h, ok := l.body.(*header); ok {
			h.Successions = nil
		}
		if l.kind != kindSeal {
			out.add(l.kind, l.body)
		}
	}
	if err := out.seal(alice, w.key); err != nil {
		t.Fatal(err)
	}
	return forged.Bytes()
}
