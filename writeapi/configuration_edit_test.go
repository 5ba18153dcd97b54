package writeapi_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/internal/servicetest"
	"netsim/internal/testwait"
)

// workbench returns a configuration with every kind of component, container and
// application.
func workbench(traceset string) object {
	return with(oneRack("workbench"), object{
		"components": []object{
			{"type": "switch", "model": "clos-switch-v1", "name": "leaf", "version": "1.0.0"},
			{"type": "nic", "model": "roce-nic-v1", "name": "nic", "version": "1.0.0"},
			{"type": "nic", "model": "roce-nic-v1", "name": "spare", "version": "1.0.0"},
			{"type": "gpu", "model": "gpu-v1", "name": "gpu", "version": "1.0.0"},
			{"type": "server", "model": "gpu-server-v1", "name": "server", "version": "1.0.0",
				"components": []object{{"name": "nic", "type": "nic"}}},
		},
		"containers": []object{
			{"type": "rack", "name": "rack", "model": "leaf-rack-v1", "version": "1.0.0",
				"components": []object{{"name": "leaf", "type": "switch"}, {"name": "server", "type": "server", "count": 8}}},
			{"type": "pod", "name": "pod", "model": "pod-v1", "version": "1.0.0"},
		},
		"links": []object{{"type": "layer", "model": "ethernet-layer-v1", "name": "layer", "version": "1.0.0"}},
		"applications": []object{
			{"type": "application", "trafficType": "chakra", "name": "workload", "model": "chakra-workload-v1", "version": "1.0.0"},
			{"type": "application", "trafficType": "non-coordinated", "name": "web", "model": "traffic-generator-v1", "version": "1.0.0"},
		},
		"topology": object{
			"type": "clos", "topologyTiers": 1, "components": []object{{"name": "rack", "type": "rack"}},
			"appDistribution": object{"randomApplicationDistribution": []object{share("web", "client", 1), share("web", "server", 1)}},
		},
		"activeTraceset": object{"id": traceset},
	})
}

func share(application, kind string, value float64) object {
	name := application + "-" + kind
	return object{
		"name": name, "parentApplication": application, "applicationType": kind,
		"distributionPercent": object{"distributionId": name, "value": value},
	}
}

// traceset creates a traceset with the number of ranks.
func traceset(t *testing.T, c *servicetest.Client, ranks int) string {
	t.Helper()
	id := submit(t, c, workload(ranks, phase("allReduce", "", 1024)))
	made := c.Get(configurations + "/" + events.DerivedID(events.ConfigurationPrefix, id)).Want(200).Object()
	return made["activeTraceset"].(object)["id"].(string)
}

// createDirectly creates a configuration without the checks of the API.
func createDirectly(t *testing.T, h *handle.Handler, created events.ConfigurationCreated) string {
	t.Helper()
	id := events.NewID(events.ConfigurationPrefix)
	to := handle.Target{Stream: id, PartitionKey: created.WorkspaceID, Fresh: true}
	if _, err := handle.Command(t.Context(), h, to, handle.Origin{Actor: "tester"}, commands.Command[commands.Configuration](
		commands.CreateConfiguration{Created: created})); err != nil {
		t.Fatal(err)
	}
	return id
}

// editing is an operation that changes a configuration, with a valid request for a
// workbench.
type editing struct {
	name, method, path string
	body               any
	status             int
	other              any // another valid body or, for an operation without a body, another path; or nil
}

// editings returns all operations that change a configuration, except deletion and
// validation (completions 3.5).
func editings(traceset string) []editing {
	leaf := func(path string, value any) object {
		names := strings.Split(path, ".")
		tree := object{names[len(names)-1]: value}
		for i := len(names) - 2; i >= 0; i-- {
			tree = object{names[i]: tree}
		}
		return tree
	}
	entry := func(value float64) object {
		return object{"parentApplication": "web", "distributionId": "web-client", "value": value}
	}
	return []editing{
		{"4 configuration", "PATCH", "", object{"name": "renamed"}, 200, object{"name": "other"}},
		{"7 add application", "POST", "/applications?modelId=traffic-generator-v1&name=mail", nil, 201, "/applications?modelId=traffic-generator-v1&name=other"},
		{"8 remove application", "DELETE", "/applications/web", nil, 200, nil},
		{"9 application's parameters", "PATCH", "/applications/web/parameters",
			leaf("Load", object{"value": 0.25, "type": "double"}), 200, leaf("Load", object{"value": 0.75, "type": "double"})},
		{"11 add component", "POST", "/components?modelId=clos-switch-v1&type=switch&name=spine", nil, 201, "/components?modelId=clos-switch-v1&type=switch&name=other"},
		{"12 remove component", "DELETE", "/components/spare", nil, 204, nil},
		{"13 component's parameters", "PATCH", "/components/leaf/parameters",
			leaf("NumUpLinks", object{"value": 32, "type": "uint"}), 200, leaf("NumUpLinks", object{"value": 16, "type": "uint"})},
		{"14 add to server", "PATCH", "/configurations/server", object{"name": "spare", "type": "nic"}, 200, object{"name": "gpu", "type": "gpu"}},
		{"15 change in server", "PATCH", "/configurations/server/components/nic", object{"count": 2}, 200, object{"count": 3}},
		{"16 remove from server", "DELETE", "/configurations/server/components/nic", nil, 204, nil},
		{"18 add to container", "PATCH", "/containers/pod", object{"name": "rack", "type": "rack"}, 200, object{"name": "leaf", "type": "switch"}},
		{"20 change in container", "PATCH", "/containers/rack/components/server", object{"count": 16}, 200, object{"group": "g"}},
		{"21 remove from container", "DELETE", "/containers/rack/components/server", nil, 204, nil},
		{"22 distribution", "PATCH", "/distribution", entry(0.5), 200, entry(0.25)},
		{"24 link's parameters", "PATCH", "/links/layer/parameters",
			leaf("LinksPerPair", object{"value": 2, "type": "uint"}), 200, leaf("LinksPerPair", object{"value": 3, "type": "uint"})},
		{"25 global parameters", "PATCH", "/parameters",
			leaf("SimulationParameters.RandomSeed", object{"value": 7, "type": "uint"}), 200, leaf("SimulationParameters.RandomSeed", object{"value": 8, "type": "uint"})},
		{"27 add to topology", "PATCH", "/topology", object{"name": "pod", "type": "pod"}, 200, object{"name": "layer", "type": "layer"}},
		{"28 change in topology", "PATCH", "/topology/rack", object{"count": 2}, 200, object{"count": 3}},
		{"29 remove from topology", "DELETE", "/topology/rack", nil, 204, nil},
		{"31 attach traceset", "PATCH", "/traceset", object{"tracesetId": traceset}, 200, object{"tracesetId": events.NewID(events.TracesetPrefix)}},
		{"37 detach traceset", "DELETE", "/traceset", nil, 200, nil},
	}
}

// TestEditing: every operation that changes a configuration checks the caller,
// If-Match and the body, makes one version, and can be repeated.
func TestEditing(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	user := p.User(t, account)
	own := newWorkspace(t, p.Service(t, account), "own")
	first, second := traceset(t, user, 8), traceset(t, user, 16)
	template := user.Post(templates, aTemplate("template")).Want(201).Object()["id"].(string)
	strangers := map[string]*servicetest.Client{
		"nobody": p.Bearer(t, ""), "another account": p.User(t, servicetest.NewAccount()), "no member": p.User(t, account, events.NewID(events.WorkspacePrefix)),
	}
	for _, e := range editings(second) {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			made := user.Post(configurations, with(workbench(first), object{"workspaceId": own})).Want(201).Object()
			id := made["id"].(string)
			send := func(c *servicetest.Client, id string, h ...servicetest.Header) servicetest.Reply {
				return c.Do(e.method, configurations+"/"+id+e.path, e.body, h...)
			}
			send(strangers["nobody"], id, ifMatch(`"1"`)).Refused(401, "UNAUTHORIZED")
			send(strangers["another account"], id, ifMatch(`"1"`)).Refused(404, "NOT_FOUND")
			send(strangers["no member"], id, ifMatch(`"1"`)).Refused(403, "FORBIDDEN")
			send(user, "config_x", ifMatch(`"1"`)).Refused(400, "VALIDATION_ERROR")
			send(user, events.NewID(events.ConfigurationPrefix), ifMatch(`"1"`)).Refused(404, "NOT_FOUND")
			if message := send(user, template, ifMatch(`"1"`)).Refused(400, "VALIDATION_ERROR"); !strings.Contains(message, "template") {
				t.Errorf("got the message %q, want \"template\" in it", message)
			}
			send(user, id, ifMatch(`"2"`)).Refused(412, "PRECONDITION_FAILED")
			send(user, id, ifMatch(`W/"1"`)).Refused(412, "PRECONDITION_FAILED")
			send(user, id, ifMatch(`1`)).Refused(400, "VALIDATION_ERROR")
			send(user, id, ifMatch(`"1"`), key("")).Refused(400, "VALIDATION_ERROR")
			if e.body != nil {
				e.refusesBodies(t, user, configurations+"/"+id+e.path)
			}
			if diff := cmp.Diff(made, user.Get(configurations+"/"+id).Want(200).Object()); diff != "" {
				t.Fatalf("a refused request changed the configuration (-before +after):\n%s", diff)
			}

			done := send(user, id, ifMatch(`"7", "1"`), key("k")).Want(e.status)
			if done.Header.Get("ETag") != `"2"` {
				t.Errorf("got the entity tag %s, want \"2\"", done.Header.Get("ETag"))
			}
			again := send(user, id, ifMatch(`"7", "1"`), key("k")).Want(e.status)
			if again.Header.Get("ETag") != `"2"` || !bytes.Equal(done.Body, again.Body) {
				t.Errorf("the repetition gets another response: entity tag %s, body %s", again.Header.Get("ETag"), again.Body)
			}
			switch other := e.other.(type) {
			case object:
				user.Do(e.method, configurations+"/"+id+e.path, other, key("k"), ifMatch("*")).Refused(422, "UNPROCESSABLE_ENTITY")
			case string:
				user.Do(e.method, configurations+"/"+id+other, nil, key("k")).Refused(422, "UNPROCESSABLE_ENTITY")
			}
			now := user.Get(configurations + "/" + id).Want(200)
			if c := now.Object(); c["version"] != 2.0 || c["status"] != "draft" || now.Header.Get("ETag") != `"2"` || c["createdAt"] != made["createdAt"] {
				t.Errorf("got version %v, status %v, entity tag %s, want draft 2", c["version"], c["status"], now.Header.Get("ETag"))
			}
			user.Delete(configurations + "/" + id).Want(204)
			send(user, id, ifMatch(`*`)).Refused(404, "NOT_FOUND")
		})
	}
}

func (e editing) refusesBodies(t *testing.T, c *servicetest.Client, path string) {
	t.Helper()
	tag := ifMatch(`"1"`)
	for body, want := range map[string]string{
		"": "required", "{": "json", "[]": "object", "null": "object", `{"colour": 1}`: "colour", `{"name": "a", "name": "b"}`: "twice",
		"{}": "",
	} {
		if message := c.Do(e.method, path, []byte(body), tag).Refused(400, "VALIDATION_ERROR"); !strings.Contains(message, want) {
			t.Errorf("%s: got the message %q, want %q in it", body, message, want)
		}
	}
	c.Do(e.method, path, e.body, tag, servicetest.Header{Name: "Content-Type", Value: "text/plain"}).Refused(415, "UNSUPPORTED_MEDIA_TYPE")
	c.Do(e.method, path, bytes.Repeat([]byte(" "), 8<<20+1), tag).Refused(413, "PAYLOAD_TOO_LARGE")
}

// TestEditingKeepsVersions: a version keeps its content and its status. A request
// that changes nothing makes no version (completions 3.4).
func TestEditingKeepsVersions(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	id := newValidConfiguration(t, user, events.DefaultWorkspace, workload(8, phase("allReduce", "", 1024)))
	path := configurations + "/" + id
	before := user.Get(path + "/versions/1").Want(200).Object()

	seed := object{"SimulationParameters": object{"RandomSeed": object{"value": 7, "type": "uint"}}}
	user.Patch(path+"/parameters", seed).Want(200)
	if same := user.Patch(path+"/parameters", seed).Want(200); same.Header.Get("ETag") != `"2"` {
		t.Errorf("nothing changed, but the entity tag is %s", same.Header.Get("ETag"))
	}
	if report := user.Post(path+"/validate", nil, ifMatch(`"2"`)).Want(200).Object(); report["valid"] != true {
		t.Errorf("got the report %v, want valid", report)
	}
	user.Patch(path, object{"name": "renamed"}, ifMatch(`"2"`)).Want(200)

	var statuses []any
	for _, v := range user.Get(path + "/versions").Want(200).Object()["versions"].([]any) {
		statuses = append(statuses, v.(object)["status"])
	}
	if diff := cmp.Diff([]any{"draft", "validated", "validated"}, statuses); diff != "" {
		t.Errorf("statuses, newest first (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, user.Get(path+"/versions/1").Want(200).Object()); diff != "" {
		t.Errorf("version 1 has changed (-before +after):\n%s", diff)
	}
}

// TestEditingAtOnce: of concurrent changes, all succeed without If-Match, and only
// one succeeds with it.
func TestEditingAtOnce(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	path := configurations + "/" + user.Post(configurations, oneRack("contended")).Want(201).Object()["id"].(string)
	const many = 16
	at := func(conditions ...servicetest.Header) (statuses map[int]int) {
		statuses = map[int]int{}
		var all sync.WaitGroup
		var lock sync.Mutex
		for i := range many {
			all.Go(func() {
				status := user.Post(fmt.Sprintf("%s/components?modelId=gpu-v1&type=gpu&name=gpu%d-%d", path, len(conditions), i), nil, conditions...).Status
				lock.Lock()
				statuses[status]++
				lock.Unlock()
			})
		}
		testwait.Group(t, &all, "the requests")
		return statuses
	}
	if diff := cmp.Diff(map[int]int{201: 1, 412: many - 1}, at(ifMatch(`"1"`))); diff != "" {
		t.Errorf("statuses with If-Match (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[int]int{201: many}, at()); diff != "" {
		t.Errorf("statuses without If-Match (-want +got):\n%s", diff)
	}
	if c := user.Get(path).Want(200).Object(); c["version"] != 2.0+many || c["componentCount"] != 4.0+1+many {
		t.Errorf("got version %v with %v components, want one version and one component for each change", c["version"], c["componentCount"])
	}
}
