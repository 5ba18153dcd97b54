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

// TestTheCorpusIsProjected: logs with data of every type in every form that was ever
// written are read by this release. Every record is a fact, none parks its stream, and
// a rebuilt read model is the same. The forms of a type have the same ids, which are
// unique in a log, so each log has one form of it.
func TestTheCorpusIsProjected(t *testing.T) {
	t.Parallel()
	forms := 0
	for _, zero := range events.Types() {
		forms = max(forms, len(corpus(t, zero.EventType())))
	}
	for form := range forms {
		t.Run(fmt.Sprint(form), func(t *testing.T) {
			t.Parallel()
			projectForm(t, form)
		})
	}
}

// projectForm projects a log with a form of every type, the last one of types that have
// fewer.
func projectForm(t *testing.T, form int) {
	s := newStack(t)
	s.appendCorpus(t, form)
	parked, _, err := projector.ReadParked(t.Context(), s.DB, projector.ParkedQuery{Schema: projector.Live})
	if err != nil || len(parked) > 0 {
		t.Errorf("parked: %+v, %v", parked, err)
	}
	if differences := s.rebuilt(t, "next"); len(differences) > 0 {
		t.Errorf("a rebuilt read model differs: %+v", differences)
	}
}

// appendCorpus appends data of every type in a form, and waits until all of it is applied.
func (s stack) appendCorpus(t *testing.T, form int) {
	t.Helper()
	total := 0
	heads := map[string]events.Frame{} // by stream
	for _, zero := range events.Types() {
		if zero.EventType() == (events.LogSealed{}).EventType() {
			continue // a log that demands seals has tests of its own
		}
		stored := corpus(t, zero.EventType())
		stream := streamOf(t, strings.Split(zero.EventType(), ".")[1])
		family, err := events.FamilyOf(stream)
		if err != nil {
			t.Fatal(err)
		}
		frame := heads[stream]
		frame.ID, frame.Type = events.DerivedUUID(stream, zero.EventType()).String(), zero.EventType()
		frame.Stream, frame.PartitionKey, frame.Actor, frame.DataVersion = stream, stream, "tester", 1
		frame.Time = time.UnixMilli(1_790_000_000_000)
		frame.Sequence++
		m, hash := frame.Message(stored[min(form, len(stored)-1)])
		frame.PreviousHash = hash
		heads[stream] = frame
		if _, err := s.EventLog.Append(s.EventLog.Topic(family), events.PartitionOf(stream, s.Log.Partitions), m).Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		total++
	}
	testworld.Await(t, func() bool {
		var facts, rejected int
		err := s.DB.QueryRow(t.Context(), "SELECT coalesce(sum(facts), 0), (SELECT count(*) FROM readmodel.rejected) FROM readmodel.offsets").Scan(&facts, &rejected)
		if err != nil || rejected > 0 {
			t.Fatalf("%d records are rejected: %v", rejected, err)
		}
		return facts == total
	})
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
func streamOf(t *testing.T, aggregate string) string {
	t.Helper()
	prefix := map[string]string{
		"workspace": events.WorkspacePrefix, "webhook": events.WebhookPrefix, "configuration": events.ConfigurationPrefix, "simulation": events.SimulationPrefix,
		"traceset": events.TracesetPrefix, "mapping_file": events.MappingFilePrefix, "upload": events.UploadPrefix,
		"billing": events.AccountPrefix, "checkpoint": events.CheckpointPrefix, "log": events.CheckpointPrefix,
		"operation": events.OperationPrefix, "study": events.StudyPrefix,
	}[aggregate]
	if prefix == "" {
		t.Fatalf("the aggregate %s has no stream", aggregate)
	}
	return events.DerivedID(prefix, "corpus", aggregate)
}
