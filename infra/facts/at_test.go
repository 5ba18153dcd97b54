package facts_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"netsim/events"
	"netsim/infra/facts"
)

// holed is a log of which the first records were deleted, so that a fetch from there
// returns later ones.
type holed struct{ *fake }

func (h holed) Read(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error) {
	return h.Recall(ctx, topic, partition, max(from, 5), maxBytes, wait)
}

// The record at a position is that one or none, never another.
func TestAt(t *testing.T) {
	t.Parallel()
	log := holed{newFake(t, 20)}
	for offset := range int64(25) {
		at := events.Position{Family: events.Workspaces, Partition: 3, Offset: offset}
		r, err := facts.At(t.Context(), log, at)
		if offset >= 5 && offset < 20 {
			if err != nil || r.Offset != offset {
				t.Errorf("at %d is the record %d, %v", offset, r.Offset, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), "the log has no record at workspaces/3@") {
			t.Errorf("at %d is the record %d, %v, want an error", offset, r.Offset, err)
		}
	}
}
