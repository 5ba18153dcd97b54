package readapi_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/internal/servicetest"
)

// twoTiers returns a configuration with every kind of component and container. No
// declaration refers to the NIC "spare".
func twoTiers(name string) object {
	declared := func(kind, model, name string, refs ...object) object {
		d := object{"type": kind, "model": model, "name": name, "version": "1.0.0"}
		if refs != nil {
			d["components"] = refs
		}
		return d
	}
	return object{
		"name": name,
		"components": []object{
			declared("switch", "clos-switch-v1", "spine"),
			declared("switch", "clos-switch-v1", "fabric"),
			declared("switch", "clos-switch-v1", "leaf"),
			declared("server", "gpu-server-v1", "server", object{"name": "nic", "type": "nic"}, object{"name": "gpu", "type": "gpu", "count": 8}),
			declared("nic", "roce-nic-v1", "nic"),
			declared("gpu", "gpu-v1", "gpu"),
			declared("nic", "roce-nic-v1", "spare"),
		},
		"containers": []object{
			declared("rack", "leaf-rack-v1", "rack", object{"name": "leaf", "type": "switch"}, object{"name": "server", "type": "server", "count": 8}),
			declared("pod", "pod-v1", "pod", object{"name": "fabric", "type": "switch", "count": 2}, object{"name": "rack", "type": "rack", "count": 2}),
			declared("rack", "leaf-rack-v1", "empty", object{"name": "leaf", "type": "switch"}),
		},
		"applications": []object{{"type": "application", "trafficType": "chakra", "name": "workload", "model": "chakra-workload-v1", "version": "1.0.0"}},
		"links":        []object{declared("layer", "ethernet-layer-v1", "mesh")},
		"topology": object{"name": "network", "type": "clos", "topologyTiers": 3, "components": []object{
			{"name": "spine", "type": "switch"}, {"name": "mesh", "type": "layer"}, {"name": "pod", "type": "pod"},
		}},
		"globalParameters": object{},
	}
}

// newConfiguration creates a configuration, and returns its path.
func newConfiguration(t *testing.T, c *servicetest.Client, body object) string {
	t.Helper()
	return configurations + "/" + c.Post(configurations, body).Want(201).Object()["id"].(string)
}

func TestConfigurationContents(t *testing.T) {
	t.Parallel()
	user := servicetest.Shared(t).User(t, servicetest.NewAccount())
	path := newConfiguration(t, user, twoTiers("contents"))
	whole := user.Get(path).Want(200).Object()

	details := func(list string) (with, without any) {
		with = user.Get(path + "/" + list + "?withDetails=true").Want(200).Object()[list]
		without = user.Get(path + "/" + list).Want(200).Object()[list]
		return with, without
	}
	for _, list := range []string{"applications", "links"} {
		with, without := details(list)
		if diff := cmp.Diff(whole[list], with); diff != "" {
			t.Errorf("%s with details (-want +got):\n%s", list, diff)
		}
		for _, item := range with.([]any) {
			delete(item.(object), "typedParameters")
		}
		if diff := cmp.Diff(with, without); diff != "" {
			t.Errorf("%s without details (-want +got):\n%s", list, diff)
		}
	}
	for _, single := range []string{"/applications", "/links?withDetails=true", "/software-version", "/containers/pod/allowed"} {
		if tag := user.Get(path + single).Want(200).Header.Get("ETag"); tag != `"1"` {
			t.Errorf("%s: got the entity tag %s, want \"1\"", single, tag)
		}
		user.Get(path+single, servicetest.Header{Name: "If-None-Match", Value: `"1"`}).Want(304)
		user.Get(path+single, servicetest.Header{Name: "If-None-Match", Value: `"2"`}).Want(200)
	}
	if got := user.Get(path + "/software-version").Object(); got["version"] != "1.0.0" {
		t.Errorf("got the software version %v, want 1.0.0", got)
	}
	for container, want := range map[string]object{
		"rack": {"containerName": "rack", "containerType": "rack", "allowedComponents": []any{"switch", "server"}},
		"pod":  {"containerName": "pod", "containerType": "pod", "allowedComponents": []any{"switch", "rack"}},
	} {
		if diff := cmp.Diff(want, user.Get(path+"/containers/"+container+"/allowed").Want(200).Object()); diff != "" {
			t.Errorf("allowed in %s (-want +got):\n%s", container, diff)
		}
	}
	for _, other := range []string{"server", "nowhere"} {
		user.Get(path+"/containers/"+other+"/allowed").Refused(404, "NOT_FOUND")
	}
	for _, bad := range []string{"/containers/.x/allowed", "/applications?withDetails=yes", "/links?withDetails=1", "/links?limit=5"} {
		user.Get(path+bad).Refused(400, "VALIDATION_ERROR")
	}
}

func TestListConfigurationComponents(t *testing.T) {
	t.Parallel()
	user := servicetest.Shared(t).User(t, servicetest.NewAccount())
	path := newConfiguration(t, user, twoTiers("components"))
	list := path + "/components"

	holders := map[string]any{}
	for _, item := range user.Get(list).Want(200).Object()["components"].([]any) {
		c := item.(object)
		holders[c["name"].(string)] = c["container"]
		if _, has := c["typedParameters"]; has {
			t.Errorf("got typedParameters without withDetails: %v", c)
		}
	}
	if diff := cmp.Diff(map[string]any{
		"spine": "network", "fabric": "pod", "leaf": "rack", "server": "rack", "nic": "server", "gpu": "server", "spare": nil,
	}, holders); diff != "" {
		t.Errorf("holders (-want +got):\n%s", diff)
	}
	for filter, want := range map[string][]string{
		"":             {"spine", "fabric", "leaf", "server", "nic", "gpu", "spare"},
		"&type=switch": {"spine", "fabric", "leaf"},
		"&type=nic":    {"nic", "spare"},
		"&type=gpu":    {"gpu"},
		"&type=server": {"server"},
		"&type=host":   {"server"},
	} {
		for _, limit := range []string{"1", "2", "7", "100"} {
			if diff := cmp.Diff(want, pages(t, user, list+"?limit="+limit+filter, "components", "name")); diff != "" {
				t.Errorf("limit %s%s (-want +got):\n%s", limit, filter, diff)
			}
		}
	}
	detailed := user.Get(list + "?type=nic&withDetails=true").Want(200).Object()["components"].([]any)[0].(object)
	if diff := cmp.Diff(user.Get(path).Object()["components"].([]any)[4].(object)["typedParameters"], detailed["typedParameters"]); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
	refusedPages(t, user, list, newConfiguration(t, user, twoTiers("other"))+"/components", "type=nic")
	user.Get(list+"?type=rack").Refused(400, "VALIDATION_ERROR")
}

func TestListConfigurationContainers(t *testing.T) {
	t.Parallel()
	user := servicetest.Shared(t).User(t, servicetest.NewAccount())
	path := newConfiguration(t, user, twoTiers("containers"))
	list := path + "/containers"
	if diff := cmp.Diff(user.Get(path).Object()["containers"], user.Get(list).Want(200).Object()["containers"]); diff != "" {
		t.Errorf("the list against the document (-want +got):\n%s", diff)
	}
	for filter, want := range map[string][]string{
		"":           {"rack", "pod", "empty"},
		"&type=rack": {"rack", "empty"},
		"&type=pod":  {"pod"},
	} {
		if diff := cmp.Diff(want, pages(t, user, list+"?limit=1"+filter, "containers", "name")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", filter, diff)
		}
	}
	refusedPages(t, user, list, newConfiguration(t, user, twoTiers("other"))+"/containers", "type=rack")
	user.Get(list+"?type=switch").Refused(400, "VALIDATION_ERROR")
}

// refusedPages checks that a list refuses bad page parameters, such as the cursor
// of the other list.
func refusedPages(t *testing.T, c *servicetest.Client, list, other, filter string) {
	t.Helper()
	next := cursor(c, list+"?limit=1")
	c.Get(list + "?limit=2&cursor=" + next).Want(200)
	for _, bad := range []string{
		list + "?limit=0", list + "?limit=101", list + "?limit=x", list + "?next=x", list + "?sort=name",
		list + "?" + filter + "&next=" + next, other + "?next=" + next, list + "?next=" + next + "&cursor=" + cursor(c, list+"?limit=2"),
	} {
		c.Get(bad).Refused(400, "VALIDATION_ERROR")
	}
}

// A list continues after the last item of the previous page, even if that item
// has been removed.
func TestAConfigurationThatChangesBetweenPages(t *testing.T) {
	t.Parallel()
	user := servicetest.Shared(t).User(t, servicetest.NewAccount())
	path := newConfiguration(t, user, twoTiers("changing"))
	list := path + "/components?limit=3"
	next := "&next=" + cursor(user, list)
	rest := func() []string {
		var names []string
		for _, item := range user.Get(list + next).Want(200).Object()["components"].([]any) {
			names = append(names, item.(object)["name"].(string))
		}
		return names
	}
	for _, step := range []struct {
		gone string
		want []string
	}{
		{"", []string{"server", "nic", "gpu"}},
		{"spine", []string{"server", "nic", "gpu"}}, // on the first page, but not its last item
		{"nic", []string{"server", "gpu", "spare"}}, // not on the first page
	} {
		if step.gone != "" {
			user.Delete(path + "/components/" + step.gone).Want(204)
		}
		if diff := cmp.Diff(step.want, rest()); diff != "" {
			t.Errorf("without %s (-want +got):\n%s", step.gone, diff)
		}
	}

	path = newConfiguration(t, user, twoTiers("changing"))
	list = path + "/components?limit=3"
	next = "&next=" + cursor(user, list)
	user.Delete(path + "/components/leaf").Want(204) // the last item of the first page
	if diff := cmp.Diff([]string{"server", "nic", "gpu"}, rest()); diff != "" {
		t.Errorf("without the last (-want +got):\n%s", diff)
	}
}

// Each part of a configuration has the access rules of the configuration.
func TestAccessToConfigurationContents(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	workspace := newWorkspace(t, p.Service(t, account), "contents")
	body := twoTiers("access")
	body["workspaceId"] = workspace
	path := newConfiguration(t, p.User(t, account, workspace), body)
	gone := newConfiguration(t, p.User(t, account), twoTiers("gone"))
	p.User(t, account).Delete(gone).Want(204)
	for _, part := range []string{
		"", "/versions", "/versions/1",
		"/applications", "/components", "/containers", "/containers/rack/allowed", "/links", "/software-version", "/traceset", "/diff",
	} {
		p.User(t, account).Get(path + part).Want(200)
		p.User(t, account, workspace).Get(path + part).Want(200)
		p.Bearer(t, "").Get(path+part).Refused(401, "UNAUTHORIZED")
		p.User(t, account, events.NewID(events.WorkspacePrefix)).Get(path+part).Refused(403, "FORBIDDEN")
		p.User(t, servicetest.NewAccount()).Get(path+part).Refused(404, "NOT_FOUND")
		p.User(t, account).Get(gone+part).Refused(404, "NOT_FOUND")
		p.User(t, account).Get(configurations+"/"+events.NewID(events.ConfigurationPrefix)+part).Refused(404, "NOT_FOUND")
		p.User(t, account).Get(configurations+"/config_x"+part).Refused(400, "VALIDATION_ERROR")
		p.User(t, account).Get(path+part+"?unknown=1").Refused(400, "VALIDATION_ERROR")
	}
}

// Every caller can read the parts of a public template.
func TestContentsOfATemplate(t *testing.T) {
	t.Parallel()
	user := servicetest.Shared(t).User(t, servicetest.NewAccount())
	templates := user.Get("/api/v1/templates?limit=1").Want(200).Object()["templates"].([]any)
	path := configurations + "/" + templates[0].(object)["id"].(string)
	for _, part := range []string{"", "/versions/1", "/applications", "/components", "/containers", "/links", "/software-version", "/traceset", "/diff"} {
		user.Get(path + part).Want(200)
	}
}
