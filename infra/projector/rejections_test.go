package projector

import (
	"cmp"
	"testing"

	"pgregory.net/rapid"

	"netsim/events"
	"netsim/internal/testwait"
)

// TestRejections: the known rejections of a range are those of the log, also when
// notices are missed, come without their list, or are many.
func TestRejections(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rejected := map[int64]events.Verdict{}
		var r rejections
		at, heard := int64(0), int64(0) // judged, and heard
		for range rapid.IntRange(1, 40).Draw(t, "notices") {
			to := judgedTo{from: at, next: at + rapid.Int64Range(1, 400).Draw(t, "records")}
			for range rapid.IntRange(0, 200).Draw(t, "rejected") {
				offset := rapid.Int64Range(at, to.next-1).Draw(t, "offset")
				rejected[offset] = events.Stale
				if to.rejected == nil {
					to.rejected = map[int64]events.Verdict{}
				}
				to.rejected[offset] = events.Stale
			}
			at = to.next
			switch rapid.IntRange(0, 9).Draw(t, "how it is heard") {
			case 0: // by a poll of the offsets
				r.add(judgedTo{next: to.next, ask: true})
			case 1: // a list that is too long
				to.rejected, to.ask = nil, true
				r.add(to)
			case 2: // not at all
				continue
			default:
				r.add(to)
			}
			heard = to.next
			if r.to != heard || r.from > r.to {
				t.Fatalf("known is [%d, %d), heard %d", r.from, r.to, heard)
			}
			if len(r.verdicts) > maxRejected {
				t.Fatalf("%d rejected records are kept", len(r.verdicts))
			}
			for offset := r.from; offset < r.to; offset++ {
				if got, want := r.verdicts[offset], rejected[offset]; got != want {
					t.Fatalf("the record at %d is %q, want %q", offset, got, want)
				}
				if got, want := r.verdict(offset), cmp.Or(rejected[offset], events.Accepted); got != want {
					t.Fatalf("the verdict at %d is %q, want %q", offset, got, want)
				}
			}
			if got := r.verdict(r.from-1) + r.verdict(r.to); got != "" {
				t.Fatalf("a record of which no notice tells is %q", got)
			}
		}
	})
}

// TestRejectionsAfterALoss: after the read model was lost, what is known begins
// again where the watcher is.
func TestRejectionsAfterALoss(t *testing.T) {
	t.Parallel()
	r := rejections{from: 10, to: 20}
	r.add(judgedTo{from: 3, next: 6, rejected: map[int64]events.Verdict{4: events.Gap}})
	if r.from != 3 || r.to != 6 || len(r.verdicts) != 1 {
		t.Errorf("known is %+v", r)
	}
}

// TestAnOvertakenNotice: a notice says nothing about the records of the commits
// before it, which another process may have made. A caller that waits for one of
// those reads the table.
func TestAnOvertakenNotice(t *testing.T) {
	t.Parallel()
	heard, _, err := readNotice(notice([]judgedTo{{
		family: events.Billing, partition: 2, from: 5, next: 9, rejected: map[int64]events.Verdict{7: events.Gap},
	}}))
	if err != nil {
		t.Fatal(err)
	}
	w := NewWatcher(nil, nil)
	part := w.part(partitionKey{events.Billing, 2})
	want := map[int64]events.Verdict{4: "", 5: events.Accepted, 7: events.Gap}
	answers := map[int64]chan events.Verdict{}
	for offset := range want {
		answers[offset] = make(chan events.Verdict, 1)
		part.waiters[offset] = []chan events.Verdict{answers[offset]}
	}
	w.apply(heard, false)
	for offset, answer := range answers {
		if got := testwait.Receive(t, answer, "a verdict"); got != want[offset] {
			t.Errorf("the record at %d is %q, want %q", offset, got, want[offset])
		}
	}
	if part.rejections.from != 5 || part.rejections.to != 9 {
		t.Errorf("known is [%d, %d)", part.rejections.from, part.rejections.to)
	}
}
