package writeapi_test

import (
	"maps"
	"strings"
	"testing"

	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
)

func TestCloneConfiguration(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	user := p.User(t, account)
	service := p.Service(t, account)
	own, other := newWorkspace(t, service, "own"), newWorkspace(t, service, "other")
	id := newValidConfiguration(t, user, own, workload(8, phase("allReduce", "", 1024)))
	path := configurations + "/" + id
	original := whole(user, path)
	user.Patch(path+"/parameters", at("SimulationParameters.RandomSeed", leaf(7, "uint", ""))).Want(200)
	user.Delete(path + "/traceset").Want(200)
	newest := whole(user, path)
	clone := func(c *servicetest.Client, body any, h ...servicetest.Header) servicetest.Reply {
		return c.Post(path+"/clone", body, h...)
	}

	for name, c := range map[string]struct {
		body      object
		like      object
		workspace string
	}{
		"the newest":     {object{}, newest, own},
		"an earlier one": {object{"version": 1}, original, own},
		"elsewhere":      {object{"version": 1, "workspaceId": other}, original, other},
		"by default":     {object{"version": 3, "workspaceId": events.DefaultWorkspace}, newest, events.DefaultWorkspace},
	} {
		t.Run(name, func(t *testing.T) {
			reply := clone(user, with(c.body, object{"name": name})).Want(201)
			made := reply.Object()
			want := with(maps.Clone(c.like), object{
				"id": made["id"], "name": name, "workspaceId": c.workspace, "status": "draft", "version": 1.0, "parentConfigurationId": id,
				"createdAt": made["createdAt"], "modifiedAt": made["createdAt"],
			})
			same(t, "the clone", want, made)
			if reply.Header.Get("ETag") != `"1"` || reply.Header.Get("Location") != configurations+"/"+made["id"].(string) {
				t.Errorf("got the headers %v, want the Location and the entity tag of the new resource", reply.Header)
			}
			same(t, "what is read", made, whole(user, configurations+"/"+made["id"].(string)))
		})
	}
	// Changes of a clone do not change the original.
	copied := configurations + "/" + clone(user, object{"name": "copy", "version": 1}).Want(201).Object()["id"].(string)
	if report := user.Post(copied+"/validate", nil).Want(200).Object(); report["valid"] != true {
		t.Errorf("got the report %v, want valid", report)
	}
	user.Patch(copied+"/traceset", object{"tracesetId": original["activeTraceset"].(object)["id"]}).Want(200)
	if tag := user.Get(copied).Header.Get("ETag"); tag != `"1"` {
		t.Errorf("attaching the clone's traceset again changed the entity tag to %s", tag)
	}
	user.Patch(copied, object{"name": "changed"}, ifMatch(`"1"`)).Want(200)
	same(t, "the original", newest, whole(user, path))

	// An idempotency key makes one clone of one original.
	once := clone(user, object{"name": "once"}, key("k")).Want(201).Object()
	if again := clone(user, object{"name": "once"}, key("k")).Want(201).Object(); again["id"] != once["id"] {
		t.Error("the repetition made another clone")
	}
	clone(user, object{"name": "twice"}, key("k")).Refused(422, "UNPROCESSABLE_ENTITY")
	if of := user.Post(copied+"/clone", object{"name": "once"}, key("k")).Want(201).Object(); of["id"] == once["id"] {
		t.Error("the same key on another original returned the first clone")
	}

	for body, want := range map[string]string{
		`{}`:                                "name is required",
		`{"name": ""}`:                      "name must be",
		`{"name": " x"}`:                    "name must be",
		`{"name": null}`:                    "name must be",
		`{"name": "x", "version": 0}`:       "version must be",
		`{"name": "x", "version": 1.5}`:     "version must be",
		`{"name": "x", "workspaceId": "x"}`: "workspaceId must be",
		`{"name": "x", "colour": "red"}`:    "colour",
		`{"name": "x", "workspaceId": "` + events.TemplateWorkspace + `"}`: "template",
		`{"name": "` + longName(256) + `"}`:                                "name must be",
		`[]`:                                                               "object",
		``:                                                                 "required",
	} {
		if message := clone(user, []byte(body)).Refused(400, "VALIDATION_ERROR"); !strings.Contains(message, want) {
			t.Errorf("%s: got the message %q, want %q in it", body, message, want)
		}
	}
	named := object{"name": "x"}
	clone(user, named, servicetest.Header{Name: "Content-Type", Value: "text/plain"}).Refused(415, "UNSUPPORTED_MEDIA_TYPE")
	clone(user, []byte(strings.Repeat(" ", 8<<20+1))).Refused(413, "PAYLOAD_TOO_LARGE")
	clone(user, with(named, object{"version": 4})).Refused(404, "NOT_FOUND")
	clone(user, with(named, object{"workspaceId": events.NewID(events.WorkspacePrefix)})).Refused(404, "NOT_FOUND")
	clone(p.Bearer(t, ""), named).Refused(401, "UNAUTHORIZED")
	clone(p.User(t, servicetest.NewAccount()), named).Refused(404, "NOT_FOUND")
	clone(p.User(t, account, other), named).Refused(403, "FORBIDDEN")
	clone(p.User(t, account, own), with(named, object{"workspaceId": other})).Refused(403, "FORBIDDEN")
	clone(p.Client(t, devissuer.Options{Service: true, User: "robot", Account: "*"}), named).Refused(403, "FORBIDDEN")
	user.Post(configurations+"/config_x/clone", named).Refused(400, "VALIDATION_ERROR")
	user.Post(configurations+"/"+events.NewID(events.ConfigurationPrefix)+"/clone", named).Refused(404, "NOT_FOUND")
	template := user.Post(templates, aTemplate("template")).Want(201).Object()["id"].(string)
	user.Post(configurations+"/"+template+"/clone", named).Refused(400, "VALIDATION_ERROR")
	user.Delete(path).Want(204)
	clone(user, named).Refused(404, "NOT_FOUND")
}
