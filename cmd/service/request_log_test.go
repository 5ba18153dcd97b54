package service_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
)

// capture is a slog.Handler that keeps its lines.
type capture struct {
	mu    sync.Mutex
	lines []line
}

// line is a log message with its attributes as strings.
type line struct {
	message    string
	attributes map[string]string
}

func (c *capture) logger() *slog.Logger { return slog.New(c) }

// Enabled implements slog.Handler.
func (c *capture) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs implements slog.Handler.
func (c *capture) WithAttrs([]slog.Attr) slog.Handler { return c }

// WithGroup implements slog.Handler.
func (c *capture) WithGroup(string) slog.Handler { return c }

// Handle implements slog.Handler.
func (c *capture) Handle(_ context.Context, r slog.Record) error {
	l := line{r.Message, map[string]string{}}
	r.Attrs(func(a slog.Attr) bool {
		l.attributes[a.Key] = a.Value.String()
		return true
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, l)
	return nil
}

// with returns the attributes of the lines with the message.
func (c *capture) with(message string) (all []map[string]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.lines {
		if l.message == message {
			all = append(all, l.attributes)
		}
	}
	return all
}

// request returns the attributes of the log line of a request. It fails the test unless
// there is exactly one line.
func (c *capture) request(t *testing.T, id string) map[string]string {
	t.Helper()
	var found []map[string]string
	until(t, "the request "+id+" is logged", func() bool {
		found = nil
		for _, l := range c.with("request") {
			if l["requestId"] == id {
				found = append(found, l)
			}
		}
		return len(found) > 0
	})
	if len(found) != 1 {
		t.Fatalf("the request %s has %d lines, want 1: %v", id, len(found), found)
	}
	return found[0]
}

func TestEveryRequestHasOneLine(t *testing.T) {
	t.Parallel()
	lines := &capture{}
	p := servicetest.StartLogged(t, lines.logger())
	account := servicetest.NewAccount()
	const person = "ada.lovelace@example.com"
	user := p.Client(t, devissuer.Options{Service: true, User: person, Account: account, Claims: map[string]any{"name": "Ada Lovelace"}})
	named := func(id string, more ...servicetest.Header) []servicetest.Header {
		return append(more, servicetest.Header{Name: "X-Request-Id", Value: id})
	}
	key := servicetest.Header{Name: "Idempotency-Key", Value: "key-1"}
	body := map[string]any{"name": "hush-name"}
	made := user.Post("/api/v1/workspaces", body, named("accepted", key, servicetest.Header{Name: "traceparent", Value: sentParent})...).Want(201).Object()
	path := "/api/v1/workspaces/" + made["id"].(string)
	user.Post("/api/v1/workspaces", body, named("repeated", key)...).Want(201)
	user.Patch(path, map[string]any{"name": "other"}, named("refused", servicetest.Header{Name: "If-Match", Value: `"9"`})...).Want(412)
	user.Patch(path, body, named("nothing")...).Want(200)
	user.Get(path, named("read")...).Want(200)
	user.Get(path+"?verbose=hush", named("unknown")...).Want(400)
	user.Get("/api/v1/nowhere", named("unmatched")...).Want(404)
	p.Bearer(t, "").Get(path, named("anonymous")...).Want(401)
	p.Bearer(t, "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJodXNoIn0.hush").Get(path, named("forged")...).Want(401)

	for id, want := range map[string]map[string]string{
		"accepted": {"method": "POST", "route": "/api/v1/workspaces", "operation": "CreateWorkspace", "status": "201", "command": "CreateWorkspace", "outcome": "accepted", "traceId": sentTrace, "account": account},
		"repeated": {"method": "POST", "route": "/api/v1/workspaces", "operation": "CreateWorkspace", "status": "201", "command": "CreateWorkspace", "outcome": "repeated", "account": account},
		"refused":  {"method": "PATCH", "route": "/api/v1/workspaces/{workspace_id}", "operation": "UpdateWorkspace", "status": "412", "code": "PRECONDITION_FAILED", "command": "UpdateWorkspace", "outcome": "refused", "account": account},
		"nothing":  {"method": "PATCH", "route": "/api/v1/workspaces/{workspace_id}", "operation": "UpdateWorkspace", "status": "200", "command": "UpdateWorkspace", "outcome": "nothing", "account": account},
		"read":     {"method": "GET", "route": "/api/v1/workspaces/{workspace_id}", "operation": "GetWorkspace", "status": "200", "account": account},
		"unknown":  {"method": "GET", "route": "/api/v1/workspaces/{workspace_id}", "operation": "GetWorkspace", "status": "400", "code": "VALIDATION_ERROR", "account": account},

		"unmatched": {"method": "GET", "route": "unmatched", "status": "404", "code": "NOT_FOUND"},
		"anonymous": {"method": "GET", "route": "/api/v1/workspaces/{workspace_id}", "operation": "GetWorkspace", "status": "401", "code": "UNAUTHORIZED"},
		"forged":    {"method": "GET", "route": "/api/v1/workspaces/{workspace_id}", "operation": "GetWorkspace", "status": "401", "code": "UNAUTHORIZED"},
	} {
		got := lines.request(t, id)
		if caller := got["caller"]; events.ValidID(events.UserPrefix, caller) != (want["account"] != "") {
			t.Errorf("%s: the caller is %q", id, caller)
		}
		for _, key := range []string{"bytes", "took", "remote"} {
			if got[key] == "" {
				t.Errorf("%s: the line has no %s", id, key)
			}
			delete(got, key)
		}
		delete(got, "caller")
		want["requestId"] = id
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
	lines.hides(t, "hush", "ovelace", "example.com")
}

// hides fails the test when a log line contains one of the texts.
func (c *capture) hides(t *testing.T, texts ...string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.lines {
		for _, text := range texts {
			if strings.Contains(fmt.Sprint(l), text) {
				t.Errorf("a line shows %s: %v", text, l)
			}
		}
	}
}

// TestAStreamHasOneLine: an event stream has one log line, written when it ends.
func TestAStreamHasOneLine(t *testing.T) {
	t.Parallel()
	lines := &capture{}
	p := servicetest.StartLogged(t, lines.logger())
	account := servicetest.NewAccount()
	p.Grant(t, account, "1000")
	user := p.User(t, account)
	id := user.Post("/api/v1/simple/simulations", endless()).Want(http.StatusAccepted).Text("simulationId")
	stream := user.Open("/api/v1/simulations/" + id + "/events")
	request := stream.Header.Get("X-Request-Id")
	for _, l := range lines.with("request") {
		if l["requestId"] == request {
			t.Errorf("the stream is logged before its end: %v", l)
		}
	}
	stream.Body.Close() //nolint:errcheck // only the end of the stream matters
	if l := lines.request(t, request); l["status"] != "200" || l["operation"] == "" || l["account"] != account {
		t.Errorf("the line of the stream is %v", l)
	}
	user.Post("/api/v1/simulations/"+id+"/terminate", nil)
}
