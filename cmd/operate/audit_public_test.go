package operate_test

import (
	"strings"
	"testing"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/internal/testworld"
	"netsim/stream/publisher"
)

// TestAuditOfThePublicTopics: what the publisher of a service has published equals the
// facts of its log. A record of another writer in a public topic is found.
func TestAuditOfThePublicTopics(t *testing.T) {
	t.Parallel()
	a := newAudited(t)
	auditor := a.open(t)
	testworld.Await(t, func() bool {
		r, err := auditor.Public(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Findings) > 0 {
			t.Fatalf("found %v", r.Findings)
		}
		var same, pending int64
		for _, f := range r.Families {
			same, pending = same+f.Same, pending+f.Pending
		}
		return pending == 0 && same > 20
	})
	topic := publisher.Topic(a.Config.TopicPrefix, events.Workspaces)
	log, err := eventlog.Open(t.Context(), eventlog.Config{Brokers: a.Config.Kafka, Prefix: a.Config.TopicPrefix, Relaxed: true, Beside: []string{topic}})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if _, err := log.Append(topic, 1, events.Message{Key: []byte("workspace_x"), Value: []byte("{}")}).Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := auditor.Public(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Findings) != 1 || !strings.Contains(r.Findings[0].String(), topic+"/1 offset ") ||
		!strings.Contains(r.Findings[0].String(), `but here is a record without an event's id, key "workspace_x"`) {
		t.Errorf("found %v, want the record of the other writer", r.Findings)
	}
}
