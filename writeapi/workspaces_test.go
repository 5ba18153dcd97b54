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

const workspaces = "/api/v1/workspaces"

func key(k string) servicetest.Header     { return servicetest.Header{Name: "Idempotency-Key", Value: k} }
func ifMatch(v string) servicetest.Header { return servicetest.Header{Name: "If-Match", Value: v} }

func newWorkspace(t *testing.T, service *servicetest.Client, name string) string {
	t.Helper()
	return service.Post(workspaces, map[string]any{"name": name}).Want(201).Object()["id"].(string)
}

func TestCreateWorkspace(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	service := p.Service(t, account)

	made := service.Post(workspaces, map[string]any{"name": "research", "description": "Fabric studies"}).Want(201)
	w := made.Object()
	if made.Header.Get("Location") != workspaces+"/"+w["id"].(string) || made.Header.Get("ETag") != `"1"` {
		t.Errorf("got the headers %v, want the Location and the entity tag of the new resource", made.Header)
	}
	want := map[string]any{
		"id": w["id"], "name": "research", "description": "Fabric studies", "owner": w["owner"],
		"createdAt": w["createdAt"], "modifiedAt": w["createdAt"],
		"stats": map[string]any{"activeSimulations": 0.0, "configurationCount": 0.0, "simulationCount": 0.0},
	}
	if diff := cmp.Diff(want, w); diff != "" {
		t.Errorf("workspace (-want +got):\n%s", diff)
	}
	got := service.Get(workspaces + "/" + w["id"].(string)).Want(200)
	if diff := cmp.Diff(w, got.Object()); diff != "" {
		t.Errorf("the response and GET differ (-response +GET):\n%s", diff)
	}

	user := p.User(t, account)
	user.Post(workspaces, map[string]any{"name": "x"}).Refused(403, "FORBIDDEN")
	p.Bearer(t, "").Post(workspaces, map[string]any{"name": "x"}).Refused(401, "UNAUTHORIZED")
	p.Client(t, devissuer.Options{Service: true, User: "robot", Account: "*"}).
		Post(workspaces, map[string]any{"name": "x"}).Refused(403, "FORBIDDEN")
	for body, want := range map[string]string{
		`{}`:                                     "name is required",
		`{"name": ""}`:                           "name must",
		`{"name": " x"}`:                         "name must",
		`{"name": "x", "colour": 1}`:             "colour is unknown",
		`{"name": 7}`:                            "name must",
		`{"name": "x", "description": 1}`:        "description must",
		`{"name": "` + strings.Repeat("x", 256):  "json",
		`[]`:                                     "object",
		``:                                       "required",
		`{"name": "x", "name": "y"}`:             "name is given twice",
		`{"name": "\u3000x"}`:                    "white space",
		`{"name": "x\u00a0"}`:                    "white space",
		`{"name": "\ud800"}`:                     "surrogate",
		"{\"name\": \"\xff\"}":                   "utf-8",
		`{"name": "x", "description": "\u0000"}`: "NUL",
		`{"name": "x", "description": "` + strings.Repeat("x", 2049) + `"}`: "at most 2048 characters, got 2049",
	} {
		if message := service.Post(workspaces, []byte(body)).Refused(400, "VALIDATION_ERROR"); !strings.Contains(message, want) {
			t.Errorf("%.40s: got the message %q, want %q in it", body, message, want)
		}
	}
}

func TestCreateWorkspaceOnce(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	service := p.Service(t, servicetest.NewAccount())
	body := map[string]any{"name": "once"}

	var all sync.WaitGroup
	ids := make([]string, 16)
	for i := range ids {
		all.Go(func() {
			reply := service.Post(workspaces, body, key("k"))
			if reply.Status == 201 {
				ids[i], _ = reply.Object()["id"].(string)
			}
		})
	}
	testwait.Group(t, &all, "the requests")
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Errorf("one key made the workspaces %v", ids)
			break
		}
	}
	service.Post(workspaces, map[string]any{"name": "other"}, key("k")).Refused(422, "UNPROCESSABLE_ENTITY")
	if other := p.Service(t, servicetest.NewAccount()).Post(workspaces, body, key("k")).Want(201).Object()["id"]; other == ids[0] {
		t.Error("the key of another account returned this account's workspace")
	}
	service.Post(workspaces, body, key("")).Refused(400, "VALIDATION_ERROR")
}

func TestUpdateWorkspace(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	service := p.Service(t, account)
	path := workspaces + "/" + newWorkspace(t, service, "first")

	changed := service.Patch(path, map[string]any{"name": "second"}, ifMatch(`"1"`)).Want(200)
	if changed.Header.Get("ETag") != `"2"` || changed.Object()["name"] != "second" {
		t.Errorf("got the entity tag %s of %s, want \"2\" with the new name", changed.Header.Get("ETag"), changed.Body)
	}
	service.Patch(path, map[string]any{"name": "third"}, ifMatch(`"1"`)).Refused(412, "PRECONDITION_FAILED")
	service.Patch(path, map[string]any{"name": "third"}, ifMatch(`W/"2"`)).Refused(412, "PRECONDITION_FAILED")
	service.Patch(path, map[string]any{"name": "third"}, ifMatch(`2`)).Refused(400, "VALIDATION_ERROR")
	if same := service.Patch(path, map[string]any{"name": "second"}, ifMatch(`"9", "2"`)).Want(200); same.Header.Get("ETag") != `"2"` {
		t.Error("a patch without a change made a version")
	}
	service.Patch(path, map[string]any{"name": "third", "description": "d"}, ifMatch(`*`)).Want(200)
	kept := service.Patch(path, map[string]any{"name": "fourth"}).Want(200)
	if kept.Object()["description"] != "d" {
		t.Errorf("got %s, want the description kept", kept.Body)
	}
	// A client may send back the workspace that it has read.
	whole := service.Get(path).Want(200).Object()
	whole["name"] = "fifth"
	service.Patch(path, whole).Want(200)
	service.Patch(path, map[string]any{"description": "only"}).Refused(400, "VALIDATION_ERROR")

	once := service.Patch(path, map[string]any{"name": "sixth"}, key("k")).Want(200)
	service.Patch(path, map[string]any{"name": "seventh"}).Want(200)
	again := service.Patch(path, map[string]any{"name": "sixth"}, key("k")).Want(200)
	if again.Object()["name"] != "seventh" {
		t.Errorf("the repetition changed the workspace to %s; its first response was %s", again.Body, once.Body)
	}
	service.Patch(path, map[string]any{"name": "other"}, key("k")).Refused(422, "UNPROCESSABLE_ENTITY")

	p.User(t, account).Patch(path, map[string]any{"name": "x"}).Refused(403, "FORBIDDEN")
	p.Service(t, servicetest.NewAccount()).Patch(path, map[string]any{"name": "x"}).Refused(404, "NOT_FOUND")
	service.Patch(workspaces+"/"+events.DefaultWorkspace, map[string]any{"name": "x"}).Refused(403, "FORBIDDEN")
	service.Patch(workspaces+"/"+events.NewID(events.WorkspacePrefix), map[string]any{"name": "x"}).Refused(404, "NOT_FOUND")
	service.Patch(workspaces+"/workspace_x", map[string]any{"name": "x"}).Refused(400, "VALIDATION_ERROR")
}

// TestUpdateWorkspaceRace: of concurrent updates of the same version, only one
// succeeds.
func TestUpdateWorkspaceRace(t *testing.T) {
	t.Parallel()
	service := servicetest.Shared(t).Service(t, servicetest.NewAccount())
	path := workspaces + "/" + newWorkspace(t, service, "contended")
	var all sync.WaitGroup
	statuses := make([]int, 16)
	for i := range statuses {
		all.Go(func() {
			statuses[i] = service.Patch(path, map[string]any{"name": fmt.Sprint("by ", i)}, ifMatch(`"1"`)).Status
		})
	}
	testwait.Group(t, &all, "the requests")
	won := 0
	for _, status := range statuses {
		switch status {
		case 200:
			won++
		case 412:
		default:
			t.Errorf("got the status %d, want 200 or 412", status)
		}
	}
	if won != 1 {
		t.Errorf("%d of 16 updates succeeded, want 1: %v", won, statuses)
	}
}

func TestDeleteWorkspace(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	service := p.Service(t, account)
	id := newWorkspace(t, service, "short-lived")
	path := workspaces + "/" + id

	p.User(t, account).Delete(path).Refused(403, "FORBIDDEN")
	p.Service(t, servicetest.NewAccount()).Delete(path).Refused(404, "NOT_FOUND")
	if got := service.Delete(path).Want(202).Object(); got["id"] != id || got["status"] != "deleting" {
		t.Errorf("got %v, want the status deleting", got)
	}
	service.Get(path).Refused(404, "NOT_FOUND")
	service.Patch(path, map[string]any{"name": "x"}).Refused(404, "NOT_FOUND")
	if body := string(service.Get(workspaces).Want(200).Body); strings.Contains(body, id) {
		t.Errorf("the deleted workspace is still listed: %s", body)
	}
	if status := service.Delete(path).Status; status != 202 && status != 404 { // 404 once the cascade is done
		t.Errorf("second deletion: got the status %d, want 202 or 404", status)
	}
	service.Delete(workspaces+"/"+events.TemplateWorkspace).Refused(403, "FORBIDDEN")
	service.Delete(workspaces+"/workspace_x").Refused(400, "VALIDATION_ERROR")
	service.Delete(workspaces+"/"+events.NewID(events.WorkspacePrefix)).Refused(404, "NOT_FOUND")
}

// TestAWorkspaceIsDeletedUnderAKey: a deletion that is repeated under its key gets the same
// response, during the deletion and after it.
func TestAWorkspaceIsDeletedUnderAKey(t *testing.T) {
	t.Parallel()
	service := servicetest.Shared(t).Service(t, servicetest.NewAccount())
	path, other := workspaces+"/"+newWorkspace(t, service, "short-lived"), workspaces+"/"+newWorkspace(t, service, "long-lived")
	first := service.Delete(path, key("k")).Want(202)
	for service.Delete(path).Status != 404 && t.Context().Err() == nil { // until the cascade is done
		if again := service.Delete(path, key("k")).Want(202); string(again.Body) != string(first.Body) {
			t.Fatalf("got %s, want %s", again.Body, first.Body)
		}
	}
	if again := service.Delete(path, key("k")).Want(202); string(again.Body) != string(first.Body) {
		t.Errorf("after the deletion: got %s, want %s", again.Body, first.Body)
	}
	service.Delete(path, key("another")).Refused(404, "NOT_FOUND")
	service.Delete(path, key("two words")).Refused(400, "VALIDATION_ERROR")
	service.Get(other).Want(200)
	service.Delete(other, key("k")).Want(202) // a key belongs to its resource
}

func TestSetLegacyProject(t *testing.T) {
	t.Parallel()
	const project = "5b1d1b2e-58b1-4b5f-8a55-0d7d3a0c2f11"
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	service := p.Service(t, account)
	id := newWorkspace(t, service, "bound")
	path := workspaces + "/" + id + "/legacy-project"
	set := func(value string) map[string]any { return map[string]any{"legacyProjectId": value} }

	service.Post(path, set("x")).Refused(400, "VALIDATION_ERROR")
	first := service.Post(path, set(project), key("k")).Want(200)
	want := map[string]any{"workspaceId": id, "legacyProjectId": project, "created": true}
	if diff := cmp.Diff(want, first.Object()); diff != "" || first.Header.Get("ETag") != `"2"` {
		t.Errorf("binding (-want +got):\n%s\nwith the entity tag %s, want \"2\"", diff, first.Header.Get("ETag"))
	}
	if again := service.Post(path, set(project), key("k")).Want(200).Object(); again["created"] != true {
		t.Error("the repetition does not get the first response")
	}
	if other := service.Post(path, set(strings.ToUpper(project))).Want(200).Object(); other["created"] != false {
		t.Errorf("got %v for the value that is set, want created false", other)
	}
	service.Post(path, set("00000000-0000-0000-0000-000000000000")).Refused(409, "CONFLICT")
	p.User(t, account).Post(path, set(project)).Refused(403, "FORBIDDEN")
	service.Post(workspaces+"/"+events.DefaultWorkspace+"/legacy-project", set(project)).Refused(403, "FORBIDDEN")
	service.Post(workspaces+"/"+events.NewID(events.WorkspacePrefix)+"/legacy-project", set(project)).Refused(404, "NOT_FOUND")
}

// TestTheAnswerToAWorkspaceWriteIsItsOwn: the response to each of many concurrent writes
// shows what this request wrote, and the version that it made.
func TestTheAnswerToAWorkspaceWriteIsItsOwn(t *testing.T) {
	t.Parallel()
	const project = "5b1d1b2e-58b1-4b5f-8a55-0d7d3a0c2f11"
	service := servicetest.Shared(t).Service(t, servicetest.NewAccount())
	path := workspaces + "/" + newWorkspace(t, service, "contended")
	const writers, each = 16, 4
	replies := make([]servicetest.Reply, writers*each)
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			for n := range each {
				at := i*each + n
				if at == 0 {
					replies[at] = service.Post(path+"/legacy-project", map[string]any{"legacyProjectId": project})
					continue
				}
				replies[at] = service.Patch(path, map[string]any{"name": fmt.Sprint("by ", at), "description": fmt.Sprint("of ", at)})
			}
		})
	}
	testwait.Group(t, &all, "the requests")
	made := map[string]servicetest.Reply{}
	for at, r := range replies {
		r.Want(200)
		tag := r.Header.Get("ETag")
		if _, taken := made[tag]; taken {
			t.Errorf("two writes made version %s", tag)
		}
		made[tag] = r
		if got := r.Object(); at > 0 && (got["name"] != fmt.Sprint("by ", at) || got["description"] != fmt.Sprint("of ", at)) {
			t.Errorf("write %d: got %s, want its own name and description", at, r.Body)
		}
	}
	last := service.Get(path).Want(200)
	if want := fmt.Sprintf("%q", fmt.Sprint(len(replies)+1)); last.Header.Get("ETag") != want {
		t.Fatalf("%d writes made version %s, want %s", len(replies), last.Header.Get("ETag"), want)
	}
	if own := made[last.Header.Get("ETag")].Object(); own["legacyProjectId"] == nil {
		if diff := cmp.Diff(last.Object(), own); diff != "" {
			t.Errorf("the response of the last write and GET differ (-GET +response):\n%s", diff)
		}
	}
}
