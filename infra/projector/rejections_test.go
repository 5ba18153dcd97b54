package projector

import (
	"testing"

	"pgregory.net/rapid"

	"netsim/events"
)

// TestRejections: what is said to be known of a range is what the log has, also
// when notices are missed, come without their list, or are many.
func TestRejections(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rejected := map[int64]events.Verdict{}
		var r rejections
		at, heard := int64(0), int64(0) // judged, and as far as the watcher knows
		for range rapid.IntRange(1, 40).Draw(t, "notices") {
			to := judgedTo{next: at + rapid.Int64Range(1, 400).Draw(t, "records")}
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
				r.add(heard, judgedTo{next: to.next, ask: true})
			case 1: // a list that is too long
				to.rejected, to.ask = nil, true
				r.add(heard, to)
			default:
				r.add(heard, to)
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
			}
		}
	})
}

// TestRejectionsAfterALoss: after the read model was lost, what is known begins
// again where the watcher is.
func TestRejectionsAfterALoss(t *testing.T) {
	t.Parallel()
	r := rejections{from: 10, to: 20}
	r.add(3, judgedTo{next: 6, rejected: map[int64]events.Verdict{4: events.Gap}})
	if r.from != 3 || r.to != 6 || len(r.verdicts) != 1 {
		t.Errorf("known is %+v", r)
	}
}
