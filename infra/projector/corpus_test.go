package projector_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"netsim/events"
	"netsim/infra/projector"
	"netsim/internal/testworld"
)

// TestTheCorpusIsProjected: a log with data of every type in every form that was ever
// written is read by this release. Every record is a fact, none parks its stream, and
// a rebuilt read model is the same.
func TestTheCorpusIsProjected(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	written := map[string]int{} // by aggregate
	for _, zero := range events.Types() {
		aggregate := strings.Split(zero.EventType(), ".")[1]
		written[aggregate] = max(written[aggregate], len(corpus(t, zero.EventType())))
	}
	// The streams of the corpus have the same ids of items and rates, so their order
	// matters. One partition fixes it.
	const key = "corpus"
	total := 0
	for aggregate, forms := range written {
		for form := range forms {
			stream := streamOf(t, aggregate, form)
			frame := events.Frame{Stream: stream, PartitionKey: key, Time: time.UnixMilli(1_790_000_000_000), Actor: "tester", DataVersion: 1}
			family, err := events.FamilyOf(stream)
			if err != nil {
				t.Fatal(err)
			}
			partition := events.PartitionOf(key, s.Log.Partitions)
			for _, zero := range events.Types() {
				if strings.Split(zero.EventType(), ".")[1] != aggregate || zero.EventType() == (events.LogSealed{}).EventType() {
					continue // a log that demands seals has tests of its own
				}
				stored := corpus(t, zero.EventType())
				frame.ID, frame.Type = events.DerivedUUID(stream, zero.EventType()).String(), zero.EventType()
				frame.Sequence++
				m, hash := frame.Message(stored[min(form, len(stored)-1)])
				frame.PreviousHash = hash
				_, err := s.EventLog.Append(s.EventLog.Topic(family), partition, m).Wait(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				total++
			}
		}
	}
	testworld.Await(t, func() bool {
		var facts, rejected int
		err := s.DB.QueryRow(t.Context(), "SELECT coalesce(sum(facts), 0), (SELECT count(*) FROM readmodel.rejected) FROM readmodel.offsets").Scan(&facts, &rejected)
		if err != nil || rejected > 0 {
			t.Fatalf("%d records are rejected: %v", rejected, err)
		}
		return facts == total
	})
	parked, err := projector.ReadParked(t.Context(), s.DB, projector.Live, "")
	if err != nil || len(parked) > 0 {
		t.Errorf("parked: %+v, %v", parked, err)
	}
	if differences := s.rebuilt(t, "next"); len(differences) > 0 {
		t.Errorf("a rebuilt read model differs: %+v", differences)
	}
}

// corpus returns the stored data of a type, a form each.
func corpus(t *testing.T, eventType string) [][]byte {
	t.Helper()
	text, err := os.ReadFile("../../events/testdata/corpus/" + eventType + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSpace(text), []byte("\n"))
}

// streamOf returns a stream of an aggregate.
func streamOf(t *testing.T, aggregate string, n int) string {
	t.Helper()
	prefix := map[string]string{
		"workspace": events.WorkspacePrefix, "configuration": events.ConfigurationPrefix, "simulation": events.SimulationPrefix,
		"traceset": events.TracesetPrefix, "mapping_file": events.MappingFilePrefix, "upload": events.UploadPrefix,
		"billing": events.AccountPrefix, "checkpoint": events.CheckpointPrefix, "log": events.CheckpointPrefix,
	}[aggregate]
	if prefix == "" {
		t.Fatalf("the aggregate %s has no stream", aggregate)
	}
	return events.DerivedID(prefix, "corpus", aggregate, fmt.Sprint(n))
}
