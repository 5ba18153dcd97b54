package service

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"netsim/api/contract"
	"netsim/api/contract/contracttest"
	"netsim/events"
	"netsim/infra/facts"
	"netsim/infra/web"
	"netsim/stream/public"
)

// The contracts of the event stream are served without a token: complete, with a tag,
// and to HEAD. Anything else below their paths gets the documents' errors.
func TestContractsOfTheStreamAreServed(t *testing.T) {
	t.Parallel()
	server := contractServer(t)
	tests := []struct {
		method, path string
		status       int
		contentType  string
		part         string
	}{
		{"GET", "/asyncapi.yaml", 200, "application/yaml", "asyncapi: 3.0.0"},
		{"HEAD", "/asyncapi.yaml", 200, "application/yaml", ""},
		{"GET", "/datacontract.yaml", 200, "application/yaml", "kind: DataContract"},
		{"HEAD", "/datacontract.yaml", 200, "application/yaml", ""},
		{"GET", "/schemas", 200, "application/json", `{"items":[{"type":"netsim.`},
		{"GET", "/schemas/netsim.workspace.created.v1/1", 200, "application/schema+json", `"title": "netsim.workspace.created.v1"`},
		{"HEAD", "/schemas/netsim.workspace.created.v1/1", 200, "application/schema+json", ""},
		{"GET", "/schemas/netsim.workspace.created.v1/2", 404, "application/json", `{"error":{"code":"NOT_FOUND","message":"no schema of the type \"netsim.workspace.created.v1\" in version \"2\"`},
		{"GET", "/schemas/netsim.workspace.painted.v1/1", 404, "application/json", `"NOT_FOUND"`},
		{"GET", "/schemas/..%2f..%2fetc/1", 404, "application/json", `"NOT_FOUND"`},
		{"GET", "/schemas/netsim.workspace.created.v1", 404, "application/json", `"NOT_FOUND"`},
		{"POST", "/schemas", 405, "application/json", `"METHOD_NOT_ALLOWED"`},
		{"DELETE", "/schemas/netsim.workspace.created.v1/1", 405, "application/json", `"METHOD_NOT_ALLOWED"`},
	}
	for _, c := range tests {
		got, body := fetch(t, server, c.method, c.path, "")
		if got.StatusCode != c.status || got.Header.Get("Content-Type") != c.contentType || !strings.Contains(body, c.part) {
			t.Errorf("%s %s: %d %v %.200s", c.method, c.path, got.StatusCode, got.Header, body)
		}
		if c.method == "HEAD" && (body != "" || got.ContentLength <= 0) {
			t.Errorf("HEAD %s: %d bytes, length %d", c.path, len(body), got.ContentLength)
		}
		if c.status != 200 {
			continue
		}
		if got.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: Cache-Control is %q", c.path, got.Header.Get("Cache-Control"))
		}
		if again, _ := fetch(t, server, c.method, c.path, got.Header.Get("ETag")); again.StatusCode != http.StatusNotModified {
			t.Errorf("%s %s with its tag %q: %d", c.method, c.path, got.Header.Get("ETag"), again.StatusCode)
		}
	}
}

// The ce_dataschema of a public message, and every path of the index, lead to the
// schema of its type.
func TestDataSchemasOfMessagesAreServed(t *testing.T) {
	t.Parallel()
	server := contractServer(t)
	paths := map[string]string{}
	for _, zero := range events.Types() {
		value, err := events.Encode(zero)
		if err != nil {
			t.Fatal(err)
		}
		record, _ := events.Frame{ID: "1", Type: zero.EventType(), Stream: "s", PartitionKey: "s", Sequence: 1, DataVersion: 1}.Message(value)
		f := facts.Decode(events.Workspaces, &events.Record{Message: record})
		for _, h := range public.Message(&f, "topic").Headers {
			if h.Key == "ce_dataschema" {
				paths[string(h.Value)] = zero.EventType()
			}
		}
	}
	_, index := fetch(t, server, "GET", "/schemas", "")
	var list struct {
		Items []struct{ Type, Version, Path string }
	}
	if err := json.Unmarshal([]byte(index), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != len(paths) {
		t.Errorf("the index has %d schemas, the messages %d", len(list.Items), len(paths))
	}
	for _, item := range list.Items {
		if paths[item.Path] != item.Type {
			t.Errorf("%s is the path of %s, the messages have %q", item.Path, item.Type, paths[item.Path])
		}
	}
	for path, eventType := range paths {
		response, body := fetch(t, server, "GET", path, "")
		var schema struct{ Title string }
		if err := json.Unmarshal([]byte(body), &schema); err != nil || response.StatusCode != http.StatusOK || schema.Title != eventType {
			t.Errorf("%s: %d, %q, %v", path, response.StatusCode, schema.Title, err)
		}
	}
	var doc struct {
		Components struct{ Messages map[string]any }
	}
	_, text := fetch(t, server, "GET", "/asyncapi.yaml", "")
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil || len(doc.Components.Messages) != len(paths) {
		t.Errorf("/asyncapi.yaml has %d messages, want %d: %v", len(doc.Components.Messages), len(paths), err)
	}
}

// contractServer serves the router without anything behind it.
func contractServer(t *testing.T) *httptest.Server {
	t.Helper()
	terms, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(frontEnd{contract: terms, metrics: &web.Metrics{}, log: slog.New(slog.DiscardHandler)}.router(nil))
	t.Cleanup(server.Close)
	return server
}

func fetch(t *testing.T, server *httptest.Server, method, path, tag string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if tag != "" {
		request.Header.Set("If-None-Match", tag)
	}
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(path, "/schemas") { // of these the contract has operations
		contracttest.CheckResponse(t, request, response, body)
	}
	return response, string(body)
}
