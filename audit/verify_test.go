package audit

import (
	"strings"
	"testing"

	"netsim/events"
)

func findings[F interface{ String() string }](all []F) string {
	var b strings.Builder
	for _, f := range all {
		b.WriteString(f.String() + "\n")
	}
	return b.String()
}

// TestVerify: a verification has no findings on an unchanged log, and finds
// changed records, lost ends and invalid checkpoints.
func TestVerify(t *testing.T) {
	t.Parallel()
	flip := func(r *events.Record) { r.Value[len(r.Value)/2] ^= 1 }
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, w *world)
		want   []string // parts of the findings; nil if there are none
	}{
		{"unchanged", func(*testing.T, *world) {}, nil},
		{"events after the last checkpoint", func(_ *testing.T, w *world) {
			w.use(bob, "cluster", "update", 2, 3, at("2026-11-07 00:00:00"))
		}, nil},
		{"a record changed", func(_ *testing.T, w *world) { w.edit(alice, 3, flip) },
			[]string{"broken: the event before sequence 4 is missing; the stream ends at 3", "has seen other records"}},
		{"the last record of a stream changed", func(_ *testing.T, w *world) { w.edit(alice, w.heads[alice].Sequence, flip) },
			[]string{"checkpoint 2026-11-05 has seen other records", "root"}},
		{"a time changed", func(_ *testing.T, w *world) {
			w.edit(bob, 2, func(r *events.Record) {
				for i := range r.Headers {
					if r.Headers[i].Key == "ce_time" {
						r.Headers[i].Value = []byte("2026-11-02T09:30:00.001Z")
					}
				}
			})
		}, []string{"stream " + bob, "has seen other records"}},
		{"a frame cut short", func(_ *testing.T, w *world) { w.edit(alice, 2, func(r *events.Record) { r.Headers = r.Headers[:3] }) },
			[]string{"gap: the event before sequence 3 is missing; the stream ends at 1"}},
		{"the tail lost", func(_ *testing.T, w *world) {
			name := partitionName("billing", events.PartitionOf(alice, testParts))
			w.records[name] = w.records[name][:len(w.records[name])-2]
		}, []string{"the log lost its tail", "root"}},
		{"a checkpoint of another key", func(t *testing.T, w *world) {
			w.key = newWorld(t).key
			w.checkpoint("forged", at("2026-11-08 00:00:00"))
			w.key = nil
		}, []string{"checkpoint forged: it is signed by test+"}},
		{"a checkpoint left out", func(_ *testing.T, w *world) {
			w.edit(testStream, 2, func(r *events.Record) { r.Value = []byte(`{}`) })
		}, []string{"broken: the event before sequence 3"}},
		{"a checkpoint that does not follow", func(_ *testing.T, w *world) {
			w.note = ""
			w.checkpoint("again", at("2026-11-08 00:00:00"))
		}, []string{"checkpoint again does not follow the one before it"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := fourDays(t)
			verifier := w.key.Verifier
			tt.change(t, w)
			r, err := Verify(t.Context(), w.log(), verifier, nil)
			if err != nil {
				t.Fatal(err)
			}
			reported := findings(r.Findings)
			if len(tt.want) == 0 && reported != "" {
				t.Errorf("want no findings, found:\n%s", reported)
			}
			for _, want := range tt.want {
				if !strings.Contains(reported, want) {
					t.Errorf("%q was not found, but:\n%s", want, reported)
				}
			}
		})
	}
}

// TestVerifyAgainstTheReadModel: a read model with another digest, of a longer
// log, or of another topic is reported.
func TestVerifyAgainstTheReadModel(t *testing.T) {
	t.Parallel()
	w := fourDays(t)
	log := w.log()
	var right []Expected
	for _, p := range log.open() {
		if err := p.advance(t.Context(), p.topic.Ends[p.number]/2, nil); err != nil {
			t.Fatal(err)
		}
		right = append(right, Expected{Family: p.topic.Family, TopicID: p.topic.ID, Partition: p.number, Next: p.next, Facts: p.facts, Digest: p.digest})
	}
	for name, tt := range map[string]struct {
		change func(e *Expected)
		want   string
	}{
		"the same":      {func(*Expected) {}, ""},
		"other facts":   {func(e *Expected) { e.Digest[0] ^= 1 }, "was made from other facts"},
		"longer":        {func(e *Expected) { e.Next += 1000 }, "the log lost its tail"},
		"another topic": {func(e *Expected) { e.TopicID = "x" }, "made from another topic"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := append([]Expected(nil), right...)
			tt.change(&at[len(at)-4]) // a partition of billing
			r, err := Verify(t.Context(), log, w.key.Verifier, at)
			if err != nil {
				t.Fatal(err)
			}
			if reported := findings(r.Findings); (reported == "") != (tt.want == "") || !strings.Contains(reported, tt.want) {
				t.Errorf("found %q, want %q", reported, tt.want)
			}
		})
	}
}
