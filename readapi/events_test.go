package readapi_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/api/contract/contracttest"
	"netsim/events"
	"netsim/internal/servicetest"
	"netsim/internal/testwait"
)

const eventsPath = "/api/v1/events"

// sent is a message of a feed: a fact, a position alone (Type ""), or the end.
type sent struct {
	Position string
	Type     string
	Subject  string
	Sequence string
	ID       string
	Reason   string // of the end
	raw      string
}

func (s sent) String() string { return s.Subject + " " + s.Sequence + " " + s.Type }

// follower is a client of the feed.
type follower struct {
	t    *testing.T
	resp *http.Response
	got  chan sent // closed at the end
}

// followEvents opens a feed and reads it in the background.
func followEvents(t *testing.T, c *servicetest.Client, query string, h ...servicetest.Header) *follower {
	t.Helper()
	resp := c.Open(eventsPath+query, h...)
	if resp.StatusCode != 200 {
		t.Fatalf("%s: %s", query, resp.Status)
	}
	return follow(t, resp)
}

// follow reads an open feed in the background.
func follow(t *testing.T, resp *http.Response) *follower {
	f := &follower{t: t, resp: resp, got: make(chan sent, 10_000)}
	t.Cleanup(func() { resp.Body.Close() })
	go f.read(strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream"))
	return f
}

func (f *follower) read(eventStream bool) {
	defer close(f.got)
	lines := bufio.NewReader(f.resp.Body)
	var one sent
	var message []byte // its lines, which the contract describes
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSuffix(line, "\n")
		if !eventStream {
			f.got <- parseLine(f.t, line)
			continue
		}
		message = append(append(message, line...), '\n')
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			contracttest.CheckResponse(f.t, httptest.NewRequest(http.MethodGet, eventsPath, nil), f.resp, message)
			if one.Position != "" {
				f.got <- one
			}
			one, message = sent{}, nil
		case name == "id":
			one.Position = value
		case name == "data":
			position := one.Position
			one = parseLine(f.t, value)
			one.Position = position
		}
	}
}

func parseLine(t *testing.T, line string) sent {
	var m struct {
		Type, Subject, Sequence, ID, Position, Reason string
		Data                                          struct{ Reason string }
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Errorf("%v in the line %q", err, line)
	}
	one := sent{Position: m.Position, Type: m.Type, Subject: m.Subject, Sequence: m.Sequence, ID: m.ID, raw: line}
	switch m.Type {
	case "netsim.feed.position":
		return sent{Position: m.Position}
	case "netsim.feed.ended", "":
		return sent{Position: m.Position, Reason: m.Reason + m.Data.Reason}
	}
	return one
}

// next returns the next fact that is not of a built-in workspace, or the end.
func (f *follower) next() sent {
	f.t.Helper()
	for {
		one := f.any()
		if one.Type != "" && !events.BuiltIn(one.Subject) || one.Reason != "" {
			return one
		}
	}
}

// any returns the next message.
func (f *follower) any() sent {
	f.t.Helper()
	one := testwait.Receive(f.t, f.got, "a message of the feed")
	if one == (sent{}) {
		f.t.Fatal("the feed has ended")
	}
	return one
}

func (f *follower) close() { f.resp.Body.Close() }

// take returns the next facts.
func (f *follower) take(count int) (all []sent) {
	f.t.Helper()
	for range count {
		all = append(all, f.next())
	}
	return all
}

func texts(all []sent) []string {
	var texts []string
	for _, one := range all {
		texts = append(texts, one.String())
	}
	return texts
}

func header(name, value string) servicetest.Header {
	return servicetest.Header{Name: name, Value: value}
}

// TestEventsAreFollowed: both forms of the feed have every event of the account, with
// its data, from now, from a time, and from every position.
func TestEventsAreFollowed(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	user := p.User(t, account)
	begin := time.Now().UTC().Add(-time.Second).Format(time.RFC3339Nano)
	sse := followEvents(t, user, "")
	lines := followEvents(t, user, "", header("Accept", "application/x-ndjson"))
	if first := sse.any(); first.Type != "" || first.Position == "" {
		t.Errorf("the feed begins with %+v, want its position", first)
	}
	if h := sse.resp.Header; h.Get("Content-Type") != "text/event-stream" || h.Get("Cache-Control") != "no-store" {
		t.Errorf("got the header %v, want an event stream that is not cached", h)
	}
	service := p.Service(t, account)
	id := newWorkspace(t, service, "first")
	service.Patch(workspaces+"/"+id, object{"name": "second"}, header("If-Match", `"1"`)).Want(200)
	want := []string{id + " 1 netsim.workspace.created.v1", id + " 2 netsim.workspace.updated.v1"}
	got := sse.take(2)
	for name, all := range map[string][]sent{"sse": got, "ndjson": lines.take(2)} {
		if diff := cmp.Diff(want, texts(all)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if !strings.Contains(all[1].raw, `"data":{"name":"second"}`) {
			t.Errorf("%s: got the line %s, want its data", name, all[1].raw)
		}
	}
	for query, h := range map[string][]servicetest.Header{
		"?since=" + begin: nil,
		"?since=" + begin + "&lastEventId=" + got[0].Position: nil,
		"?lastEventId=x": {header("Last-Event-ID", got[0].Position)},
	} {
		f := followEvents(t, user, query, h...)
		from := 0
		if !strings.HasPrefix(query, "?since") || strings.Contains(query, "lastEventId") {
			from = 1
		}
		if diff := cmp.Diff(want[from:], texts(f.take(2-from))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	for query, types := range map[string][]string{
		"?type=netsim.workspace.updated.v1":                                  {"netsim.workspace.updated.v1"},
		"?type=netsim.workspace.updated.v1&type=netsim.workspace.created.v1": {"netsim.workspace.created.v1", "netsim.workspace.updated.v1"},
		"?family=workspaces":                                                 {"netsim.workspace.created.v1", "netsim.workspace.updated.v1"},
		"?stream=" + id:                                                      {"netsim.workspace.created.v1", "netsim.workspace.updated.v1"},
		"?workspace=" + id:                                                   {"netsim.workspace.created.v1", "netsim.workspace.updated.v1"},
		"?account=" + account + "&family=workspaces":                         {"netsim.workspace.created.v1", "netsim.workspace.updated.v1"},
	} {
		var got []string
		f := followEvents(t, user, query+"&since="+begin)
		for _, one := range f.take(len(types)) {
			got = append(got, one.Type)
		}
		if !slices.Equal(got, types) {
			t.Errorf("%s: got %v, want %v", query, got, types)
		}
	}
}

// TestEventsRefuses: every refusal that the contract documents, with its message.
func TestEventsRefuses(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	user, service := p.User(t, account), p.Service(t, account)
	id := newWorkspace(t, service, "w")
	position := followEvents(t, user, "").any().Position
	other := servicetest.NewAccount()
	for query, want := range map[string]string{
		"?type=netsim.workspace.flown.v1":            `type "netsim.workspace.flown.v1" is unknown`,
		"?family=planets":                            "family must be one of",
		"?stream=planet_1":                           `stream "planet_1" is not the id of a stream`,
		"?family=billing&stream=" + id:               "is in the family workspaces, not billing",
		"?workspace=workspace_1":                     "workspace must be workspace_ followed by",
		"?account=acct_1":                            `account "acct_1" is not an account id`,
		"?since=yesterday":                           "since must be",
		"?lastEventId=abc":                           "the last event id is not one of this feed's",
		"?family=workspaces&lastEventId=" + position: "the last event id is not one of this feed's",
		"?family=workspaces&family=billing":          "family is given 2 times",
		"?until=now":                                 "query parameter 'until' is unknown",
		"?" + strings.Repeat("type=netsim.workspace.created.v1&", 51): "type must have between 1 and 50 items, got 51",
	} {
		if got := user.Get(eventsPath+query).Refused(400, "VALIDATION_ERROR"); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q in it", query, got, want)
		}
	}
	user.Get(eventsPath+"?lastEventId="+position+"x").Refused(400, "VALIDATION_ERROR")
	p.Service(t, account).Get(eventsPath+"?lastEventId="+position).Refused(400, "VALIDATION_ERROR") // it sees more
	p.User(t, other).Get(eventsPath+"?lastEventId="+position).Refused(400, "VALIDATION_ERROR")
	p.Bearer(t, "").Get(eventsPath).Refused(401, "UNAUTHORIZED")
	user.Get(eventsPath+"?account="+other).Refused(403, "FORBIDDEN")
	user.Get(eventsPath+"?family=billing").Refused(403, "FORBIDDEN")
	user.Get(eventsPath+"?stream="+account).Refused(403, "FORBIDDEN")
	service.Get(eventsPath+"?family=checkpoints").Refused(403, "FORBIDDEN")
	p.User(t, account, events.NewID(events.WorkspacePrefix)).Get(eventsPath+"?workspace="+id).Refused(403, "FORBIDDEN")
	p.User(t, other).Get(eventsPath+"?workspace="+id).Refused(404, "NOT_FOUND")
	user.Get(eventsPath+"?workspace="+events.NewID(events.WorkspacePrefix)).Refused(404, "NOT_FOUND")
	for accept, want := range map[string]int{
		"application/json": 406, "text/html, text/event-stream;q=0": 406, "text/*": 200, "*/*": 200, "application/*;q=0.1, text/html": 200,
	} {
		resp := user.Open(eventsPath, header("Accept", accept))
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("Accept: %s: %s, want %d", accept, resp.Status, want)
		}
	}
	user.Get(eventsPath, header("Accept", "text/html")).Refused(406, "NOT_ACCEPTABLE")
	user.Do("HEAD", eventsPath, nil).Want(200)
}
