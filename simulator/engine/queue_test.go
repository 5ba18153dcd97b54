package engine

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestQueueOrder: events are popped in the order of time and kind, even when pushes and
// pops alternate.
func TestQueueOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var waiting []uint64 // keys
		now := int64(0)
		for id := range rapid.IntRange(1, 200).Draw(t, "events") {
			if rapid.IntRange(0, 2).Draw(t, "push") > 0 || len(waiting) == 0 {
				at, k := now+rapid.Int64Range(0, 5).Draw(t, "in"), kind(rapid.IntRange(0, int(start)).Draw(t, "kind"))
				q.push(at, k, int32(id), 0)
				waiting = append(waiting, keyOf(at, k))
				continue
			}
			time, k, _ := q.pop()
			slices.Sort(waiting)
			if key := keyOf(time, k); key != waiting[0] {
				t.Fatalf("popped %d, want %d", key, waiting[0])
			}
			waiting, now = waiting[1:], time
		}
	})
}
