package readapi_test

import (
	"fmt"
	"net/url"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
)

func builtIn(id string) bool { return events.BuiltIn(id) }

func TestListWorkspaces(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	service := p.Service(t, account)
	var made []string // newest first
	for i := range 5 {
		made = slices.Insert(made, 0, newWorkspace(t, service, fmt.Sprintf("Studies %d%%", i)))
	}
	service.Patch(workspaces+"/"+made[4], object{"name": "other", "description": "about studies"}).Want(200)

	all := slices.DeleteFunc(pages(t, service, workspaces+"?limit=2", "workspaces", "id"), builtIn)
	if diff := cmp.Diff(made, all); diff != "" {
		t.Errorf("all, newest first (-want +got):\n%s", diff)
	}
	at := func(id string) string { return service.Get(workspaces + "/" + id).Object()["createdAt"].(string) }
	// The oldest workspace was changed last, so no other has its modification time.
	changed := service.Get(workspaces + "/" + made[4]).Object()["modifiedAt"].(string)
	robot := service.Get(workspaces + "/" + made[4]).Object()["owner"].(string)
	for filter, want := range map[string][]string{
		"search=STUDIES":                  made,
		"search=" + url.QueryEscape("1%"): made[3:4],
		"search=_":                        {},
		"owner=" + robot:                  made,
		"owner=nobody":                    {},
		"createdBefore=" + at(made[2]):    before(made, at, at(made[2])),
		"createdAfter=" + at(made[1]) + "&search=studies": since(made, at, at(made[1])),
		"modifiedAfter=" + changed + "&owner=" + robot:    made[4:],
		"modifiedBefore=" + changed + "&owner=" + robot:   made[:4],
	} {
		got := slices.DeleteFunc(pages(t, service, workspaces+"?limit=2&"+filter, "workspaces", "id"), builtIn)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", filter, diff)
		}
	}

	one := p.User(t, account, made[1])
	if got := slices.DeleteFunc(pages(t, one, workspaces+"?", "workspaces", "id"), builtIn); !slices.Equal(got, made[1:2]) {
		t.Errorf("a member of one workspace sees %v, want only that one", got)
	}
	stranger := p.User(t, servicetest.NewAccount())
	if got := pages(t, stranger, workspaces+"?", "workspaces", "id"); len(got) != 3 || !builtIn(got[0]) {
		t.Errorf("another account sees %v, want the 3 built-in workspaces", got)
	}
	platform := p.Client(t, devissuer.Options{Service: true, Account: "*"})
	if got := pages(t, platform, workspaces+"?limit=100&search=studies", "workspaces", "id"); !slices.Contains(got, made[0]) {
		t.Error("the platform does not see an account's workspace")
	}
}

// TestCursorsBelongToTheirList: a cursor is refused in another list, with another
// filter and for another caller.
func TestCursorsBelongToTheirList(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	service := p.Service(t, account)
	newWorkspace(t, service, "a")
	newWorkspace(t, service, "b")
	given := cursor(service, workspaces+"?limit=1")
	service.Get(workspaces + "?limit=2&cursor=" + given).Want(200)
	service.Get(workspaces + "?next=" + given + "&cursor=" + given).Want(200)
	for name, reply := range map[string]servicetest.Reply{
		"another filter":     service.Get(workspaces + "?search=a&next=" + given),
		"another list":       service.Get(simulations + "?next=" + given),
		"another caller":     p.Service(t, servicetest.NewAccount()).Get(workspaces + "?next=" + given),
		"another permission": p.User(t, account, events.DefaultWorkspace).Get(workspaces + "?next=" + given),
		"malformed":          service.Get(workspaces + "?next=x"),
		"empty":              service.Get(workspaces + "?next="),
		"two that differ":    service.Get(workspaces + "?next=" + given + "&cursor=" + cursor(service, workspaces+"?limit=2")),
		"limit 0":            service.Get(workspaces + "?limit=0"),
		"limit 101":          service.Get(workspaces + "?limit=101"),
		"non-numeric limit":  service.Get(workspaces + "?limit=x"),
		"a malformed time":   service.Get(workspaces + "?createdAfter=yesterday"),
		"too long a search":  service.Get(workspaces + "?search=" + fmt.Sprintf("%0101d", 0)),
		"unknown parameter":  service.Get(workspaces + "?colour=red"),
	} {
		if message := reply.Refused(400, "VALIDATION_ERROR"); message == "" {
			t.Errorf("%s: the refusal has no message", name)
		}
	}
}

func TestGetWorkspace(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	service, user := p.Service(t, account), p.User(t, account)
	id := newWorkspace(t, service, "w")
	path := workspaces + "/" + id

	reply := user.Get(path).Want(200)
	if reply.Header.Get("ETag") != `"1"` {
		t.Errorf("got the entity tag %s, want \"1\"", reply.Header.Get("ETag"))
	}
	holds := func(tag string) servicetest.Header { return servicetest.Header{Name: "If-None-Match", Value: tag} }
	if same := user.Get(path, holds(`W/"1"`)).Want(304); same.Header.Get("ETag") != `"1"` || len(same.Body) != 0 {
		t.Errorf("got the 304 response %v %s, want the same entity tag and no body", same.Header, same.Body)
	}
	user.Get(path, holds(`"2"`)).Want(200)
	user.Get(path, holds(`nonsense`)).Want(200)

	p.User(t, account, events.NewID(events.WorkspacePrefix)).Get(path).Refused(403, "FORBIDDEN")
	p.User(t, servicetest.NewAccount()).Get(path).Refused(404, "NOT_FOUND")
	p.Client(t, devissuer.Options{Service: true, Account: "*"}).Get(path).Want(200)
	user.Get(workspaces+"/"+events.NewID(events.WorkspacePrefix)).Refused(404, "NOT_FOUND")
	user.Get(workspaces+"/workspace_x").Refused(400, "VALIDATION_ERROR")
	p.Bearer(t, "").Get(path).Refused(401, "UNAUTHORIZED")

	// Every caller can see a built-in workspace, with the counts of their own account.
	stats := func(c *servicetest.Client) any {
		return c.Get(workspaces + "/" + events.DefaultWorkspace).Want(200).Object()["stats"]
	}
	completed(user, submit(t, user, workload(8, "allReduce")))
	if diff := cmp.Diff(object{"activeSimulations": 0.0, "configurationCount": 1.0, "simulationCount": 1.0}, stats(user)); diff != "" {
		t.Errorf("own counts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(object{"activeSimulations": 0.0, "configurationCount": 0.0, "simulationCount": 0.0}, stats(p.User(t, servicetest.NewAccount()))); diff != "" {
		t.Errorf("a stranger's counts (-want +got):\n%s", diff)
	}
}
