package service_test

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	"google.golang.org/protobuf/proto"

	"netsim/cmd/settings"
)

// collector is an OTLP collector that keeps the spans that it receives.
type collector struct {
	URL   string
	token string // required in the header Api-Key of exports

	mu       sync.Mutex
	requests int
	spans    map[string]*span // by id
	resource map[string]string
}

// span is a received span.
type span struct {
	name, trace, id, parent string
	attributes              map[string]string
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{token: "hush-collector", spans: map[string]*span{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.requests++
		body, err := io.ReadAll(r.Body)
		var export coltracepb.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &export)
		}
		if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Api-Key") != c.token {
			t.Errorf("an export to %s with the key %q: %v; want /v1/traces with %q", r.URL.Path, r.Header.Get("Api-Key"), err, c.token)
		}
		c.keep(&export)
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

func (c *collector) keep(export *coltracepb.ExportTraceServiceRequest) {
	for _, resource := range export.GetResourceSpans() {
		c.resource = attributesOf(resource.GetResource().GetAttributes())
		for _, scope := range resource.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				id := hex.EncodeToString(s.GetSpanId())
				c.spans[id] = &span{
					name: s.GetName(), trace: hex.EncodeToString(s.GetTraceId()), id: id,
					parent: hex.EncodeToString(s.GetParentSpanId()), attributes: attributesOf(s.GetAttributes()),
				}
			}
		}
	}
}

func attributesOf(all []*commonpb.KeyValue) map[string]string {
	texts := map[string]string{}
	for _, a := range all {
		texts[a.GetKey()] = a.GetValue().String()
		if text, ok := a.GetValue().GetValue().(*commonpb.AnyValue_StringValue); ok {
			texts[a.GetKey()] = text.StringValue
		}
	}
	return texts
}

// tree returns the spans of a trace by id, and reports whether the parent of each is one
// of them or the span sender.
func (c *collector) tree(trace, sender string) (tree map[string]*span, whole bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	tree, whole = map[string]*span{}, true
	for id, s := range c.spans {
		if s.trace == trace {
			tree[id] = s
		}
	}
	for _, s := range tree {
		whole = whole && (s.parent == sender || tree[s.parent] != nil)
	}
	return tree, whole && len(tree) > 0
}

// path returns the names of a span and its ancestors, from the root.
func path(tree map[string]*span, s *span) (names []string) {
	for ; s != nil; s = tree[s.parent] {
		names = append(names, s.name)
	}
	slices.Reverse(names)
	return names
}

// configure changes the settings so that the service exports spans every 20 ms and has
// room for all of them.
func (c *collector) configure(config *settings.Config) {
	config.OTLPEndpoint, config.OTLPHeaders = c.URL, "api-key="+c.token
	config.SpanDelay, config.SpanQueue = 20, 20_000
	config.ServiceName, config.ResourceAttributes = "netsim-test", "deployment.environment.name=test"
}
