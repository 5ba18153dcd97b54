package audit

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/note"
)

// testdata/broken.jsonl has every bundle in which a test of this package finds something,
// with what VerifyBundle found: a case a line. The console's verifier is tested with the
// same file (console/src/verify). -learn adds cases and changes none.
const (
	brokenFile = "broken.jsonl"
	brokenBase = "whole.jsonl" // the bundle of which the cases are edits
	sumLength  = sumDigits + len("\"}\n")
)

// brokenCase is a bundle, what its reader wanted, and what was found.
type brokenCase struct {
	Name     string   `json:"name"`
	Wanted   Wanted   `json:"wanted"`
	Edits    []edit   `json:"edits"`
	Rated    Rated    `json:"rated"`
	Problems []string `json:"problems"` // sorted
}

// edit is a part of a bundle: lines of the base from a number to another, both included;
// or, of one line, its first and last bytes with others between them; or other bytes.
// Lines of the base may have another number, and such lines and summed ones a new checksum.
type edit struct {
	From  int    `json:"from,omitempty"`
	To    int    `json:"to,omitempty"`
	Shift int    `json:"shift,omitempty"`
	First int    `json:"first,omitempty"`
	Last  int    `json:"last,omitempty"`
	Sum   bool   `json:"sum,omitempty"`
	Bytes []byte `json:"bytes,omitempty"`
}

var brokenCases = sync.OnceValue(func() map[string]brokenCase {
	cases := map[string]brokenCase{}
	text, _ := os.ReadFile(filepath.Join("testdata", brokenFile)) // without the file there are none
	for line := range bytes.Lines(text) {
		var c brokenCase
		if err := json.Unmarshal(line, &c); err != nil {
			panic(err)
		}
		cases[c.Name] = c
	}
	return cases
})

var (
	brokenMutex sync.Mutex
	brokenCount = map[string]int{} // by test
)

// verifyWanted verifies a bundle. One in which it finds something is a case of broken.jsonl.
func verifyWanted(t testing.TB, text []byte, wanted Wanted) BundleReport {
	t.Helper()
	r, err := VerifyBundle(bytes.NewReader(text), wanted)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Problems) > 0 {
		brokenMutex.Lock()
		brokenCount[t.Name()]++
		name := fmt.Sprintf("%s %d", t.Name(), brokenCount[t.Name()])
		brokenMutex.Unlock()
		store(t, name, text, wanted, r)
	}
	return r
}

// store compares nothing: it fails for a name that broken.jsonl does not have, or adds it.
func store(t testing.TB, name string, text []byte, wanted Wanted, r BundleReport) {
	t.Helper()
	brokenMutex.Lock()
	defer brokenMutex.Unlock()
	if _, known := brokenCases()[name]; known {
		return
	}
	if !*learn {
		t.Errorf("%s has no case %q: go test ./audit -learn", brokenFile, name)
		return
	}
	c := brokenCase{name, wanted, edits(wholeBundle(t), text), r.Rated, problemTexts(r)}
	file, err := os.OpenFile(filepath.Join("testdata", brokenFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // the next run reads it
	if err := json.NewEncoder(file).Encode(c); err != nil {
		t.Fatal(err)
	}
}

// fixedKey returns the key of the base, so that its checkpoints are those of other worlds
// with the same events.
func fixedKey(t testing.TB) *Key {
	t.Helper()
	seed := sha256.Sum256([]byte("a key of tests"))
	verifier, err := note.NewEd25519VerifierKey("test", ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	private := base64.StdEncoding.EncodeToString(append([]byte{1}, seed[:]...)) // 1 is Ed25519
	key, err := ParseKey("PRIVATE+KEY+test+" + strings.Split(verifier, "+")[1] + "+" + private)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func problemTexts(r BundleReport) []string {
	texts := []string{}
	for _, p := range r.Problems {
		texts = append(texts, p.String())
	}
	slices.Sort(texts) // those of one line have no order
	return texts
}

// wholeBundle returns the lines of the base, which verify.
func wholeBundle(t testing.TB) [][]byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", brokenBase))
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(bytes.Lines(text))
}

// edits returns the parts of a bundle by those of the base.
func edits(base [][]byte, text []byte) (parts []edit) {
	for line := range bytes.Lines(text) {
		next := editOf(base, line)
		last := len(parts) - 1
		if last >= 0 && next.Bytes == nil && parts[last].Bytes == nil && parts[last].To+1 == next.From && parts[last].Shift == next.Shift {
			parts[last].To = next.To
			continue
		}
		parts = append(parts, next)
	}
	return parts
}

// editOf returns a line as one of the base, or else as what it shares with the most similar
// one.
func editOf(base [][]byte, line []byte) edit {
	for i, b := range base {
		if shift := numberOf(line) - numberOf(b); bytes.Equal(shifted(b, shift), line) {
			return edit{From: i + 1, To: i + 1, Shift: shift}
		}
	}
	best, shared := edit{Bytes: bytes.Clone(line)}, 0
	for i, b := range base {
		for _, sum := range []bool{false, true} {
			from, to := line, b
			if sum {
				if len(line) < 40 || !bytes.Equal(summed(line), line) {
					continue
				}
				from, to = line[:len(line)-sumLength], b[:len(b)-sumLength]
			}
			first := 0
			for first < min(len(from), len(to)) && from[first] == to[first] {
				first++
			}
			last := 0
			for last < min(len(from), len(to))-first && from[len(from)-1-last] == to[len(to)-1-last] {
				last++
			}
			if first+last > shared {
				shared = first + last
				best = edit{From: i + 1, To: i + 1, First: first, Last: last, Sum: sum, Bytes: bytes.Clone(from[first : len(from)-last])}
			}
		}
	}
	return best
}

// shifted returns a line with another number.
func shifted(line []byte, by int) []byte {
	if by == 0 {
		return line
	}
	_, after, _ := bytes.Cut(line, []byte(","))
	return summed(fmt.Appendf(nil, `{"line":%d,%s`, numberOf(line)+by, after))
}

// numberOf returns the number of a line, 0 if it has none.
func numberOf(line []byte) int {
	before, _, _ := bytes.Cut(line, []byte(","))
	number, _ := strconv.Atoi(strings.TrimPrefix(string(before), `{"line":`))
	return number
}

func (c *brokenCase) text(base [][]byte) (text []byte) {
	for _, e := range c.Edits {
		switch {
		case e.From == 0:
			text = append(text, e.Bytes...)
		case e.First+e.Last > 0:
			text = append(text, e.changed(base[e.From-1])...)
		default:
			for n := e.From; n <= e.To; n++ {
				text = append(text, shifted(base[n-1], e.Shift)...)
			}
		}
	}
	return text
}

// changed returns the line of the base with other bytes between its first and last ones.
// Those of a summed line are counted without its checksum and what follows.
func (e *edit) changed(line []byte) []byte {
	if e.Sum {
		line = line[:len(line)-sumLength]
	}
	out := slices.Concat(line[:e.First], e.Bytes, line[len(line)-e.Last:])
	if e.Sum {
		out = summed(append(out, "0123456789abcdef\"}\n"...))
	}
	return out
}

// TestBrokenBundles: what was found in a broken bundle once is found for ever, in the same
// words.
func TestBrokenBundles(t *testing.T) {
	t.Parallel()
	base := wholeBundle(t)
	if len(brokenCases()) < 600 {
		t.Errorf("%d cases, want those of all tests", len(brokenCases()))
	}
	for name, c := range brokenCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := VerifyBundle(bytes.NewReader(c.text(base)), c.Wanted)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.Problems, problemTexts(r)); diff != "" || r.Rated != c.Rated {
				t.Errorf("rated %+v, stored %+v; found (-stored +now):\n%s", r.Rated, c.Rated, diff)
			}
		})
	}
}
