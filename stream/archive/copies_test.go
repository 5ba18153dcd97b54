package archive_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/internal/testwait"
	"netsim/stream/archive"
)

// inPieces is a source that is copied in batches of so many records.
type inPieces struct {
	archive.Source
	size int
}

func (s inPieces) Records(ctx context.Context, family events.Family, partition int32, from int64) ([]events.Record, error) {
	records, err := s.Source.Records(ctx, family, partition, from)
	return records[:min(len(records), s.size)], err
}

// finished finishes a copy, and compares it with the log.
func (w *world) finished(t *testing.T, from archive.Source, to *eventlog.Kafka) {
	t.Helper()
	c := archive.Copy{From: from, To: to}
	if _, err := c.Finish(t.Context()); err != nil {
		t.Fatalf("the topics of two copies cannot be finished: %v", err)
	}
	if diff := cmp.Diff(records(t, w.log), records(t, to)); diff != "" {
		t.Errorf("(-log +copy):\n%.2000s", diff)
	}
}

// TestAnotherCopyInBetween: after the first batch of a copy, another command copies the same
// log into the same topics. It succeeds, the first one says why it ended, and the topics have
// every record once.
func TestAnotherCopyInBetween(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 120)
	prefix := prefix(t)
	source := inPieces{archive.Cluster{Log: w.log}, 2}
	between := false
	first := archive.Copy{From: source, To: open(t, prefix), Workers: 1, Step: func(step string) error {
		if step != "batch appended" || between {
			return nil
		}
		between = true
		second := archive.Copy{From: source, To: open(t, prefix)}
		_, err := second.Append(t.Context())
		return err
	}}
	_, err := first.Append(t.Context())
	if !errors.Is(err, eventlog.ErrCopying) || !strings.Contains(err.Error(), "wait until it has ended, and repeat the command") {
		t.Errorf("the first copy ended with %v, want the reason", err)
	}
	w.finished(t, source, open(t, prefix))
}

// TestCopiesTogether: three commands copy one log into the same topics at once. One of them,
// repeated, finishes the copy.
func TestCopiesTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 120)
	prefix := prefix(t)
	var all sync.WaitGroup
	for n := range 3 {
		source, to := inPieces{archive.Cluster{Log: w.log}, 1 + n}, open(t, prefix)
		all.Go(func() {
			c := archive.Copy{From: source, To: to}
			if _, err := c.Append(t.Context()); err != nil && !errors.Is(err, eventlog.ErrCopying) {
				t.Errorf("a copy ended with %v", err)
			}
		})
	}
	testwait.Group(t, &all, "the copies")
	w.finished(t, archive.Cluster{Log: w.log}, open(t, prefix))
}
