package service_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"netsim/cmd/settings"
	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/internal/servicetest"
	"netsim/internal/testwait"
	"netsim/stream/publisher"
)

// TestSchemaRegistryDown: while the registry does not work, writes and publishing go on
// without ids, and the process is degraded. When it works, readiness is whole again and
// the next messages have the ids.
func TestSchemaRegistryDown(t *testing.T) {
	t.Parallel()
	var up atomic.Bool
	var ids sync.Map
	var last atomic.Int32
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		subject, isRegistration := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/subjects/"), "/versions")
		switch {
		case !up.Load():
			w.WriteHeader(http.StatusServiceUnavailable)
		case isRegistration:
			id, known := ids.Load(subject)
			if !known {
				id = last.Add(1)
				ids.Store(subject, id)
			}
			fmt.Fprintf(w, `{"id":%d}`, id)
		default:
			fmt.Fprint(w, `{"compatibilityLevel":"FORWARD_TRANSITIVE"}`)
		}
	}))
	defer registry.Close()
	p := servicetest.Start(t, func(c *settings.Config) { c.SchemaRegistry = registry.URL })
	user := p.Service(t, servicetest.NewAccount())
	create := func(name string) string {
		return user.Post("/api/v1/workspaces", map[string]any{"name": name}).Want(201).Object()["id"].(string)
	}
	if id, ok := schemaID(t, p, create("while it is down")); ok {
		t.Errorf("a message has the schema id %s that nobody gave", id)
	}
	status := func(want string) func(servicetest.Reply) bool {
		return func(r servicetest.Reply) bool {
			var ready struct {
				Checks []struct{ Name, Status string }
			}
			r.Into(&ready)
			for _, c := range ready.Checks {
				if c.Name == "schemaRegistry" {
					return (c.Status == "pass") == (want == "pass") && r.Status == http.StatusOK
				}
			}
			t.Fatalf("readiness has no check of the registry: %s", r.Body)
			return false
		}
	}
	const ready = "/api/v1/health/ready"
	user.Eventually(ready, status("warn"))
	if missing := fmt.Sprintf(`netsim_schema_registry_schemas{state="missing"} %d`, len(events.Types())); !strings.Contains(servicetest.Scrape(t, p.Ops), missing) {
		t.Errorf("the metrics do not have %s", missing)
	}
	up.Store(true)
	user.Eventually(ready, status("pass"))
	want, _ := ids.Load("netsim.workspace.created.v1")
	if id, _ := schemaID(t, p, create("when it works")); id != fmt.Sprint(want) {
		t.Errorf("the message has the schema id %q, want %v", id, want)
	}
	if registered := fmt.Sprintf(`netsim_schema_registry_schemas{state="registered"} %d`, len(events.Types())); !strings.Contains(servicetest.Scrape(t, p.Ops), registered) {
		t.Errorf("the metrics do not have %s", registered)
	}
}

// schemaID waits for the public message of a workspace's creation, and returns its
// schema id.
func schemaID(t *testing.T, p *servicetest.Program, workspace string) (id string, ok bool) {
	t.Helper()
	topic := publisher.Topic(p.Config.TopicPrefix, events.Workspaces)
	j, err := eventlog.Open(t.Context(), eventlog.Config{Brokers: p.Config.Kafka, Prefix: p.Config.TopicPrefix, Relaxed: true, Beside: []string{topic}})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close() //nolint:errcheck // it has only read
	next := make([]int64, p.Config.Partitions)
	for deadline := time.Now().Add(testwait.Limit(t)); time.Now().Before(deadline); {
		for partition := range next {
			records, _, err := j.Read(t.Context(), topic, int32(partition), next[partition], 1<<20, 100*time.Millisecond)
			if err != nil && !errors.Is(err, eventlog.ErrNoTopic) { // the publisher makes it
				t.Fatal(err)
			}
			for _, r := range records {
				next[partition] = r.Offset + 1
				if string(r.Key) != workspace {
					continue
				}
				for _, h := range r.Headers {
					if h.Key == publisher.SchemaIDHeader {
						return string(h.Value), true
					}
				}
				if !json.Valid(r.Value) {
					t.Errorf("the value of the message is %q", r.Value)
				}
				return "", false
			}
		}
	}
	t.Fatalf("%s was not published", workspace)
	return "", false
}
