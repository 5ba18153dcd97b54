package contract

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestResponsesOutsideTheContract(t *testing.T) {
	t.Parallel()
	const (
		record   = `{"id":"workspace_01kahcfv4ge3brkm7f0v3x2m8p","name":"research","owner":"user-17","createdAt":"2026-11-21T08:30:00.125Z","modifiedAt":"2026-11-21T08:30:00.125Z","stats":{"activeSimulations":0,"configurationCount":0,"simulationCount":0}}`
		envelope = `{"error":{"code":"NOT_FOUND","message":"workspace 'x' does not exist"}}`
		problem  = `{"type":"about:blank","title":"Not Found","status":404,"detail":"workspace 'x' does not exist","code":"NOT_FOUND"}`
		item     = `{"billingItemId":13,"accountName":null,"accountId":"acct_01kahcfv4ge3brkm7g5c1d9e2f","platformName":"netsim","itemName":"x","rateName":"cluster","eventType":"cluster","eventAction":"start","quantity":1,"workspaceName":null,"workspaceId":null,"sandboxName":null,"sandboxId":null,"userName":null,"userId":null,"startTimestamp":"2026-11-21T08:30:00.000Z","endTimestamp":null,"status":"active","details":{"resourceType":"simulation","resourceId":"sim_1"},"metadata":{"openedBy":1,"lastChangedBy":1}}`
	)
	const events = "/api/v1/simulations/sim_01kahcfv4ge3brkm7dy5s5h2k3/events"
	const feed = "/api/v1/events"
	const fact = `{"specversion":"1.0","id":"0190a000-0000-7000-8000-000000000001","source":"/netsim","type":"netsim.workspace.updated.v1","subject":"workspace_01kahcfv4ge3brkm7c3n5p7r9t","time":"2026-11-21T08:30:10.125Z","datacontenttype":"application/json","dataschema":"/schemas/netsim.workspace.updated.v1/1","sequence":"2","partitionkey":"workspace_01kahcfv4ge3brkm7c3n5p7r9t","dataversion":1,"recordedtime":"2026-11-21T08:30:10.131Z","hash":"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb","sourcetopic":"workspaces","sourcepartition":3,"sourceoffset":"41","data":{"name":"n"}}`
	const moment = `{"simulationId":"sim_01kahcfv4ge3brkm7dy5s5h2k3","at":"2026-11-21T08:30:00.125Z","status":"running"}`
	json, tag := "application/json", `"3"`
	cases := []struct {
		method, path string
		status       int
		contentType  string
		etag         string
		given        string
		then         string // part of the error; "" when there is none
	}{
		{"GET", workspace, 200, json, tag, record, ""},
		{"GET", workspace, 404, json, "", envelope, ""},
		{"GET", workspace, 404, problemType, "", problem, ""},
		{"GET", workspace, 304, "", tag, "", ""},
		{"HEAD", workspace, 200, json, tag, "", ""},
		{"GET", "/api/v1/billing/items/13", 200, json, "", item, ""},
		{"GET", "/nowhere", 404, "text/plain", "", "404 page not found", ""},
		{"GET", events, 200, "text/event-stream", "", "retry: 9\n\nid: 3\nevent: status\ndata: " + moment + "\n\n:\n\n", ""},
		{"GET", events, 204, "", "", "", ""},
		{"GET", feed, 200, "text/event-stream", "", "retry: 9\n\nid: a\nevent: x\ndata: " + fact + "\n\nid: b\n: heartbeat\n\nid: b\nevent: end\ndata: {\"reason\":\"slow\"}\n\n", ""},
		{"GET", feed, 200, "application/x-ndjson", "", fact + "\n", ""},

		{"GET", "/nowhere", 200, json, "", "{}", "the contract has no such operation"},
		{"GET", workspace, 418, json, "", envelope, "answered 418: the contract lists no such status"},
		{"GET", workspace, 409, json, "", envelope, "answered 409: the contract lists no such status"},
		{"GET", workspace, 200, json, "", record, "header ETag is required"},
		{"GET", workspace, 200, json, `W/"3"`, record, "header ETag must be of the form"},
		{"GET", workspace, 304, "", tag, "{}", "a body where the contract has none"},
		{"GET", workspace, 200, "text/html", tag, record, "content type text/html, not one of [application/json]"},
		{"GET", workspace, 200, "", tag, record, `content type ""`},
		{"GET", workspace, 200, json, tag, record + "x", "one json value"},
		{"GET", workspace, 200, json, tag, "", "the request body is not json"},
		{"GET", workspace, 200, json, tag, "[]", "the body must be an object, got an array"},
		{"GET", workspace, 200, json, tag, strings.Replace(record, "08:30:00.125Z", "08:30:00Z", 1), "createdAt must be of the form"},
		{"GET", workspace, 200, json, tag, strings.Replace(record, `"owner":"user-17",`, "", 1), "owner is required"},
		{"GET", workspace, 200, json, tag, strings.Replace(record, `"stats"`, `"secret":1,"stats"`, 1), "secret is unknown"},
		{"GET", events, 200, "text/event-stream", "", "id: 3\nevent: status\ndata: " + moment + "\n\nid: 4\nevent: progress\ndata: {}\n\n", "simulationId is required"},
		{"GET", events, 200, "text/event-stream", "", "id: 3\nevent: status\ndata: x\n\n", "data must be json, got 'x'"},
		{"GET", events, 200, "text/event-stream", "", "id: 3\nevent: status\n\n", "data is required"},
		{"GET", events, 200, "text/event-stream", "", "id: 3\nevent: rumour\ndata: " + moment + "\n\n", "event must be one of"},
		{"GET", events, 200, "text/event-stream", "", "name: x\n\n", `the field "name"`},
		{"GET", workspace, 200, problemType, tag, problem, "content type application/problem+json, not one of [application/json]"},
		{"GET", workspace, 404, problemType, "", strings.Replace(problem, `"title":"Not Found",`, "", 1), "title is required"},
		{"GET", feed, 200, "text/event-stream", "", "id: a\nevent: x\ndata: " + strings.Replace(fact, `"sequence":"2",`, "", 1) + "\n\n", "sequence is required"},
		{"GET", feed, 200, "text/event-stream", "", "id: a\nevent: end\ndata: {\"reason\":\"mood\"}\n\n", "data.reason is unknown"},
		{"GET", events, 200, "application/x-ndjson", "", fact, "content type application/x-ndjson, not one of [text/event-stream]"},
		{"GET", workspace, 404, json, "", `{"message":"no"}`, "message is unknown; known members: error"},
		{"GET", "/api/v1/billing/items/13", 200, json, "", strings.Replace(item, `"endTimestamp":null,`, "", 1), "endTimestamp is required"},
		{"GET", "/api/v1/billing/items/13", 200, json, "", strings.Replace(item, `"quantity":1`, `"quantity":"1"`, 1), "quantity must be an integer, got '1'"},
	}
	c := loaded(t)
	for _, when := range cases {
		header := http.Header{}
		for name, value := range map[string]string{"Content-Type": when.contentType, "ETag": when.etag} {
			if value != "" {
				header.Set(name, value)
			}
		}
		if strings.HasPrefix(when.path, "/api/v1/billing/") {
			header.Set("X-Billing-Lag-Ms", "0")
		}
		request := httptest.NewRequest(when.method, when.path, nil)
		if when.contentType == problemType {
			request.Header.Set("Accept", "application/json;q=0.1, "+problemType)
		}
		err := c.Response(request, when.status, header, []byte(when.given))
		switch {
		case when.then == "" && err != nil:
			t.Errorf("%s %s %d: %v", when.method, when.path, when.status, err)
		case when.then != "" && (err == nil || !strings.Contains(err.Error(), when.then)):
			t.Errorf("%s %s %d %s: %v; want %s", when.method, when.path, when.status, when.given, err, when.then)
		}
	}
}

// Problem details are in the contract only for a request that asks for them.
func TestAProblemIsAskedFor(t *testing.T) {
	t.Parallel()
	header := http.Header{"Content-Type": {problemType}}
	body := []byte(`{"type":"about:blank","title":"Not Found","status":404,"detail":"it does not exist","code":"NOT_FOUND"}`)
	for accept, asked := range map[string]bool{"": false, "*/*": false, "application/json": false, problemType: true} {
		request := httptest.NewRequest(http.MethodGet, workspace, nil)
		request.Header.Set("Accept", accept)
		if err := loaded(t).Response(request, http.StatusNotFound, header, body); (err == nil) != asked {
			t.Errorf("Accept %q: %v", accept, err)
		}
	}
}
