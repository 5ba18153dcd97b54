package readapi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/internal/servicetest"
)

func TestListConfigurations(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	var made []string // newest first
	for _, name := range []string{"Alpha", "beta", "alphabet"} {
		id := submit(t, user, with(workload(8, "allReduce"), "name", name))
		made = slices.Insert(made, 0, events.DerivedID(events.ConfigurationPrefix, id))
	}
	whole := user.Get(configurations + "/" + made[0]).Want(200).Object()
	want := object{}
	for _, member := range []string{"id", "workspaceId", "name", "status", "version", "componentCount", "createdAt", "modifiedAt"} {
		want[member] = whole[member]
	}
	if diff := cmp.Diff(want, user.Get(configurations + "?limit=1").Want(200).Object()["configurations"].([]any)[0]); diff != "" {
		t.Errorf("list item (-configuration +item):\n%s", diff)
	}
	at := func(id string) string { return user.Get(configurations + "/" + id).Object()["createdAt"].(string) }
	for filter, want := range map[string][]string{
		"":                                       made,
		"search=ALPHA":                           {made[0], made[2]},
		"status=validated":                       made,
		"status=draft,invalid":                   {},
		"status=other":                           {},
		"status=other,validated":                 made,
		"workspaceId=" + events.DefaultWorkspace: made,
		"workspaceId=" + events.NewID(events.WorkspacePrefix): {},
		"createdAfter=" + whole["createdAt"].(string):         since(made, at, at(made[0])),
		"createdBefore=" + whole["createdAt"].(string):        before(made, at, at(made[0])),
	} {
		if diff := cmp.Diff(want, pages(t, user, configurations+"?limit=2&"+filter, "configurations", "id")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", filter, diff)
		}
	}
	for _, bad := range []string{"limit=0", "limit=101", "next=x", "workspaceId=x", "search=" + strings.Repeat("x", 101), "sort=name:asc"} {
		user.Get(configurations+"?"+bad).Refused(400, "VALIDATION_ERROR")
	}
	p.User(t, servicetest.NewAccount(), events.NewID(events.WorkspacePrefix)).
		Get(configurations+"?workspaceId="+events.NewID(events.WorkspacePrefix)).Refused(403, "FORBIDDEN")
}

func TestGetConfiguration(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	id := events.DerivedID(events.ConfigurationPrefix, submit(t, user, workload(128, "allReduce")))
	path := configurations + "/" + id

	reply := user.Get(path).Want(200)
	c := reply.Object()
	if reply.Header.Get("ETag") != `"1"` || c["version"] != 1.0 || c["status"] != "validated" || len(c["components"].([]any)) == 0 {
		t.Errorf("got entity tag %s of %v, want version 1, validated, with components", reply.Header.Get("ETag"), c)
	}
	user.Get(path, servicetest.Header{Name: "If-None-Match", Value: `"1"`}).Want(200) // validation changes the response without a new version
	user.Get(path, servicetest.Header{Name: "If-None-Match", Value: `"2"`}).Want(200)

	versions := user.Get(path + "/versions").Want(200).Object()["versions"].([]any)
	if diff := cmp.Diff([]any{object{"version": 1.0, "createdAt": c["createdAt"], "status": "validated"}}, versions); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
	was := user.Get(path + "/versions/1").Want(200)
	want := object{}
	for _, member := range []string{"version", "createdAt", "components", "containers", "applications", "links", "topology", "globalParameters", "activeTraceset"} {
		want[member] = c[member]
	}
	if diff := cmp.Diff(want, was.Object()); diff != "" || was.Header.Get("ETag") != "" {
		t.Errorf("version 1 (-want +got):\n%s", diff)
	}
	user.Get(path+"/versions/2").Refused(404, "NOT_FOUND")
	user.Get(path+"/versions/0").Refused(400, "VALIDATION_ERROR")
	user.Get(path+"/versions/x").Refused(400, "VALIDATION_ERROR")
	user.Get(configurations+"/config_x").Refused(400, "VALIDATION_ERROR")
	user.Get(configurations+"/"+events.NewID(events.ConfigurationPrefix)).Refused(404, "NOT_FOUND")
	p.User(t, servicetest.NewAccount()).Get(path).Refused(404, "NOT_FOUND")
	p.Bearer(t, "").Get(path).Refused(401, "UNAUTHORIZED")
}

// A version keeps its document, status and time after a new version is made.
func TestVersionsOfAConfiguration(t *testing.T) {
	t.Parallel()
	user := servicetest.Shared(t).User(t, servicetest.NewAccount())
	path := newConfiguration(t, user, twoTiers("versions"))
	user.Post(path+"/validate", nil).Want(200)
	first := user.Get(path).Want(200).Object()
	second := updateConfiguration(t, user, path, object{"name": "renamed", "links": []object{}})

	versions := user.Get(path + "/versions").Want(200).Object()["versions"]
	if diff := cmp.Diff([]any{
		object{"version": 2.0, "status": "draft", "createdAt": second["modifiedAt"]},
		object{"version": 1.0, "status": first["status"], "createdAt": first["createdAt"]},
	}, versions); diff != "" || first["status"] != "invalid" {
		t.Errorf("got version 1 with status %v, want invalid; versions (-want +got):\n%s", first["status"], diff)
	}
	for version, whole := range map[string]object{"1": first, "2": second} {
		want := object{"version": whole["version"], "createdAt": second["modifiedAt"]}
		if version == "1" {
			want["createdAt"] = first["createdAt"]
		}
		for _, member := range []string{"components", "containers", "applications", "links", "topology", "globalParameters"} {
			want[member] = whole[member]
		}
		reply := user.Get(path + "/versions/" + version).Want(200)
		if diff := cmp.Diff(want, reply.Object()); diff != "" || reply.Header.Get("ETag") != "" {
			t.Errorf("version %s, entity tag %q (-want +got):\n%s", version, reply.Header.Get("ETag"), diff)
		}
	}
	for tags, want := range map[string]int{`"1"`: 200, `"2"`: 304, `"1", "2"`: 304, `*`: 304, `2`: 200} {
		reply := user.Get(path, servicetest.Header{Name: "If-None-Match", Value: tags}).Want(want)
		if reply.Header.Get("ETag") != `"2"` {
			t.Errorf("If-None-Match %s: got the entity tag %s, want \"2\"", tags, reply.Header.Get("ETag"))
		}
	}
}
