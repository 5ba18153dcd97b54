package audit

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"netsim/events"
)

func request() Request {
	return Request{Account: alice, From: "2026-11-02", To: "2026-11-04", Platform: testPlatform}
}

func bundleOf(t testing.TB, w *world, r Request) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteBundle(context.Background(), w.log(), r, w.key, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func verifyBundle(t testing.TB, text []byte, verifier string) BundleReport {
	t.Helper()
	return verifyWanted(t, text, Wanted{Verifier: verifier})
}

// TestBundle: a bundle verifies, has the right totals, withholds the rates of
// other accounts, and is the same when it is written again.
func TestBundle(t *testing.T) {
	t.Parallel()
	w := fourDays(t)
	text := bundleOf(t, w, request())
	r := verifyBundle(t, text, w.key.Verifier)
	if len(r.Problems) > 0 {
		t.Fatalf("the bundle has problems:\n%s", findings(r.Problems))
	}
	if r.Events != int(w.heads[alice].Sequence+w.heads[testPlatform].Sequence) || r.Checkpoints != 4 || r.Rated.Days == 0 || r.Rated.Unrated > 0 {
		t.Errorf("report %+v, want all events, 4 checkpoints, and all days rated", r)
	}
	// 240 × (4 × 0.625 + 5 + 6 × 0.249988), and 6 × (0.583333 + 1 + 1).
	if got, want := strings.Join(r.Totals, "; "), "cluster 2159.983333333333333333 CREDIT; storage 15.5 CREDIT"; got != want {
		t.Errorf("totals %q, want %q", got, want)
	}
	if strings.Contains(string(text), "7.50") {
		t.Error("the bundle contains the rate of another account")
	}
	if again := bundleOf(t, w, request()); !bytes.Equal(again, text) {
		t.Error("the bundle differs when it is written again")
	}
	if r := verifyBundle(t, text, ""); len(r.Problems) > 0 || r.Verifier != w.key.Verifier {
		t.Errorf("verified with the bundle's own key: %+v, want no problems", r)
	}
	// This account has a rate of its own.
	theirs := request()
	theirs.Account = bob
	if r := verifyBundle(t, bundleOf(t, w, theirs), w.key.Verifier); len(r.Problems) > 0 || r.Rated.Days == 0 {
		t.Errorf("bob's bundle: %+v, want rated days and no problems", r)
	}
}

// TestBundleRefuses: no bundle is written for an invalid request, for a period
// without a later checkpoint, or from a changed log.
func TestBundleRefuses(t *testing.T) {
	t.Parallel()
	w := fourDays(t)
	for name, change := range map[string]func(r *Request){
		"an invalid account":        func(r *Request) { r.Account = "acct_1" },
		"an account without events": func(r *Request) { r.Account = "acct_00000000000000000000000009" },
		"an invalid date":           func(r *Request) { r.From = "2026-11-31" },
		"an end before the start":   func(r *Request) { r.To = "2026-11-01" },
		"a period not covered":      func(r *Request) { r.To = "2026-11-07" },
	} {
		r := request()
		change(&r)
		if err := WriteBundle(t.Context(), w.log(), r, w.key, new(bytes.Buffer)); err == nil {
			t.Errorf("%s was not refused", name)
		}
	}
	w.edit(alice, 3, func(r *events.Record) { r.Value[5] ^= 1 })
	if err := WriteBundle(t.Context(), w.log(), request(), w.key, new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "the log is not what checkpoint") {
		t.Errorf("a bundle of a changed log: error %v, want one that names the checkpoint", err)
	}
}

// mutation changes a bundle at random and returns the number of the changed line,
// from 1.
type mutation struct {
	name  string
	apply func(random *rand.Rand, lines [][]byte) (changed [][]byte, at int)
}

// lineAt draws the index of any line but the seal.
func lineAt(random *rand.Rand, lines [][]byte) int { return random.IntN(len(lines) - 1) }

// summed returns an edited line with the right checksum.
func summed(text []byte) []byte {
	body := text[:len(text)-len(`,"sum":"`)-sumDigits-len("\"}\n")]
	return fmt.Appendf(bytes.Clone(body), `,"sum":"%s"}`+"\n", sumOf(body))
}

func mutations() []mutation {
	return []mutation{
		{"a byte flipped", func(random *rand.Rand, lines [][]byte) ([][]byte, int) {
			i := random.IntN(len(lines))
			changed := bytes.Clone(lines[i])
			changed[random.IntN(len(changed))] ^= 1 << random.IntN(8)
			lines[i] = changed
			return lines, i + 1
		}},
		{"a line removed", func(random *rand.Rand, lines [][]byte) ([][]byte, int) {
			i := random.IntN(len(lines))
			return slices.Delete(lines, i, i+1), i + 1
		}},
		{"a line twice", func(random *rand.Rand, lines [][]byte) ([][]byte, int) {
			i := random.IntN(len(lines))
			return slices.Insert(lines, i, lines[i]), i + 2
		}},
		{"two lines swapped", func(random *rand.Rand, lines [][]byte) ([][]byte, int) {
			i := lineAt(random, lines[:len(lines)-1])
			lines[i], lines[i+1] = lines[i+1], lines[i]
			return lines, i + 1
		}},
		{"a digit edited and the checksum recomputed", func(random *rand.Rand, lines [][]byte) ([][]byte, int) {
			i := lineAt(random, lines)
			changed := bytes.Clone(lines[i])
			from := bytes.Index(changed, []byte(`"kind"`))
			until := len(changed) - sumDigits - len(`,"sum":""}`) - 1
			var digits []int
			for at := from; at < until; at++ {
				if changed[at] >= '0' && changed[at] <= '9' {
					digits = append(digits, at)
				}
			}
			at := digits[random.IntN(len(digits))]
			changed[at] = '0' + (changed[at]-'0'+byte(1+random.IntN(9)))%10
			lines[i] = summed(changed)
			return lines, i + 1
		}},
		{"a line removed and the others renumbered", func(random *rand.Rand, lines [][]byte) ([][]byte, int) {
			i := 1 + random.IntN(len(lines)-2)
			lines = slices.Delete(lines, i, i+1)
			for n := i; n < len(lines)-1; n++ {
				before, after := fmt.Sprintf(`{"line":%d,`, n+2), fmt.Sprintf(`{"line":%d,`, n+1)
				lines[n] = summed(bytes.Replace(lines[n], []byte(before), []byte(after), 1))
			}
			return lines, i + 1
		}},
	}
}

// TestRandomMutationsAreFound: 100 mutations of each kind are found, at the right
// line.
func TestRandomMutationsAreFound(t *testing.T) {
	t.Parallel()
	whole := wholeBundle(t)
	text := bytes.Join(whole, nil)
	first, err := decodeLine(whole[0])
	if err != nil {
		t.Fatal(err)
	}
	verifier := first.body.(*header).Verifier
	for _, m := range mutations() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(6, 100))
			for range 100 {
				lines := bytes.SplitAfter(bytes.Clone(text), []byte("\n"))
				lines, at := m.apply(random, lines[:len(lines)-1])
				changed := bytes.Join(lines, nil)
				if bytes.Equal(changed, text) {
					t.Fatalf("line %d was not changed", at)
				}
				r := verifyBundle(t, changed, verifier)
				near := slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.Line >= at-1 && p.Line <= at+1 })
				if !near {
					t.Fatalf("the change at line %d of %d, %.300s, was not found, but:\n%s", at, len(lines), lines[min(at, len(lines))-1], findings(r.Problems))
				}
			}
		})
	}
}

// TestAForgedSealIsNamed: a consistent bundle that a forger sealed is reported,
// and the findings name the forger's key.
func TestAForgedSealIsNamed(t *testing.T) {
	t.Parallel()
	honest := fourDays(t)
	forger := fourDays(t) // has another key
	text := bundleOf(t, forger, request())
	if r := verifyBundle(t, text, ""); len(r.Problems) > 0 {
		t.Fatalf("the forged bundle is not consistent: %s", findings(r.Problems))
	}
	reported := findings(verifyBundle(t, text, honest.key.Verifier).Problems)
	for _, want := range []string{"line 1: the bundle was sealed with the key " + forger.key.Verifier, "the seal: it is signed by test+", "the checkpoint: it is signed by test+"} {
		if !strings.Contains(reported, want) {
			t.Errorf("want %q among the findings:\n%s", want, reported)
		}
	}
}
