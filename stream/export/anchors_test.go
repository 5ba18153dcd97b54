package export_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/stream/export"
)

// regrown is a log that has lost the records of an export and has others in their place.
type regrown struct{ eventlog.RecordReader }

func (r regrown) Read(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error) {
	records, end, err := r.RecordReader.Read(ctx, topic, partition, from, maxBytes, wait)
	for i := range records {
		records[i].Value = []byte("another")
	}
	return records, end, err
}

// TestAnExportOfAnotherLogIsRefused: an export, complete or not, is not continued in a log
// with other records before the positions that it has reached.
func TestAnExportOfAnotherLogIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	whole, begun := &export.Directory{Path: t.TempDir()}, &export.Directory{Path: t.TempDir()}
	run(t, w.export(export.NDJSON, whole))
	killed, files := w.export(export.NDJSON, begun), 0
	killed.Workers = 1
	killed.Step = func(step string) error {
		if step == "file listed" {
			files++
		}
		if files == 2 {
			return errors.New("killed")
		}
		return nil
	}
	if _, err := killed.Run(t.Context()); err == nil {
		t.Fatal("the export was not killed")
	}
	for name, target := range map[string]export.Target{"complete": whole, "begun": begun} {
		x := w.export(export.NDJSON, target)
		x.Records = regrown{w.EventLog}
		if _, err := x.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "is not the one that was seen; use another target") {
			t.Errorf("%s: %v", name, err)
		}
		run(t, w.export(export.NDJSON, target))
	}
}
