package audit

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netsim/events"
)

// chaos draws a log with records of every verdict.
type chaos struct {
	*world
	r       *rapid.T
	streams []string
	notes   []string
}

func newChaos(t *testing.T, r *rapid.T) *chaos {
	c := &chaos{world: newWorld(t), r: r, streams: []string{alice, bob, "sim_a", "sim_b", "sim_c", testPlatform}}
	if rapid.Bool().Draw(r, "keys") {
		c.turn(1)
	}
	return c
}

// turn gives the service its first or second key to seal with; it knows both.
func (c *chaos) turn(first int) {
	keys := []string{strings.Repeat("ab", 32), strings.Repeat("cd", 32)}
	writer, err := events.ParseWriterKeys(keys[2-first], keys[first-1])
	if err != nil {
		c.t.Fatal(err)
	}
	c.writer = writer
}

func (c *chaos) stream() string { return rapid.SampledFrom(c.streams).Draw(c.r, "stream") }

func (c *chaos) draw(most int) int { return rapid.IntRange(0, most).Draw(c.r, "number") }

// step writes a record, or a checkpoint.
func (c *chaos) step() {
	when := at("2026-11-02 00:00:00")
	data := events.CreditGranted{Amount: fmt.Sprint(c.draw(3)), Currency: "CREDIT", Reference: "r"}
	stream := c.stream()
	family, err := events.FamilyOf(stream)
	if err != nil {
		c.t.Fatal(err)
	}
	number := events.PartitionOf(stream, testParts)
	switch rapid.SampledFrom([]string{"fact", "fact", "fact", "again", "behind", "ahead", "cut", "astray", "forged", "seal", "rotate", "checkpoint"}).Draw(c.r, "step") {
	case "fact":
		c.append(stream, data, when)
	case "again": // any record of the partition
		if all := c.records[partitionName(string(family), number)]; len(all) > 0 {
			c.record(family, number, all[c.draw(len(all)-1)].Message, when)
		}
	case "behind", "ahead": // a writer with another head; it is not a fact unless by chance
		head := c.heads[stream]
		c.heads[stream] = events.Head{Sequence: max(0, head.Sequence-1+int64(c.draw(3))), Hash: events.Hash{1}}
		if c.heads[stream].Sequence == 0 {
			c.heads[stream] = events.Head{}
		}
		c.append(stream, data, when)
		c.heads[stream] = head
	case "cut":
		m, _ := c.message(stream, data)
		m.Headers = m.Headers[:c.draw(len(m.Headers))]
		c.record(family, number, m, when)
	case "astray":
		m, _ := c.message(stream, data)
		c.record(family, (number+1)%testParts, m, when)
	case "forged": // the right head, no seal: a fact while no seals are demanded
		m, hash := c.message(stream, data)
		m.Headers = slices.DeleteFunc(slices.Clone(m.Headers), func(h events.Header) bool { return h.Key == events.SealHeader })
		c.record(family, number, m, when)
		if c.writer == nil && c.draw(1) == 0 {
			c.heads[stream] = events.Head{Sequence: c.heads[stream].Sequence + 1, Hash: hash}
		}
	case "seal":
		c.append(events.SealStream(family, number, testParts), events.LogSealed{KeyID: c.writer.Signer()}, when)
	case "rotate":
		if c.writer != nil {
			c.turn(1 + c.draw(1))
		}
	case "checkpoint":
		c.checkpoint(fmt.Sprint("checkpoint-", len(c.notes)), when)
		c.notes = append(c.notes, c.note)
	}
}

// message returns the record that append would write, and its hash.
func (c *chaos) message(stream string, data events.Data) (events.Message, events.Hash) {
	records, head := maps.Clone(c.records), c.heads[stream]
	c.append(stream, data, at("2026-11-02 00:00:00"))
	family, _ := events.FamilyOf(stream)
	all := c.records[partitionName(string(family), events.PartitionOf(stream, testParts))]
	m, hash := all[len(all)-1].Message, c.heads[stream].Hash
	c.records, c.heads[stream] = records, head
	m.Headers = slices.Clone(m.Headers)
	return m, hash
}

// judged are the verdicts on the records of a partition from an offset on, and the state
// after them.
type judged struct {
	Verdicts []events.Verdict
	Facts    int64
	Rejected int64
	Digest   events.Digest
	Sealing  string
	Heads    map[string]events.Head
}

func judgeRest(t *testing.T, p *partition) judged {
	t.Helper()
	var j judged
	for p.next < p.topic.Ends[p.number] {
		verdict, before := events.Accepted, maps.Clone(p.verdicts)
		if err := p.advance(t.Context(), p.next+1, nil); err != nil {
			t.Fatal(err)
		}
		for v, n := range p.verdicts {
			if n != before[v] {
				verdict = v
			}
		}
		j.Verdicts = append(j.Verdicts, verdict)
	}
	j.Facts, j.Rejected, j.Digest, j.Sealing, j.Heads = p.facts, p.rejected, p.digest, p.sealing.String(), map[string]events.Head{}
	for stream, head := range p.heads {
		j.Heads[stream] = *head
	}
	return j
}

// TestJoiningAnywhereIsJudgingFromTheBeginning: in any log, a verification that joins at
// any checkpoint gives each later record the verdict that it has from offset 0, ends with
// the same heads, digests and demands of seals, and reports the same findings.
func TestJoiningAnywhereIsJudgingFromTheBeginning(t *testing.T) {
	t.Parallel()
	seen := map[events.Verdict]int{}
	rapid.Check(t, func(r *rapid.T) {
		c := newChaos(t, r)
		for range rapid.IntRange(5, 80).Draw(r, "steps") {
			c.step()
		}
		log := c.log()
		want := whole(t, log, c.key.Verifier)
		for _, note := range c.notes {
			got, err := VerifyFrom(t.Context(), log, c.key.Verifier, nil, note, storedHeads(c.files))
			if err != nil {
				r.Fatal(err)
			}
			if diff := same(want, got); diff != "" {
				r.Fatalf("from %s (-whole +joined):\n%s", got.Joined, diff)
			}
			v := newVerification(log, c.key.Verifier, nil, nil, moved{})
			checkpoint, err := OpenCheckpoint(note, c.key.Verifier)
			if err != nil {
				r.Fatal(err)
			}
			if err := v.join(t.Context(), checkpoint, storedHeads(c.files)); err != nil {
				r.Fatal(err)
			}
			for i, p := range log.open() {
				before := v.parts[i].next
				all, rest := judgeRest(t, p), judgeRest(t, v.parts[i])
				for _, verdict := range rest.Verdicts {
					seen[verdict]++
				}
				all.Verdicts = slices.Clip(all.Verdicts[before:])
				if diff := gocmp.Diff(all, rest, gocmp.Transformer("len0", func(v []events.Verdict) []string {
					texts := []string{}
					for _, one := range v {
						texts = append(texts, string(one))
					}
					return texts
				})); diff != "" {
					r.Fatalf("%s/%d from %s at %d (-from 0 +joined):\n%s", p.topic.Name, p.number, checkpoint.Name, before, diff)
				}
			}
		}
	})
	for _, v := range []events.Verdict{events.Accepted, events.Duplicate, events.Stale, events.Gap, events.Broken, events.Misplaced, events.Forged, events.BadFrame} {
		if seen[v] == 0 {
			t.Errorf("no record after a checkpoint had the verdict %s", v)
		}
	}
}

// TestJoiningALogThatLostRecords: if any partition lost its end, or any record after the
// checkpoint was changed, a joined verification finds it, or cannot join, whenever a
// whole one finds something after the checkpoint.
func TestJoiningALogThatLostRecords(t *testing.T) {
	t.Parallel()
	found := 0
	rapid.Check(t, func(r *rapid.T) {
		c := newChaos(t, r)
		c.checkpoint("first", at("2026-11-02 00:00:00"))
		c.notes = append(c.notes, c.note)
		for range rapid.IntRange(20, 80).Draw(r, "steps") {
			c.step()
		}
		c.checkpoint("last", at("2026-11-03 00:00:00"))
		note := rapid.SampledFrom(c.notes).Draw(r, "note")
		checkpoint, err := OpenCheckpoint(note, c.key.Verifier)
		if err != nil {
			r.Fatal(err)
		}
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(c.records))).Draw(r, "partition")
		records := c.records[name]
		i := slices.IndexFunc(checkpoint.Parts, func(p Part) bool { return partitionName(string(p.Family), p.Partition) == name })
		next := checkpoint.Parts[i].Next
		if next == int64(len(records)) {
			return // nothing after the checkpoint can be lost
		}
		at := rapid.Int64Range(next, int64(len(records)-1)).Draw(r, "offset")
		if rapid.Bool().Draw(r, "cut") {
			c.records[name] = records[:at]
		} else {
			changed := slices.Clone(records)
			changed[at].Value = append(bytes.Clone(changed[at].Value), ' ')
			c.records[name] = changed
		}
		want := whole(t, c.log(), c.key.Verifier)
		got, err := VerifyFrom(t.Context(), c.log(), c.key.Verifier, nil, note, storedHeads(c.files))
		if errors.Is(err, ErrJoin) && strings.HasPrefix(name, string(events.Checkpoints)) {
			return // the checkpoint itself was lost or changed
		}
		if err != nil {
			r.Fatal(err)
		}
		if diff := same(want, got); diff != "" {
			r.Fatalf("%s at %d, from %s (-whole +joined):\n%s", name, at, got.Joined, diff)
		}
		found += len(got.Findings)
	})
	if found == 0 {
		t.Error("nothing was found in any log")
	}
}
