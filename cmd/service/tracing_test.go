package service_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/cmd/settings"
	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/infra/eventlog"
	"netsim/internal/servicetest"
	"netsim/internal/testwait"
)

// The trace context that a client sends.
const (
	sentTrace  = "4bf92f3577b34da6a3ce929d0e0e4736"
	sentSpan   = "00f067aa0ba902b7"
	sentParent = "00-" + sentTrace + "-" + sentSpan + "-01"
)

func TestATraceFollowsASimulationToItsEnd(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	p := servicetest.Start(t, c.configure)
	account := servicetest.NewAccount()
	p.Grant(t, account, "1000")
	user := p.Client(t, devissuer.Options{User: "ada.lovelace@example.com", Account: account})
	submission := servicetest.SimpleSubmission(8)
	submission["name"] = "hush-name"
	id := user.Post("/api/v1/simple/simulations", submission, servicetest.Header{Name: "traceparent", Value: sentParent}).
		Want(http.StatusAccepted).Object()["simulationId"].(string)
	user.Eventually("/api/v1/simulations/"+id, servicetest.HasStatus("completed"))
	servicetest.AwaitQuiet(t, p.Config.Kafka[0], p.Config.TopicPrefix, p.Config.Postgres)

	var tree map[string]*span
	var engine *span
	until(t, "the trace is whole, down to the job and the engine", func() (whole bool) {
		tree, whole = c.tree(sentTrace, sentSpan)
		engine = nil
		for _, s := range tree {
			if s.name == "run simulation" {
				engine = s
			}
		}
		return whole && engine != nil
	})
	simulations := p.Config.TopicPrefix + string(events.Simulations)
	want := []string{
		"POST /api/v1/simple/simulations", "handle RequestSimulation", "send " + simulations,
		"process " + simulations, "process run_simulation", "run simulation",
	}
	if diff := cmp.Diff(want, path(tree, engine)); diff != "" {
		t.Errorf("the spans from the request to the engine (-want +got):\n%s", diff)
	}
	checkSpans(t, c, tree, id)
}

// checkSpans checks the names, parents and attributes of the spans, and that no span
// shows private data.
func checkSpans(t *testing.T, c *collector, tree map[string]*span, simulation string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	names := map[string]bool{}
	for _, s := range c.spans {
		if s.attributes["netsim.stream"] == simulation && s.trace != sentTrace {
			t.Errorf("%s of the simulation is in another trace: %v", s.name, s.attributes)
		}
		if text := fmt.Sprint(*s); strings.Contains(text, "hush") || strings.Contains(text, "lovelace") {
			t.Errorf("a span shows private data: %s", text)
		}
	}
	for _, s := range tree {
		names[s.name] = true
		above := tree[s.parent]
		switch name := s.name; {
		case strings.HasPrefix(name, "judge "):
			batch := strings.HasPrefix(above.name, "process ") // a reaction handles several commands together
			if !batch && !strings.HasPrefix(above.name, "handle ") || s.attributes["netsim.verdict"] == "" {
				t.Errorf("%s has the parent %s and the attributes %v", name, above.name, s.attributes)
			}
		case strings.HasPrefix(name, "POST "):
			for key, want := range map[string]string{
				"http.request.method": "POST", "http.route": "/api/v1/simple/simulations", "netsim.operation": "SubmitSimple",
			} {
				if s.attributes[key] != want {
					t.Errorf("%s is %q, want %q", key, s.attributes[key], want)
				}
			}
		}
	}
	for _, stage := range []string{"handle StartSimulation", "handle CompleteSimulation"} {
		if !names[stage] {
			t.Errorf("no span %s in %v", stage, names)
		}
	}
	if c.resource["service.name"] != "netsim-test" || c.resource["deployment.environment.name"] != "test" {
		t.Errorf("the resource is %v, want the configured names", c.resource)
	}
}

// TestAnInvalidTraceContextIsNoTrace: the service ignores a malformed trace context, and
// serves the request.
func TestAnInvalidTraceContextIsNoTrace(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	p := servicetest.Start(t, c.configure)
	user := p.Service(t, servicetest.NewAccount())
	for _, parent := range []string{
		strings.Repeat("a", 20_000), sentParent + "-more", strings.ToUpper(sentParent), strings.Replace(sentParent, sentTrace, strings.Repeat("0", 32), 1),
	} {
		user.Post("/api/v1/workspaces", map[string]any{"name": "w"}, servicetest.Header{Name: "traceparent", Value: parent}).Want(201)
	}
	long := servicetest.Header{Name: "tracestate", Value: "vendor=" + strings.Repeat("x", 250) + ",other=" + strings.Repeat("x", 250)}
	user.Post("/api/v1/workspaces", map[string]any{"name": "w"}, servicetest.Header{Name: "traceparent", Value: sentParent}, long).Want(201)
	traced := 0
	for _, m := range messages(t, p) {
		for _, h := range m.Headers {
			switch h.Key {
			case events.TraceParentHeader:
				if len(h.Value) != 55 {
					t.Errorf("a record has the malformed traceparent %s", h.Value)
				}
				if strings.Contains(string(h.Value), sentTrace) {
					traced++
				}
			case events.TraceStateHeader:
				t.Errorf("a record has the tracestate %s, want none", h.Value)
			}
		}
	}
	if traced == 0 {
		t.Error("no record has the trace of the valid request")
	}
}

// TestNothingIsTracedByDefault: with the exporter "none" no record has a trace context,
// even if the client sends one.
func TestNothingIsTracedByDefault(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	p := servicetest.Start(t, c.configure, func(config *settings.Config) { config.TracesExporter = "none" })
	user := p.Service(t, servicetest.NewAccount())
	user.Post("/api/v1/workspaces", map[string]any{"name": "w"}, servicetest.Header{Name: "traceparent", Value: sentParent}).Want(201)
	for _, m := range messages(t, p) {
		if slices.ContainsFunc(m.Headers, func(h events.Header) bool { return h.Key == events.TraceParentHeader }) {
			t.Errorf("a record has the headers %v, want no traceparent", m.Headers)
		}
	}
	if c.requests > 0 {
		t.Errorf("%d exports, want none", c.requests)
	}
}

// TestACollectorOutageDelaysNoRequest: requests are served while the collector is down or
// never answers. Lost spans are counted, and the outage is logged once.
func TestACollectorOutageDelaysNoRequest(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { testwait.Gate(t, release) }))
	t.Cleanup(func() { close(release); slow.Close() })
	away := httptest.NewServer(nil)
	away.Close()
	for name, url := range map[string]string{"slow": slow.URL, "away": away.URL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := &capture{}
			p := servicetest.StartLogged(t, lines.logger(), newCollector(t).configure, func(config *settings.Config) {
				config.OTLPEndpoint, config.OTLPTimeout, config.SpanQueue = url, 100, 2
			})
			user := p.Service(t, servicetest.NewAccount())
			until(t, "lost spans are counted", func() bool {
				user.Post("/api/v1/workspaces", map[string]any{"name": "w"}).Want(201)
				return !strings.Contains(servicetest.Scrape(t, p.Ops), `netsim_trace_spans_total{outcome="failed"} 0`)
			})
			for range 20 {
				user.Post("/api/v1/workspaces", map[string]any{"name": "w"}).Want(201)
			}
			if said := lines.with("the collector does not take spans: they are dropped until it does"); len(said) != 1 {
				t.Errorf("the outage is logged %d times, want once", len(said))
			}
		})
	}
}

// messages returns all records of the service's log.
func messages(t *testing.T, p *servicetest.Program) (all []events.Record) {
	t.Helper()
	j, err := eventlog.Open(t.Context(), eventlog.Config{Brokers: p.Config.Kafka, Prefix: p.Config.TopicPrefix, Relaxed: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	log, err := j.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range log.Topics {
		for partition, part := range topic.Partitions {
			for at := int64(0); at < part.End; {
				records, next, err := j.Read(t.Context(), topic.Name, int32(partition), at, 1<<20, 0)
				if err != nil {
					t.Fatal(err)
				}
				all, at = append(all, records...), next
			}
		}
	}
	if len(all) == 0 {
		t.Fatal("the log is empty")
	}
	return all
}
