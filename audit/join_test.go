package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"netsim/events"
)

// store keeps the heads of a log, as the service does, and returns the digest of their
// index.
func (w *world) store(log *Log) events.Hash {
	w.t.Helper()
	keep := func(text []byte) events.Hash {
		sum := events.Hash(sha256.Sum256(text))
		w.files[sum.String()] = text
		return sum
	}
	var parts []events.HeadsPart
	for _, p := range log.open() {
		if err := p.advance(w.t.Context(), p.topic.Ends[p.number], nil); err != nil {
			w.t.Fatal(err)
		}
		var lines bytes.Buffer
		part, err := p.headsPart(&lines)
		if err != nil {
			w.t.Fatal(err)
		}
		keep(lines.Bytes())
		parts = append(parts, part)
	}
	return keep(events.HeadsIndex(parts))
}

// storedHeads are files in memory.
type storedHeads map[string][]byte

func (h storedHeads) open(sum events.Hash) (io.ReadCloser, error) {
	text, ok := h[sum.String()]
	if !ok {
		return nil, fmt.Errorf("%s: %w", sum, fs.ErrNotExist)
	}
	return io.NopCloser(bytes.NewReader(text)), nil
}

func (h storedHeads) Index(_ context.Context, sum events.Hash) (io.ReadCloser, error) {
	return h.open(sum)
}

func (h storedHeads) Partition(_ context.Context, part events.HeadsPart) (io.ReadCloser, error) {
	return h.open(part.Sum)
}

// whole verifies a log from its beginning.
func whole(t *testing.T, log *Log, verifier string) Report {
	t.Helper()
	r, err := Verify(t.Context(), log, verifier, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// same returns how the report of a joined verification differs from that of a whole
// one, in what both have.
func same(whole, joined Report) string {
	joined.Joined, joined.Before = "", 0
	whole.Checkpoints, whole.Bytes, whole.Rejected, whole.Unreadable = joined.Checkpoints, joined.Bytes, joined.Rejected, joined.Unreadable
	return gocmp.Diff(whole, joined)
}

// TestJoin: a verification that joins at any checkpoint of an unchanged log reports what
// a whole one reports, after a succession too.
func TestJoin(t *testing.T) {
	t.Parallel()
	w := fourDays(t)
	first := w.key.Verifier
	w.succeed("succession", newTestKey(t), at("2026-11-07 00:00:00"))
	w.use(bob, "cluster", "update", 2, 3, at("2026-11-07 01:00:00"))
	w.checkpoint("after", at("2026-11-08 00:00:00"))
	w.use(bob, "cluster", "update", 2, 4, at("2026-11-08 01:00:00"))
	log := w.log()
	for _, verifier := range []string{first, w.key.Verifier} {
		want := whole(t, log, verifier)
		if len(want.Findings) > 0 {
			t.Fatal(want.Findings)
		}
		for i, name := range []string{"2026-11-02", "2026-11-03", "2026-11-04", "2026-11-05", "succession", "after"} {
			got, err := VerifyFrom(t.Context(), log, verifier, nil, noteOf(t, w, name), storedHeads(w.files))
			if err != nil {
				t.Fatal(err)
			}
			if got.Joined != name || got.Before == 0 || got.Before >= got.Records || got.Checkpoints != want.Checkpoints-i {
				t.Errorf("from %s: joined %s, %d of %d records before it, %d checkpoints", name, got.Joined, got.Before, got.Records, got.Checkpoints)
			}
			if diff := same(want, got); diff != "" {
				t.Errorf("from %s (-whole +joined):\n%s", name, diff)
			}
		}
	}
}

// TestJoinFindsWhatIsChanged: changes after the checkpoint are found as by a whole
// verification. Changes before it are not: they are what the auditor trusts.
func TestJoinFindsWhatIsChanged(t *testing.T) {
	t.Parallel()
	flip := func(r *events.Record) { r.Value[len(r.Value)/2] ^= 1 }
	for _, tt := range []struct {
		name   string
		change func(w *world)
		want   []string
	}{
		{"a record before the checkpoint", func(w *world) { w.edit(alice, 2, flip) }, nil},
		{"the last record of a stream", func(w *world) { w.edit(alice, w.heads[alice].Sequence, flip) }, []string{"checkpoint 2026-11-05 has seen other records"}},
		{"the end of a partition", func(w *world) {
			name := partitionName("billing", events.PartitionOf(alice, testParts))
			w.records[name] = w.records[name][:len(w.records[name])-2]
		}, []string{"the log lost its tail"}},
		{"a partition", func(w *world) { w.records[partitionName("billing", events.PartitionOf(alice, testParts))] = nil },
			[]string{"it ends at 0, checkpoint 2026-11-04 has seen", "it ends at 0, checkpoint 2026-11-05 has seen"}},
		{"a later checkpoint", func(w *world) { w.edit(testStream, 4, func(r *events.Record) { r.Value = []byte(`{}`) }) }, []string{"malformed note"}},
		{"a checkpoint of another key", func(w *world) {
			w.key = newTestKey(t)
			w.checkpoint("forged", at("2026-11-08 00:00:00"))
		}, []string{"checkpoint forged: it is signed by test+"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := fourDays(t)
			verifier, note := w.key.Verifier, noteOf(t, w, "2026-11-04")
			tt.change(w)
			r, err := VerifyFrom(t.Context(), w.log(), verifier, nil, note, storedHeads(w.files))
			if err != nil {
				t.Fatal(err)
			}
			reported := findings(r.Findings)
			if tt.want == nil && reported != "" {
				t.Errorf("found:\n%s", reported)
			}
			for _, want := range tt.want {
				if !strings.Contains(reported, want) {
					t.Errorf("%q was not found, but:\n%s", want, reported)
				}
			}
		})
	}
}

// TestNoJoin: a verification joins only with the heads that the checkpoint signs, at a
// checkpoint of the log. The error says what is wrong.
func TestNoJoin(t *testing.T) {
	t.Parallel()
	const name = "2026-11-04"
	for _, tt := range []struct {
		name   string
		change func(w *world, sums []string, note *string) // sums: of the index, of the heads of alice's partition
		want   string
	}{
		{"one changed head", func(w *world, sums []string, _ *string) {
			text := bytes.Clone(w.files[sums[1]])
			last := &text[len(text)-2] // a hex digit
			*last = "10"[min(1, *last-'0')]
			w.files[sums[1]] = text
		}, "the heads of billing/%d: not the heads: their SHA-256 is"},
		{"heads missing", func(w *world, sums []string, _ *string) { delete(w.files, sums[1]) }, "the heads of billing/%d: "},
		{"index missing", func(w *world, sums []string, _ *string) { delete(w.files, sums[0]) }, "the index of its heads: "},
		{"a changed index", func(w *world, sums []string, _ *string) {
			w.files[sums[0]] = bytes.Replace(w.files[sums[0]], []byte(" 3 "), []byte(" 4 "), 1)
		}, "the index of its heads was changed"},
		{"a note of another log", func(w *world, _ []string, note *string) {
			other := fourDaysWith(t, w.key, false, at("2026-11-05 00:00:00"))
			*note = noteOf(t, other, name)
		}, "the log has no checkpoint 2026-11-04"},
		{"a note of another key", func(_ *world, _ []string, note *string) { *note = noteOf(t, fourDays(t), name) }, "it is signed by"},
		{"no note", func(_ *world, _ []string, note *string) { *note = "x" }, "at the note that you hold"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := fourDays(t)
			verifier, note := w.key.Verifier, noteOf(t, w, name)
			c, err := OpenCheckpoint(note, verifier)
			if err != nil {
				t.Fatal(err)
			}
			number := events.PartitionOf(alice, testParts)
			index, err := events.ParseHeadsIndex(w.files[c.Heads.String()])
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(index, func(p events.HeadsPart) bool { return p.Family == events.Billing && p.Partition == number })
			tt.change(w, []string{c.Heads.String(), index[i].Sum.String()}, &note)
			want := tt.want
			if strings.Contains(want, "%d") {
				want = fmt.Sprintf(want, number)
			}
			_, err = VerifyFrom(t.Context(), w.log(), verifier, nil, note, storedHeads(w.files))
			if !errors.Is(err, ErrJoin) || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}

// TestOtherHeadsAreFound: a whole verification finds that the last checkpoint signs heads
// that the log does not have.
func TestOtherHeadsAreFound(t *testing.T) {
	t.Parallel()
	w := fourDays(t)
	w.publish("other", at("2026-11-09 00:00:00"), func(c Checkpoint, chains []Chain) (string, error) {
		c.Heads[0] ^= 1
		return c.Sign(w.key, chains)
	})
	if said := findings(whole(t, w.log(), w.key.Verifier).Findings); !strings.Contains(said, "checkpoint other signs other heads than the log has") {
		t.Errorf("found %q", said)
	}
}

// TestNoJoinAtThisCheckpoint: a checkpoint of a release that wrote no heads still
// verifies, but no verification joins at it; nor at one of a topic with another number of
// partitions, nor with a read model that is behind the checkpoint.
func TestNoJoinAtThisCheckpoint(t *testing.T) {
	t.Parallel()
	w := fourDays(t)
	w.publish("old", at("2026-11-09 00:00:00"), func(c Checkpoint, chains []Chain) (string, error) {
		c.Heads = events.Hash{}
		return c.Sign(w.key, chains)
	})
	log := w.log()
	if r := whole(t, log, w.key.Verifier); len(r.Findings) > 0 || r.Checkpoints != 5 {
		t.Errorf("%d checkpoints, found %v", r.Checkpoints, r.Findings)
	}
	_, err := VerifyFrom(t.Context(), log, w.key.Verifier, nil, w.note, storedHeads(w.files))
	if !errors.Is(err, ErrJoin) || !strings.Contains(err.Error(), "it names no heads") {
		t.Errorf("joining at a checkpoint without heads: %v", err)
	}
	w.publish("wrong", at("2026-11-10 00:00:00"), func(c Checkpoint, chains []Chain) (string, error) {
		index, err := events.ParseHeadsIndex(w.files[c.Heads.String()])
		if err != nil {
			return "", err
		}
		for i := range index {
			index[i].Count++
		}
		text := events.HeadsIndex(index)
		c.Heads = sha256.Sum256(text)
		w.files[c.Heads.String()] = text
		return c.Sign(w.key, chains)
	})
	_, err = VerifyFrom(t.Context(), w.log(), w.key.Verifier, nil, w.note, storedHeads(w.files))
	if !errors.Is(err, ErrJoin) || !strings.Contains(err.Error(), "its heads are of 4 partitions of workspaces, the topic has 3") {
		t.Errorf("joining with heads of another number of partitions: %v", err)
	}
	p := log.open(events.Billing)[events.PartitionOf(alice, testParts)]
	behind := []Expected{{Family: events.Billing, TopicID: p.topic.ID, Partition: p.number, Next: 1}}
	_, err = VerifyFrom(t.Context(), log, w.key.Verifier, behind, noteOf(t, w, "2026-11-04"), storedHeads(w.files))
	if !errors.Is(err, ErrJoin) || !strings.Contains(err.Error(), "the read model is at offset 1") {
		t.Errorf("joining beyond the read model: %v", err)
	}
}
