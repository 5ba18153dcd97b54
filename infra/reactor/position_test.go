package reactor

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netsim/events"
	"netsim/infra/facts"
)

// TestPositionsAreStored: a commit that is read back says what was done, and less
// when the metadata did not fit.
func TestPositionsAreStored(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := position{next: rapid.Int64Range(0, 1<<40).Draw(t, "next")}
		p.until = p.next
		if n := rapid.IntRange(0, 5000).Draw(t, "open facts"); n > 0 {
			step := rapid.Int64Range(1, 300)
			for range n {
				p.open = append(p.open, p.until)
				p.until += step.Draw(t, "step")
			}
		}
		if rapid.Bool().Draw(t, "anchored") {
			p.anchor = events.Anchor{TopicID: "0123456789012345678901", Next: p.until, Last: events.Sum{1}}
			if p.until == 0 {
				p.anchor = events.Anchor{}
			}
		}
		metadata := p.metadata()
		if len(metadata) > 4096 {
			t.Fatalf("the metadata has %d bytes", len(metadata))
		}
		got := readPosition(p.next, metadata)
		if got.anchor != p.anchor {
			t.Fatalf("the anchor is %+v, stored %+v", p.anchor, got.anchor)
		}
		if n := len(p.open); n < 1000 && p.behind(p.until+3) != int64(n)+3 || got.behind(p.until+3) < int64(n)+3 {
			t.Fatalf("%d facts are open before %d: behind %d, stored %d", n, p.until, p.behind(p.until+3), got.behind(p.until+3))
		}
		for offset := p.next; offset < p.until; offset++ {
			if _, open := slices.BinarySearch(p.open, offset); open && got.done(offset) {
				t.Fatalf("%d is open and read as done", offset)
			} else if len(p.open) < 1000 && !open && !got.done(offset) {
				t.Fatalf("%d is done and read as open", offset)
			}
		}
	})
}

func TestPositionsOfOthers(t *testing.T) {
	t.Parallel()
	for _, metadata := range []string{"", "x", "1:", "1:!", "1:AA", "2:AAE", "2:x/1/2:AAE", "3:AAE"} {
		if got := readPosition(7, metadata); got.next != 7 || got.done(7) || got.done(8) {
			t.Errorf("%q is read as %+v", metadata, got)
		}
	}
}

// TestWindow compares a window, which is resumed now and then from what it
// commits, with a list of what was done.
func TestWindow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const end = 60
		streams := rapid.SliceOfN(rapid.IntRange(0, 5), end, end).Draw(t, "streams") // 0 is no fact
		done := map[int64]bool{}
		last := map[string]int64{}
		w := newWindow(0, position{}, func() {})
		var ready []*slot
		for w.position().next < end {
			switch choice := rapid.IntRange(0, 9).Draw(t, "step"); {
			case choice == 0:
				p := w.position()
				w = newWindow(0, readPosition(p.next, p.metadata()), func() {})
				ready = nil
			case choice <= 4 && w.next() < end:
				b := facts.Batch{From: w.next(), To: min(end, w.next()+rapid.Int64Range(1, 9).Draw(t, "batch"))}
				for offset := b.From; offset < b.To; offset++ {
					if n := streams[offset]; n > 0 {
						record := &events.Record{Message: events.Message{Key: []byte{byte('a' + n)}}, Offset: offset}
						b.Facts = append(b.Facts, facts.Fact{Fact: events.Fact{Offset: offset}, Record: record})
					}
				}
				ready = append(ready, w.add(&b)...)
			case len(ready) > 0:
				i := rapid.IntRange(0, len(ready)-1).Draw(t, "done")
				s := ready[i]
				if done[s.offset] {
					t.Fatalf("%d is handed out again", s.offset)
				}
				if before, any := last[s.stream]; any && before > s.offset {
					t.Fatalf("%d is handed out after %d", s.offset, before)
				}
				done[s.offset], last[s.stream] = true, s.offset
				ready = slices.Delete(ready, i, i+1)
				if next := w.finish(s); next != nil {
					ready = append(ready, next)
				}
			}
			p := w.position()
			for offset := range int64(end) {
				claimed := offset < p.next || p.done(offset)
				if claimed && streams[offset] > 0 && !done[offset] {
					t.Fatalf("%d is not done, the position is %+v", offset, p)
				}
				if !claimed && done[offset] {
					t.Fatalf("%d is done, the position is %+v", offset, p)
				}
			}
		}
		var missed []int64
		for offset := range int64(end) {
			if streams[offset] > 0 && !done[offset] {
				missed = append(missed, offset)
			}
		}
		if diff := cmp.Diff([]int64(nil), missed); diff != "" {
			t.Fatalf("not done (-want +got):\n%s", diff)
		}
	})
}
