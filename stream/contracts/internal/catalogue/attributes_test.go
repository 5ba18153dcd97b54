package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"netsim/events"
	"netsim/infra/facts"
	"netsim/stream/public"
)

// TestAttributesHaveForms: every documented header has a pattern, and its example
// and the value that a fact has match it.
func TestAttributesHaveForms(t *testing.T) {
	t.Parallel()
	full := events.Frame{
		ID: "id", Type: "netsim.workspace.updated.v1", Stream: "stream", PartitionKey: "key", Sequence: 2, PreviousHash: events.Hash{1},
		CommandID: "command", CommandDigest: "digest", Time: time.UnixMilli(0), Actor: "actor",
		CorrelationID: "correlation", CauseID: "cause", DataVersion: 1,
	}
	values := map[string]string{schemaIDHeader: "7"}
	record, _ := full.Message([]byte(`{"name":"n"}`))
	fact := facts.Decode(events.Workspaces, &events.Record{Message: record})
	for _, h := range public.Message(&fact, "netsim.workspaces").Headers {
		values[h.Key] = string(h.Value)
	}
	for _, a := range attributes() {
		if a.Pattern == "" {
			t.Errorf("%s has no pattern: give it one and an example", a.Name)
		}
		form := regexp.MustCompile(a.Pattern)
		if !form.MatchString(a.Example) || !form.MatchString(values[a.Name]) {
			t.Errorf("%s: the example %q or the value %q does not match %s", a.Name, a.Example, values[a.Name], a.Pattern)
		}
	}
}

// TestTheLogPageListsTheHeadersOfARecord: docs/log.md has a row for each header of
// the frame.
func TestTheLogPageListsTheHeadersOfARecord(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(root + "/docs/log.md")
	if err != nil {
		t.Fatal(err)
	}
	m, _ := events.Frame{
		ID: "id", Type: "type", Stream: "stream", PartitionKey: "key", Sequence: 2, PreviousHash: events.Hash{1},
		CommandID: "command", CommandDigest: "digest", Time: time.UnixMilli(0), Actor: "actor",
		CorrelationID: "correlation", CauseID: "cause", DataVersion: 1,
	}.Message([]byte("{}"))
	for _, h := range m.Headers {
		if !strings.Contains(string(page), "`"+h.Key+"`") {
			t.Errorf("docs/log.md does not name %s", h.Key)
		}
	}
}
