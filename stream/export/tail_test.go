package export_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"netsim/events"
	"netsim/infra/facts"
	"netsim/stream/export"
)

// atOnce gives each partition its facts in one batch, and then nothing.
type atOnce struct{ list []facts.Fact }

func (r atOnce) Next(ctx context.Context, _ events.Family, _ int32, from int64) (facts.Batch, error) {
	if from > 0 {
		<-ctx.Done()
		return facts.Batch{}, ctx.Err()
	}
	return facts.Batch{To: int64(len(r.list)), Facts: r.list}, nil
}

// TestATailEndsAtItsCount, also when many partitions have facts at the same moment.
func TestATailEndsAtItsCount(t *testing.T) {
	t.Parallel()
	data := events.WorkspaceCreated{AccountID: events.NewID(events.AccountPrefix), Name: "w", Owner: "o"}
	value, err := events.Encode(data)
	if err != nil {
		t.Fatal(err)
	}
	reader := atOnce{list: make([]facts.Fact, 8)}
	for i := range reader.list {
		f := &reader.list[i]
		f.Family, f.Offset, f.Record = events.Workspaces, int64(i), new(events.Record)
		f.Record.Value = value
		f.Frame = events.Frame{
			ID: events.DerivedUUID("tail").String(), Type: data.EventType(), Stream: events.NewID(events.WorkspacePrefix),
			Sequence: 1, Time: time.Unix(0, 0).UTC(), Actor: "tester", DataVersion: 1,
		}
	}
	log := export.Log{Topics: []export.Topic{{Family: events.Workspaces, Name: "workspaces", Ends: make([]int64, 64)}}}
	for range 200 {
		var out bytes.Buffer
		tail := export.Tail{Log: log, Facts: reader, Count: 7}
		if err := tail.Run(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		if lines := bytes.Count(out.Bytes(), []byte("\n")); lines != 7 {
			t.Fatalf("the tail wrote %d facts, want 7", lines)
		}
	}
}
