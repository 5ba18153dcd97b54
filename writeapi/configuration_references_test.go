package writeapi_test

import (
	"strings"
	"testing"

	"netsim/internal/servicetest"
)

// refused is a request that must be refused, with a part of the message.
type refused struct {
	path   string
	body   object
	status int
	want   string
}

func refuseAll(t *testing.T, c *servicetest.Client, method, path string, cases []refused) {
	t.Helper()
	before := whole(c, path)
	for _, r := range cases {
		var body any
		if r.body != nil {
			body = r.body
		}
		code := map[int]string{400: "VALIDATION_ERROR", 404: "NOT_FOUND"}[r.status]
		reply := c.Do(method, path+r.path, body)
		if reply.Status != r.status {
			t.Errorf("%s %v: status %d, want %d: %s", r.path, r.body, reply.Status, r.status, reply.Body)
			continue
		}
		if message := reply.Refused(r.status, code); !strings.Contains(message, r.want) {
			t.Errorf("%s %v: got the message %q, want %q in it", r.path, r.body, message, r.want)
		}
	}
	same(t, "after refusals", before, whole(c, path))
}

// reference returns a reference to a declaration of the workbench, as GET shows
// it.
func reference(name, kind, model string, count float64, more object) object {
	return with(object{"name": name, "type": kind, "count": count, "model": model, "version": "1.0.0"}, more)
}

func TestServerReferences(t *testing.T) {
	t.Parallel()
	user, path := newWorkbench(t, servicetest.Shared(t))
	const server = "/configurations/server"
	members := func() any { return find(whole(user, path)["components"], "server")["components"] }
	nic := reference("nic", "nic", "roce-nic-v1", 1, nil)

	got := user.Patch(path+server, object{"name": "gpu", "type": "gpu", "count": 4, "group": "a"}).Want(200).Object()
	same(t, "the server", find(whole(user, path)["components"], "server"), got)
	user.Patch(path+server, object{"name": "workload", "type": "application", "parentApplicationName": "web"}).Want(200)
	gpu := reference("gpu", "gpu", "gpu-v1", 4, object{"group": "a"})
	workload := reference("workload", "application", "chakra-workload-v1", 1, object{"parentApplicationName": "web"})
	same(t, "members", any([]any{nic, gpu, workload}), members())

	change := func(name string, body object) any {
		return user.Patch(path+server+"/components/"+name, body).Want(200).Object()["components"]
	}
	same(t, "a count", any([]any{nic, with(gpu, object{"count": 2.0}), workload}), change("gpu", object{"count": 2}))
	same(t, "a group", any([]any{with(nic, object{"group": "b"}), with(gpu, object{"count": 2.0}), workload}), change("nic", object{"group": "b"}))
	delete(gpu, "group")
	same(t, "both", any([]any{with(nic, object{"group": "b"}), gpu, workload}), change("gpu", object{"count": 4, "group": ""}))
	tag := user.Get(path).Header.Get("ETag")
	change("gpu", object{"count": 4})
	if now := user.Get(path).Header.Get("ETag"); now != tag {
		t.Errorf("nothing changed, but the entity tag is %s", now)
	}

	refuseAll(t, user, "PATCH", path, []refused{
		{server, object{"name": "leaf", "type": "switch"}, 400, "type must be one of"},
		{server, object{"name": "spare", "type": "gpu"}, 400, "type must be 'nic'"},
		{server, object{"name": "nothing", "type": "nic"}, 404, "nothing"},
		{server, object{"name": "nic", "type": "nic"}, 400, "'nic'"},
		{server, object{"name": "spare", "type": "nic", "parentApplicationName": "web"}, 400, "parentApplicationName"},
		{server, object{"name": "web", "type": "application"}, 400, "parentApplicationName is required"},
		{server, object{"name": "web", "type": "application", "parentApplicationName": "leaf"}, 400, "parentApplicationName 'leaf'"},
		{server, object{"name": "spare"}, 400, "type is required"},
		{server, object{"type": "nic"}, 400, "name is required"},
		{server, object{"name": "spare", "type": "nic", "count": 0}, 400, "count must be between 1 and 1048576"},
		{server, object{"name": "spare", "type": "nic", "count": 1<<20 + 1}, 400, "count must be between"},
		{server, object{"name": "spare", "type": "nic", "count": 1.5}, 400, "count"},
		{server, object{"name": "spare", "type": "nic", "group": longName(65)}, 400, "group"},
		{server, object{"name": "spare", "type": "nic", "model": "roce-nic-v1"}, 400, "model is unknown"},
		{"/configurations/leaf", object{"name": "spare", "type": "nic"}, 400, "leaf"},
		{"/configurations/nothing", object{"name": "spare", "type": "nic"}, 404, "nothing"},
		{"/configurations/rack", object{"name": "spare", "type": "nic"}, 404, "rack"},
		{"/configurations/-x", object{"name": "spare", "type": "nic"}, 400, "component_name"},
		{server + "/components/nic", object{}, 400, "a count or a group"},
		{server + "/components/nic", object{"count": 0}, 400, "count must be"},
		{server + "/components/nic", object{"count": 1<<20 + 1}, 400, "count must be"},
		{server + "/components/nic", object{"group": longName(65)}, 400, "group"},
		{server + "/components/nic", object{"count": nil}, 400, "count"},
		{server + "/components/spare", object{"count": 1}, 404, "spare"},
		{server + "/components/-x", object{"count": 1}, 400, "child_name"},
		{"/configurations/leaf/components/nic", object{"count": 1}, 400, "leaf"},
		{"/configurations/nothing/components/nic", object{"count": 1}, 404, "nothing"},
	})
	user.Patch(path+server, object{"name": "spare", "type": "nic", "count": 1 << 20, "group": longName(64)}).Want(200)
	user.Delete(path + server + "/components/gpu").Want(204)
	user.Delete(path + server + "/components/spare").Want(204)
	user.Delete(path + server + "/components/workload").Want(204)
	same(t, "what is left", any([]any{with(nic, object{"group": "b"})}), members())
	if find(user.Get(path + "/versions/1").Want(200).Object()["components"], "server") == nil {
		t.Error("version 1 has no server any more")
	}
	refuseAll(t, user, "DELETE", path, []refused{
		{server + "/components/gpu", nil, 404, "gpu"},
		{server + "/components/-x", nil, 400, "child_name"},
		{"/configurations/nothing/components/nic", nil, 404, "nothing"},
		{"/configurations/rack/components/leaf", nil, 404, "rack"},
	})
	user.Delete(path + "/components/gpu").Want(204) // without references it is still declared
}

func TestContainerReferences(t *testing.T) {
	t.Parallel()
	user, path := newWorkbench(t, servicetest.Shared(t))
	members := func(name string) any { return find(whole(user, path)["containers"], name)["components"] }
	leaf, server := reference("leaf", "switch", "clos-switch-v1", 1, nil), reference("server", "server", "gpu-server-v1", 8, nil)

	got := user.Patch(path+"/containers/pod", object{"name": "rack", "type": "rack", "count": 2, "group": "g"}).Want(200).Object()
	same(t, "the pod", find(whole(user, path)["containers"], "pod"), got)
	user.Patch(path+"/containers/pod", object{"name": "leaf", "type": "switch"}).Want(200)
	same(t, "members", any([]any{reference("rack", "rack", "leaf-rack-v1", 2, object{"group": "g"}), leaf}), members("pod"))
	changed := user.Patch(path+"/containers/rack/components/server", object{"count": 16, "group": "g"}).Want(200).Object()
	same(t, "changed", any([]any{leaf, with(server, object{"count": 16.0, "group": "g"})}), changed["components"])

	user.Post(path+"/components?modelId=leaf-rack-v1&type=rack&name=rack2", nil).Want(201)
	user.Post(path+"/components?modelId=pod-v1&type=pod&name=pod2", nil).Want(201)
	refuseAll(t, user, "PATCH", path, []refused{
		{"/containers/rack", object{"name": "rack2", "type": "rack"}, 400, "type must be one of [switch, server] in a rack"},
		{"/containers/rack", object{"name": "rack", "type": "rack"}, 400, "type must be one of"},
		{"/containers/pod", object{"name": "server", "type": "server"}, 400, "type must be one of [switch, rack] in a pod"},
		{"/containers/pod", object{"name": "pod2", "type": "pod"}, 400, "type must be one of"},
		{"/containers/pod", object{"name": "pod2", "type": "rack"}, 400, "type must be 'pod'"},
		{"/containers/pod", object{"name": "pod", "type": "rack"}, 400, "type must be 'pod'"},
		{"/containers/pod", object{"name": "nothing", "type": "rack"}, 400, "name 'nothing'"},
		{"/containers/pod", object{"name": "rack", "type": "rack"}, 400, "'rack'"},
		{"/containers/rack", object{"name": "nic", "type": "server"}, 400, "type must be 'nic'"},
		{"/containers/pod", object{"name": "rack2", "type": "rack", "count": 0}, 400, "count must be"},
		{"/containers/pod", object{"name": "rack2", "type": "rack", "group": longName(65)}, 400, "group"},
		{"/containers/pod", object{"name": "rack2", "type": "rack", "parentApplicationName": "web"}, 400, "parentApplicationName is unknown"},
		{"/containers/pod", object{"name": "rack2"}, 400, "type is required"},
		{"/containers/pod", object{"type": "rack"}, 400, "name is required"},
		{"/containers/nothing", object{"name": "rack2", "type": "rack"}, 404, "nothing"},
		{"/containers/server", object{"name": "rack2", "type": "rack"}, 404, "server"},
		{"/containers/-x", object{"name": "rack2", "type": "rack"}, 400, "container_name"},
		{"/containers/rack/components/server", object{}, 400, "a count or a group"},
		{"/containers/rack/components/server", object{"count": 0}, 400, "count must be"},
		{"/containers/rack/components/nothing", object{"count": 1}, 404, "nothing"},
		{"/containers/rack/components/-x", object{"count": 1}, 400, "component_name"},
		{"/containers/nothing/components/server", object{"count": 1}, 404, "nothing"},
		{"/containers/server/components/nic", object{"count": 1}, 404, "server"},
	})
	user.Delete(path + "/containers/rack/components/server").Want(204)
	same(t, "what is left", any([]any{leaf}), members("rack"))
	refuseAll(t, user, "DELETE", path, []refused{
		{"/containers/rack/components/server", nil, 404, "server"},
		{"/containers/nothing/components/server", nil, 404, "nothing"},
		{"/containers/-x/components/server", nil, 400, "container_name"},
	})
}

func TestTopologyReferences(t *testing.T) {
	t.Parallel()
	user, path := newWorkbench(t, servicetest.Shared(t))
	rack := reference("rack", "rack", "leaf-rack-v1", 1, nil)
	members := func() any { return pick(whole(user, path), "topology.components") }

	got := user.Patch(path+"/topology", object{"name": "pod", "type": "pod", "count": 2}).Want(200).Object()
	same(t, "the topology", whole(user, path)["topology"], any(got))
	user.Patch(path+"/topology", object{"name": "layer", "type": "layer"}).Want(200)
	user.Patch(path+"/topology", object{"name": "leaf", "type": "switch"}).Want(200)
	pod, layer, leaf := reference("pod", "pod", "pod-v1", 2, nil), reference("layer", "layer", "ethernet-layer-v1", 1, nil), reference("leaf", "switch", "clos-switch-v1", 1, nil)
	same(t, "members", any([]any{rack, pod, layer, leaf}), members())
	changed := user.Patch(path+"/topology/pod", object{"count": 3}).Want(200).Object()
	same(t, "changed", any([]any{rack, with(pod, object{"count": 3.0}), layer, leaf}), changed["components"])

	refuseAll(t, user, "PATCH", path, []refused{
		{"/topology", object{"name": "server", "type": "server"}, 400, "type must be one of"},
		{"/topology", object{"name": "nic", "type": "switch"}, 400, "type must be 'nic'"},
		{"/topology", object{"name": "rack", "type": "rack"}, 400, "'rack'"},
		{"/topology", object{"name": "nothing", "type": "rack"}, 404, "nothing"},
		{"/topology", object{"name": "pod"}, 400, "type is required"},
		{"/topology", object{"type": "pod"}, 400, "name is required"},
		{"/topology", object{"name": "pod", "type": "pod", "count": 0}, 400, "count must be"},
		{"/topology", object{"name": "pod", "type": "pod", "group": "g"}, 400, "group is unknown"},
		{"/topology/rack", object{}, 400, "count is required"},
		{"/topology/rack", object{"count": 0}, 400, "count must be"},
		{"/topology/rack", object{"count": 1<<20 + 1}, 400, "count must be"},
		{"/topology/nothing", object{"count": 1}, 404, "nothing"},
		{"/topology/server", object{"count": 1}, 404, "server"},
		{"/topology/-x", object{"count": 1}, 400, "component_name"},
	})
	user.Delete(path + "/topology/layer").Want(204)
	same(t, "what is left", any([]any{rack, with(pod, object{"count": 3.0}), leaf}), members())
	refuseAll(t, user, "DELETE", path, []refused{
		{"/topology/layer", nil, 404, "layer"}, {"/topology/nothing", nil, 404, "nothing"}, {"/topology/-x", nil, 400, "component_name"},
	})
}
