package writeapi_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
	"netsim/internal/testwait"
)

const webhooks = "/api/v1/webhooks"

// nowhere is the URL of a receiver that never answers.
const nowhere = "http://127.0.0.1:1024/hook"

func newWebhook(c *servicetest.Client, body map[string]any) (id, secret string) {
	made := c.Post(webhooks, body).Want(201).Object()
	return made["id"].(string), made["secret"].(string)
}

func TestCreateWebhook(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	user := p.User(t, account)
	body := map[string]any{"url": nowhere, "description": "d", "filter": map[string]any{"type": []any{"netsim.simulation.completed.v1"}, "family": "simulations"}}
	made := user.Post(webhooks, body, key("k")).Want(201)
	hook := made.Object()
	id, secret := hook["id"].(string), hook["secret"].(string)
	if made.Header.Get("Location") != webhooks+"/"+id || made.Header.Get("ETag") != `"1"` {
		t.Errorf("got the headers %v, want the Location and the entity tag of the new webhook", made.Header)
	}
	want := map[string]any{
		"id": id, "url": nowhere, "description": "d", "filter": body["filter"], "state": "active", "secret": secret,
		"secretGeneration": 1.0, "version": 1.0, "createdBy": hook["createdBy"], "createdAt": hook["createdAt"], "modifiedAt": hook["createdAt"],
	}
	if diff := cmp.Diff(want, hook); diff != "" {
		t.Errorf("webhook (-want +got):\n%s", diff)
	}
	if again := user.Post(webhooks, body, key("k")).Want(201); string(again.Body) != string(made.Body) {
		t.Errorf("the repetition got %s, want %s", again.Body, made.Body)
	}
	delete(want, "secret")
	if diff := cmp.Diff(want, user.Get(webhooks+"/"+id).Want(200).Object()); diff != "" {
		t.Errorf("GET (-want +got):\n%s", diff)
	}
	if listed := user.Get(webhooks).Want(200).Object()["webhooks"].([]any); len(listed) != 1 || cmp.Diff(want, listed[0]) != "" {
		t.Errorf("the list is %v, want the webhook alone, without its secret", listed)
	}
	if _, other := newWebhook(user, body); other == secret {
		t.Error("two webhooks have one secret")
	}
	user.Get(webhooks+"/"+id, servicetest.Header{Name: "If-None-Match", Value: `"1"`}).Want(304)
	user.Post(webhooks, map[string]any{"url": nowhere}, key("k")).Refused(422, "UNPROCESSABLE_ENTITY")
	p.Client(t, devissuer.Options{Service: true, User: "robot", Account: "*"}).Post(webhooks, body).Refused(403, "FORBIDDEN")
	for body, want := range map[string]string{
		`{}`:                               "url is required",
		`{"url": "https://10.0.0.1/"}`:     "not public",
		`{"url": "ftp://a.example"}`:       "url: the URL must",
		`{"url": "https://a:b@a.example"}`: "credentials",
		`{"url": "https://a.example/#x"}`:  "fragment",
		`{"url": "https://a.example:25/"}`: "port",
		`{"url": "https://a.example", "filter": {"type": ["netsim.nothing"]}}`:               "unknown",
		`{"url": "https://a.example", "filter": {"stream": "sim_x", "family": "tracesets"}}`: "family",
		`{"url": "https://a.example", "filter": {"account": "` + account + `"}}`:             "unknown",
	} {
		if message := user.Post(webhooks, []byte(body)).Refused(400, "VALIDATION_ERROR"); !strings.Contains(message, want) {
			t.Errorf("%.60s: got the message %q, want %q in it", body, message, want)
		}
	}
	user.Post(webhooks, map[string]any{"url": nowhere, "filter": map[string]any{"family": "checkpoints"}}).Refused(403, "FORBIDDEN")
	user.Post(webhooks, map[string]any{"url": nowhere, "filter": map[string]any{"family": "billing"}}).Refused(403, "FORBIDDEN")
	user.Post(webhooks, map[string]any{"url": nowhere, "filter": map[string]any{"workspace": events.NewID(events.WorkspacePrefix)}}).Refused(404, "NOT_FOUND")
}

func TestAnAccountHasABoundedNumberOfWebhooks(t *testing.T) {
	t.Parallel()
	user := servicetest.Shared(t).User(t, servicetest.NewAccount())
	body := map[string]any{"url": nowhere, "filter": map[string]any{"type": []any{"netsim.study.deleted.v1"}}}
	var last string
	for range 20 {
		last, _ = newWebhook(user, body)
	}
	user.Post(webhooks, body).Refused(409, "CONFLICT")
	user.Delete(webhooks + "/" + last).Want(200)
	user.Post(webhooks, body).Want(201)
	page := user.Get(webhooks + "?limit=15").Want(200).Object()
	rest := user.Get(webhooks + "?limit=15&next=" + page["pagination"].(map[string]any)["nextCursor"].(string)).Want(200).Object()
	if n := len(rest["webhooks"].([]any)); n != 5 {
		t.Errorf("the second page has %d webhooks, want 5", n)
	}
}

// TestAWebhookSendsWhatItsMakerSees, and only who sees that may read and change it.
func TestAWebhookSendsWhatItsMakerSees(t *testing.T) {
	t.Parallel()
	p, account := servicetest.Shared(t), servicetest.NewAccount()
	service := p.Service(t, account)
	mine, theirs := newWorkspace(t, service, "mine"), newWorkspace(t, service, "theirs")
	member := func(workspaces ...string) *servicetest.Client {
		return p.Client(t, devissuer.Options{Account: account, Workspaces: workspaces})
	}
	narrow, _ := newWebhook(member(mine), map[string]any{"url": nowhere})
	wide, _ := newWebhook(service, map[string]any{"url": nowhere})
	seen := func(c *servicetest.Client) (ids []string) {
		for _, one := range c.Get(webhooks).Want(200).Object()["webhooks"].([]any) {
			ids = append(ids, one.(map[string]any)["id"].(string))
		}
		return ids
	}
	for who, c := range map[string]struct {
		client *servicetest.Client
		lists  []string
		wide   int // status
		narrow int
	}{
		"the maker":                    {member(mine), []string{narrow}, 403, 200},
		"a member of both workspaces":  {member(mine, theirs), []string{narrow}, 403, 200},
		"a member of the other":        {member(theirs), nil, 403, 403},
		"one who sees all but billing": {member(), []string{narrow}, 403, 200},
		"the service":                  {service, []string{wide, narrow}, 200, 200},
		"another account":              {p.Service(t, servicetest.NewAccount()), nil, 404, 404},
	} {
		if diff := cmp.Diff(c.lists, seen(c.client)); diff != "" {
			t.Errorf("%s lists (-want +got):\n%s", who, diff)
		}
		for id, want := range map[string]int{wide: c.wide, narrow: c.narrow} {
			for _, path := range []string{"", "/attempts"} {
				if got := c.client.Get(webhooks + "/" + id + path).Status; got != want {
					t.Errorf("%s gets %d for %s%s, want %d", who, got, id, path, want)
				}
			}
			if got := c.client.Patch(webhooks+"/"+id, map[string]any{}).Status; got != want {
				t.Errorf("%s gets %d for a change, want %d", who, got, want)
			}
		}
	}
	// A filter stays within what the maker saw, also when another caller changes it.
	filter := map[string]any{"filter": map[string]any{"workspace": theirs}}
	service.Patch(webhooks+"/"+narrow, filter).Refused(403, "FORBIDDEN")
	service.Patch(webhooks+"/"+wide, filter).Want(200)
}

func TestUpdateWebhook(t *testing.T) {
	t.Parallel()
	p, account := servicetest.Shared(t), servicetest.NewAccount()
	user := p.User(t, account)
	id, _ := newWebhook(user, map[string]any{"url": nowhere, "description": "d", "filter": map[string]any{"family": "simulations"}})
	path := webhooks + "/" + id
	moved := user.Patch(path, map[string]any{"url": nowhere + "2"}, ifMatch(`"1"`)).Want(200)
	if got := moved.Object(); moved.Header.Get("ETag") != `"2"` || got["url"] != nowhere+"2" || got["description"] != "d" || got["filter"].(map[string]any)["family"] != "simulations" {
		t.Errorf("got %s, want another URL and the rest kept", moved.Body)
	}
	user.Patch(path, map[string]any{"url": nowhere}, ifMatch(`"1"`)).Refused(412, "PRECONDITION_FAILED")
	user.Patch(path, map[string]any{"url": "https://192.168.0.1"}).Refused(400, "VALIDATION_ERROR")
	user.Patch(path, map[string]any{"filter": map[string]any{"family": "billing"}}).Refused(403, "FORBIDDEN")
	whole := user.Get(path).Want(200).Object() // may be sent back
	if same := user.Patch(path, whole).Want(200); same.Header.Get("ETag") != `"2"` {
		t.Errorf("a change of nothing made the version %s", same.Header.Get("ETag"))
	}
	changed := user.Patch(path, map[string]any{"description": "", "filter": map[string]any{}}).Want(200).Object()
	if changed["description"] != nil || len(changed["filter"].(map[string]any)) != 0 {
		t.Errorf("got %v, want neither a description nor a filter", changed)
	}
	p.Service(t, servicetest.NewAccount()).Patch(path, map[string]any{}).Refused(404, "NOT_FOUND")
}

// TestTheAnswerToAWebhookWriteIsItsOwn: the response to each of many concurrent writes shows
// what this request wrote, and the version that it made.
func TestTheAnswerToAWebhookWriteIsItsOwn(t *testing.T) {
	t.Parallel()
	service := servicetest.Shared(t).Service(t, servicetest.NewAccount())
	id, first := newWebhook(service, map[string]any{"url": nowhere, "filter": map[string]any{"family": "mappingfiles"}})
	path := webhooks + "/" + id
	const writers, each = 8, 4
	replies := make([]servicetest.Reply, writers*each)
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			for n := range each {
				at := i*each + n
				switch n {
				case 0:
					replies[at] = service.Post(path+"/rotate-secret", map[string]any{})
				case 1:
					replies[at] = service.Post(path+"/replay", map[string]any{"since": "2026-11-21T08:00:00Z"})
				default:
					replies[at] = service.Patch(path, map[string]any{"description": fmt.Sprint("by ", at)})
				}
			}
		})
	}
	testwait.Group(t, &all, "the requests")
	versions, secrets := map[float64]bool{}, map[string]bool{first: true}
	for at, r := range replies {
		got := r.Want(200).Object()
		versions[got["version"].(float64)] = true
		if r.Header.Get("ETag") != fmt.Sprintf(`"%v"`, got["version"]) {
			t.Errorf("write %d has the entity tag %s of %s", at, r.Header.Get("ETag"), r.Body)
		}
		switch at % each {
		case 0:
			secrets[got["secret"].(string)] = true
		case 1:
		default:
			if got["description"] != fmt.Sprint("by ", at) {
				t.Errorf("write %d: got %s, want its own description", at, r.Body)
			}
		}
	}
	if len(versions) != len(replies) || len(secrets) != writers+1 {
		t.Errorf("%d writes made %d versions, and %d rotations %d secrets", len(replies), len(versions), writers, len(secrets)-1)
	}
}
