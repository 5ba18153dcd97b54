package events

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// goldenRecord is a record in the golden files, with its expected verdict and
// hash.
type goldenRecord struct {
	Note    string         `json:"note"`
	Key     []byte         `json:"key"`
	Value   []byte         `json:"value"`
	Headers []goldenHeader `json:"headers"`
	Verdict Verdict        `json:"verdict,omitempty"`
	Hash    string         `json:"hash"` // "" when the frame is unreadable
}

type goldenHeader struct {
	Name  string `json:"name"`
	Value []byte `json:"value"`
}

// goldenCase is one partition's records: from offset 0 on, or from a checkpoint on.
type goldenCase struct {
	Name       string         `json:"name"`
	Partition  int32          `json:"partition"`
	Partitions int32          `json:"partitions"`
	Family     Family         `json:"family,omitempty"` // of the topic; "" where seals do not matter
	Keys       []string       `json:"keys,omitempty"`   // the writer's keys that the reader knows
	Note       string         `json:"note,omitempty"`   // the lines of the checkpoint that a reader needs
	Index      string         `json:"index,omitempty"`  // of its heads
	Heads      string         `json:"heads,omitempty"`  // of the partition
	Records    []goldenRecord `json:"records"`
	Facts      int            `json:"facts"`
	Digest     string         `json:"digest"`

	heads   map[string]Head // after the records
	sealing Sealing
}

// goldenHash is an event with the bytes over which its hash is computed.
type goldenHash struct {
	goldenRecord
	Hashed []byte `json:"hashed"`
}

func newGoldenRecord(note string, m Message) goldenRecord {
	r := goldenRecord{Note: note, Key: m.Key, Value: m.Value, Headers: []goldenHeader{}}
	for _, h := range m.Headers {
		r.Headers = append(r.Headers, goldenHeader{h.Key, h.Value})
	}
	return r
}

func (r *goldenRecord) message() Message {
	m := Message{Key: r.Key, Value: r.Value}
	for _, h := range r.Headers {
		m.Headers = append(m.Headers, Header{h.Name, h.Value})
	}
	return m
}

// judge fills in the verdicts, hashes and digest of this implementation.
func (c *goldenCase) judge() {
	keys, err := ParseWriterKeys(c.Keys...)
	if err != nil {
		panic(err)
	}
	heads, sealing, facts, digest := c.join()
	c.Facts = facts
	for i := range c.Records {
		r := &c.Records[i]
		m := r.message()
		f, hash, err := ReadFrame(&m)
		if err != nil {
			r.Verdict, r.Hash = BadFrame, ""
			continue
		}
		sealer := keys.Sealer(c.Family, hash, &m)
		r.Verdict, r.Hash = Judge(heads[f.Stream], &f, hash, sealing.Admits(&f, sealer), c.Partition, c.Partitions), hash.String()
		if r.Verdict == Accepted {
			heads[f.Stream] = Head{f.Sequence, hash}
			sealing = sealing.After(&f, sealer)
			digest = digest.Add(hash)
			c.Facts++
		}
	}
	c.Digest = fmt.Sprintf("%x", digest)
	c.heads, c.sealing = heads, sealing
}

const (
	verdictsFile = "testdata/golden/verdicts.json"
	sealsFile    = "testdata/golden/seals.json"
	hashesFile   = "testdata/golden/hashes.json"
	headsFile    = "testdata/golden/heads.json"
)

// TestGoldenUpdate writes the files if -update is set. It is not parallel, so
// that it runs before the tests that read them.
func TestGoldenUpdate(t *testing.T) { //nolint:paralleltest // see above
	if !*update {
		return
	}
	for file, cases := range map[string][]goldenCase{verdictsFile: goldenCases(), sealsFile: goldenSealCases()} {
		for i := range cases {
			cases[i].judge()
		}
		write(t, file, cases)
	}
	write(t, headsFile, goldenHeads(t))
	write(t, hashesFile, goldenHashes())
}

// TestGoldenVerdicts fails if the verdict on a stored record has changed. It
// judges the records in the files; goldenCases is only how they were written.
func TestGoldenVerdicts(t *testing.T) {
	t.Parallel()
	for _, c := range allGolden(t) {
		got := c
		got.Records = slices.Clone(c.Records)
		got.judge()
		if diff := cmp.Diff(c, got, cmpopts.IgnoreUnexported(goldenCase{})); diff != "" {
			t.Errorf("%s (-golden +got):\n%s", c.Name, diff)
		}
	}
}

// TestGoldenVerdictsMeanWhatTheirNotesSay compares the verdicts in the golden
// files with the notes. Each note begins with the verdict that its author
// expected.
func TestGoldenVerdictsMeanWhatTheirNotesSay(t *testing.T) {
	t.Parallel()
	seen := map[Verdict]int{}
	for _, c := range allGolden(t) {
		for i, r := range c.Records {
			seen[r.Verdict]++
			if !strings.HasPrefix(r.Note, string(r.Verdict)+":") {
				t.Errorf("%s, record %d is %s, its note says %q", c.Name, i, r.Verdict, r.Note)
			}
		}
	}
	for _, v := range []Verdict{Accepted, Duplicate, Stale, Gap, Broken, Misplaced, Forged, BadFrame} {
		if seen[v] == 0 {
			t.Errorf("no record has the verdict %s", v)
		}
	}
}

// TestGoldenHashes compares the hashes with the golden ones, and the hashed bytes
// with the layout in the package's documentation.
func TestGoldenHashes(t *testing.T) {
	t.Parallel()
	for _, g := range readGolden[goldenHash](t, hashesFile) {
		m := g.message()
		f, hash, err := ReadFrame(&m)
		if err != nil || hash.String() != g.Hash {
			t.Errorf("%s: hash %s, want %s: %v", g.Note, hash, g.Hash, err)
		}
		if again, written := f.Message(g.Value); written != hash || !cmp.Equal(m, again) {
			t.Errorf("%s: written again, the record differs", g.Note)
		}
		if layout := hashedBytes(&m); !bytes.Equal(layout, g.Hashed) || Hash(sha256.Sum256(layout)) != hash {
			t.Errorf("%s: the hash is not over the documented bytes", g.Note)
		}
	}
}

// hashedBytes builds the hashed bytes exactly as the documentation describes
// them.
func hashedBytes(m *Message) []byte {
	out := []byte("netsim.frame.v1\n")
	for _, name := range frameHeaders {
		var value []byte
		for _, h := range m.Headers {
			if h.Key == name {
				value = h.Value
			}
		}
		n := len(value)
		out = append(out, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
		out = append(out, value...)
	}
	body := sha256.Sum256(m.Value)
	return append(out, body[:]...)
}

func allGolden(t *testing.T) []goldenCase {
	t.Helper()
	return slices.Concat(fromTheBeginning(t), readGolden[goldenCase](t, headsFile))
}

// fromTheBeginning returns the cases whose records begin at offset 0.
func fromTheBeginning(t *testing.T) []goldenCase {
	t.Helper()
	return append(readGolden[goldenCase](t, verdictsFile), readGolden[goldenCase](t, sealsFile)...)
}

func readGolden[T any](t *testing.T, path string) (out []T) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return out
}

func write(t *testing.T, path string, v any) {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
