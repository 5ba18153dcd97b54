package events

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// join returns the state before the first record: nothing, or that of a checkpoint.
func (c *goldenCase) join() (heads map[string]Head, sealing Sealing, facts int, digest Digest) {
	heads = map[string]Head{}
	if c.Note == "" {
		return heads, nil, 0, digest
	}
	parts, err := ParseHeadsIndex([]byte(c.Index))
	if err == nil {
		err = ReadHeads(strings.NewReader(c.Heads), parts[0], func(stream string, head Head) { heads[stream] = head })
	}
	if err != nil {
		panic(err)
	}
	lines := strings.Split(c.Note, "\n")
	words := strings.Split(lines[len(lines)-2], " ")
	if _, err := fmt.Sscan(words[5], &facts); err != nil || !lowerHex([]byte(words[7]), digest[:]) {
		panic(c.Note)
	}
	return heads, parts[0].Sealing, facts, digest
}

// from returns the case that joins at a checkpoint before record at. A checkpoint always
// belongs to a family.
func (c *goldenCase) from(t *testing.T, at int) goldenCase {
	t.Helper()
	before, after := *c, *c
	before.Records = slices.Clone(c.Records[:at])
	before.judge()
	after.Family = cmp.Or(c.Family, Simulations)
	after.Name = fmt.Sprintf("%s, from a checkpoint at offset %d", c.Name, at)
	after.Records = slices.Clone(c.Records[at:])

	var lines bytes.Buffer
	w := NewHeadsWriter(&lines)
	for _, stream := range slices.Sorted(maps.Keys(before.heads)) {
		if err := w.Add(stream, before.heads[stream]); err != nil {
			t.Fatal(err)
		}
	}
	part := HeadsPart{Family: after.Family, Partition: c.Partition, Count: c.Partitions, Sealing: before.sealing}
	part.Streams, part.Sum = w.Sum()
	index := HeadsIndex([]HeadsPart{part})
	after.Heads, after.Index = lines.String(), string(index)
	after.Note = fmt.Sprintf("netsim checkpoint v1\nheads %x\npartition %s Zx8 %d %d %d %d %s\n", sha256.Sum256(index),
		after.Family, c.Partition, at, before.Facts, at-before.Facts, before.Digest)
	after.judge()
	return after
}

// goldenHeads returns, for every golden case, the case that joins in its middle.
func goldenHeads(t *testing.T) (cases []goldenCase) {
	t.Helper()
	for _, c := range fromTheBeginning(t) {
		cases = append(cases, c.from(t, len(c.Records)/2))
	}
	return cases
}

// joinedAnywhere returns the cases that join a golden case at each of its offsets.
func joinedAnywhere(t *testing.T, c goldenCase) (joined []goldenCase) {
	t.Helper()
	for at := range len(c.Records) + 1 {
		joined = append(joined, c.from(t, at))
	}
	return joined
}

// TestJoiningGivesTheSameVerdicts: a reader that joins at any offset of a golden log
// gives every later record the verdict that a reader from offset 0 gives it, and ends
// with the same digest.
func TestJoiningGivesTheSameVerdicts(t *testing.T) {
	t.Parallel()
	for _, c := range fromTheBeginning(t) {
		for at, j := range joinedAnywhere(t, c) {
			for i, r := range j.Records {
				if want := c.Records[at+i]; r.Verdict != want.Verdict || r.Hash != want.Hash {
					t.Errorf("%s: record %d is %s, want %s", j.Name, at+i, r.Verdict, want.Verdict)
				}
			}
			if j.Facts != c.Facts || j.Digest != c.Digest {
				t.Errorf("%s: %d facts, digest %s; want %d, %s", j.Name, j.Facts, j.Digest, c.Facts, c.Digest)
			}
		}
	}
}

// TestHeadsAreRefused: heads or an index that were changed are refused, with an error
// that says where.
func TestHeadsAreRefused(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	w := NewHeadsWriter(&lines)
	for i := range 3 {
		if err := w.Add(fmt.Sprint("sim_", i), Head{int64(10 + i), Hash{0: 0xa0, 31: byte(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	part := HeadsPart{Family: Simulations, Partition: 1, Count: 4, Sealing: Sealing{"0123456789abcdef"}}
	part.Streams, part.Sum = w.Sum()
	right := lines.String()
	third := strings.LastIndex(right[:len(right)-1], "\n") + 1
	for name, tt := range map[string]struct{ heads, want string }{
		"unchanged":      {right, ""},
		"a hash":         {strings.Replace(right, "01\nsim_2", "03\nsim_2", 1), "their SHA-256 is"},
		"a sequence":     {strings.Replace(right, " 11 ", " 12 ", 1), "their SHA-256 is"},
		"a line left":    {right[:third], "there are 2 streams, want 3"},
		"one more":       {right + strings.Replace(right[third:], "sim_2", "sim_3", 1), "there are more than 3 streams"},
		"twice":          {right[:third] + right[:third], "line 3 is not a head"},
		"no order":       {right[third:] + right[:third], "line 2 is not a head"},
		"a zero":         {strings.Replace(right, " 11 ", " 011 ", 1), "line 2 is not a head"},
		"no sequence":    {strings.Replace(right, " 11 ", " 0 ", 1), "line 2 is not a head"},
		"no line feed":   {right[:len(right)-1], "line 3 is not a head"},
		"upper case":     {strings.ToUpper(right), "line 1 is not a head"},
		"a space":        {strings.Replace(right, "\n", " \n", 1), "line 1 is not a head"},
		"an endless one": {strings.Repeat("x", 1<<20), "line 1 is not a head"},
		"nothing":        {"", "there are 0 streams, want 3"},
	} {
		err := ReadHeads(strings.NewReader(tt.heads), part, func(string, Head) {})
		if tt.want == "" && err != nil || tt.want != "" && (!errors.Is(err, ErrHeads) || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}

	other := part
	other.Partition = 0
	index := string(HeadsIndex([]HeadsPart{part, other}))
	for name, changed := range map[string]string{
		"title":           strings.Replace(index, "v1", "v2", 1),
		"order":           string(HeadsIndex([]HeadsPart{part})) + strings.SplitAfter(string(HeadsIndex([]HeadsPart{other})), "\n")[1],
		"twice":           index + strings.SplitAfter(string(HeadsIndex([]HeadsPart{part})), "\n")[1],
		"a short line":    index + "partition billing 0 1 0\n",
		"another line":    index + "checkpoint x\n",
		"a bad digest":    strings.Replace(index, part.Sum.String(), "00", 1),
		"a bad key":       strings.Replace(index, "0123456789abcdef", "0123", 1),
		"a zero":          strings.Replace(index, " 4 3 ", " 4 03 ", 1),
		"too many":        strings.Replace(index, " 1 4 ", " 4 4 ", 1),
		"without its end": strings.TrimSuffix(index, "\n"),
		"nothing":         "",
	} {
		if parts, err := ParseHeadsIndex([]byte(changed)); !errors.Is(err, ErrHeads) {
			t.Errorf("an index with another %s gives %v, %v", name, parts, err)
		}
	}
	if parts, err := ParseHeadsIndex([]byte(index)); err != nil || len(parts) != 2 || parts[0].Partition != 0 {
		t.Errorf("the index gives %v, %v", parts, err)
	}
	for _, stream := range []string{"sim_2", "sim_1", "", "sim 3", "sim_" + strings.Repeat("x", 512)} {
		if err := w.Add(stream, Head{1, Hash{1}}); err == nil {
			t.Errorf("a head of stream %q after sim_2 was written", stream)
		}
	}
}
