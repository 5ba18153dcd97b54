package writeapi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/internal/servicetest"
	"netsim/simulator/catalogue"
	"netsim/simulator/document"
)

// newWorkbench creates a workbench in a new account. It returns a user of the
// account and the path of the workbench.
func newWorkbench(t *testing.T, p *servicetest.Program) (*servicetest.Client, string) {
	t.Helper()
	return newWorkbenchOf(t, p, funded(t, p))
}

func newWorkbenchOf(t *testing.T, p *servicetest.Program, account string) (*servicetest.Client, string) {
	t.Helper()
	user := p.User(t, account)
	made := user.Post(configurations, workbench(traceset(t, user, 8))).Want(201).Object()
	return user, configurations + "/" + made["id"].(string)
}

// same fails the test unless both are equal.
func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// whole returns the newest version, without the components that the topology does
// not reach.
func whole(c *servicetest.Client, path string) object { return c.Get(path).Want(200).Object() }

// find returns the item with the name, nil if there is none.
func find(list any, name string) object {
	i := slices.IndexFunc(list.([]any), func(item any) bool { return item.(object)["name"] == name })
	if i < 0 {
		return nil
	}
	return list.([]any)[i].(object)
}

// shares returns the values of the application distribution by their ids.
func shares(c object) object {
	values := object{}
	for _, e := range c["topology"].(object)["appDistribution"].(object)["randomApplicationDistribution"].([]any) {
		share := e.(object)["distributionPercent"].(object)
		values[share["distributionId"].(string)] = share["value"]
	}
	return values
}

func TestAddApplication(t *testing.T) {
	t.Parallel()
	user, path := newWorkbench(t, servicetest.Shared(t))
	add := func(query string) servicetest.Reply { return user.Post(path+"/applications?"+query, nil) }

	generator, _ := catalogue.Find("traffic-generator-v1")
	reply := add("modelId=" + generator.ID + "&name=mail&version=1.0.0").Want(201)
	if location := reply.Header.Get("Location"); location != path+"/applications/mail" {
		t.Errorf("got the Location %s, want that of mail", location)
	}
	same(t, "the application", object{
		"type": "application", "trafficType": "non-coordinated", "name": "mail", "model": "traffic-generator-v1", "version": "1.0.0",
		"typedParameters": object{
			"MessageSize":    object{"value": 16.0, "type": "bytes", "unit": "KB"},
			"TrafficPattern": object{"value": "uniform-random", "type": "string"},
			"Load":           object{"value": 0.5, "type": "double"},
		},
	}, reply.Object())
	c := whole(user, path)
	same(t, "what is stored", reply.Object(), find(c["applications"], "mail"))
	same(t, "shares", object{"web-client": 1.0, "web-server": 1.0, "mail-client": 0.0, "mail-server": 0.0}, shares(c))

	// A chakra application has no shares, and has the rank count of the traceset.
	chakra := add("modelId=chakra-workload-v1&name=second").Want(201).Object()
	ranks := chakra["typedParameters"].(object)["ChakraConfiguration"].(object)["NumOfChakraFiles"].(object)["value"]
	if chakra["trafficType"] != "chakra" || ranks != 8.0 {
		t.Errorf("got the traffic type %v and %v ranks, want chakra and 8", chakra["trafficType"], ranks)
	}
	same(t, "shares", 4, len(shares(whole(user, path))))

	// A new application gets the client and server shares that the others leave of 1.
	user.Patch(path+"/distribution", object{"parentApplication": "web", "distributionId": "web-client", "value": 0.25}).Want(200)
	add("modelId=traffic-generator-v1&name=rest").Want(201)
	if got := shares(whole(user, path)); got["rest-client"] != 0.75 || got["rest-server"] != 0.0 {
		t.Errorf("got the shares %v, want 0.75 for rest-client", got)
	}
	user.Patch(path+"/distribution", object{"parentApplication": "mail", "distributionId": "mail-client", "value": 1}).Want(200)

	for query, want := range map[string]string{
		"modelId=traffic-generator-v1&name=beyond":           "above 1",
		"modelId=nothing-v1&name=x":                          "modelId 'nothing-v1'",
		"modelId=" + events.NewID("model") + "&name=x":       "modelId",
		"modelId=chakra-workload-v1&name=x&version=9.0.0":    "version '9.0.0'",
		"modelId=chakra-workload-v1&name=x&version=1":        "version must be",
		"modelId=clos-switch-v1&name=x":                      "model of a switch",
		"modelId=chakra-workload-v1&name=web":                "name 'web' is taken",
		"modelId=chakra-workload-v1&name=leaf":               "name 'leaf' is taken",
		"modelId=chakra-workload-v1&name=rack":               "name 'rack' is taken",
		"modelId=chakra-workload-v1&name=layer":              "name 'layer' is taken",
		"modelId=chakra-workload-v1&name=-x":                 "name must be",
		"modelId=chakra-workload-v1":                         "name is required",
		"name=x":                                             "modelId is required",
		"modelId=&name=x":                                    "modelId must have",
		"modelId=" + strings.Repeat("x", 129) + "&name=x":    "modelId must have",
		"modelId=chakra-workload-v1&name=x&colour=red":       "colour",
		"modelId=chakra-workload-v1&name=x&name=y":           "name is given 2 times",
		"modelId=chakra-workload-v1&name=" + longName(65):    "name must be",
		"modelId=chakra-workload-v1&name=" + "x%2Fy":         "name must be",
		"modelId=chakra-workload-v1&name=x&version=%2000000": "version must be",
	} {
		if message := add(query).Refused(400, "VALIDATION_ERROR"); !strings.Contains(message, want) {
			t.Errorf("%s: got the message %q, want %q in it", query, message, want)
		}
	}
	add("modelId=chakra-workload-v1&name=" + longName(64)).Want(201)
}

func longName(n int) string { return strings.Repeat("x", n) }

func TestRemoveApplication(t *testing.T) {
	t.Parallel()
	user, path := newWorkbench(t, servicetest.Shared(t))
	for _, name := range []string{"mail", "news"} {
		user.Post(path+"/applications?modelId=traffic-generator-v1&name="+name, nil).Want(201)
	}
	set := func(id string, value float64) {
		application, _, _ := strings.Cut(id, "-")
		user.Patch(path+"/distribution", object{"parentApplication": application, "distributionId": id, "value": value}).Want(200)
	}
	set("web-client", 0.5)
	set("mail-client", 0.125)
	set("news-client", 0.375)
	user.Patch(path+"/configurations/server", object{"name": "web", "type": "application", "parentApplicationName": "web"}).Want(200)

	reply := user.Delete(path + "/applications/web").Want(200)
	gone := reply.Object()
	if gone["id"] != strings.TrimPrefix(path, configurations+"/") || gone["status"] != "draft" || !strings.Contains(gone["message"].(string), "web") {
		t.Errorf("got %v, want the draft and the name of the removed application", gone)
	}
	c := whole(user, path)
	same(t, "shares, rescaled", object{"mail-client": 0.25, "news-client": 0.75, "mail-server": 0.5, "news-server": 0.5}, shares(c))
	if find(c["applications"], "web") != nil || find(find(c["components"], "server")["components"], "web") != nil {
		t.Error("the application or a reference to it is left")
	}
	user.Delete(path+"/applications/web").Refused(404, "NOT_FOUND")
	user.Delete(path+"/applications/leaf").Refused(404, "NOT_FOUND")
	user.Delete(path+"/applications/-x").Refused(400, "VALIDATION_ERROR")

	user.Delete(path + "/applications/mail").Want(200)
	user.Delete(path + "/applications/news").Want(200)
	attached := whole(user, path)["activeTraceset"].(object)["id"].(string)
	if message := user.Delete(path+"/applications/workload").Refused(409, "CONFLICT"); !strings.Contains(message, attached) {
		t.Errorf("got the message %q, want one that names traceset %s", message, attached)
	}
	without := user.Patch(path, object{"applications": []any{}}, ifMatch("*")).Refused(409, "CONFLICT")
	if !strings.Contains(without, attached) {
		t.Errorf("got the message %q, want one that names traceset %s", without, attached)
	}
	user.Delete(path + "/traceset").Want(200)
	user.Delete(path + "/applications/workload").Want(200)
	if c := whole(user, path); len(c["applications"].([]any)) != 0 {
		t.Errorf("got the applications %v, want none", c["applications"])
	}
}

func TestAddComponent(t *testing.T) {
	t.Parallel()
	user, path := newWorkbench(t, servicetest.Shared(t))
	add := func(query string) servicetest.Reply { return user.Post(path+"/components?"+query, nil) }
	before := whole(user, path)
	for _, model := range catalogue.Entries() {
		if model.Type == document.TypeApplication {
			continue
		}
		name := "new-" + model.Model
		reply := add("modelId=" + model.ID + "&type=" + model.Type + "&name=" + name).Want(201)
		got := reply.Object()
		if location := reply.Header.Get("Location"); location != path+"/components/"+name {
			t.Errorf("got the Location %s, want that of %s", location, name)
		}
		want := object{
			"type": model.Type, "name": name, "model": model.Model, "version": model.Latest(),
			"allowedComponents": []any{}, "components": []any{},
		}
		for _, kind := range document.Allowed(model.Type) {
			want["allowedComponents"] = append(want["allowedComponents"].([]any), kind)
		}
		switch model.Type {
		case document.TypeRack, document.TypePod:
			want["configuration"] = nil
		default:
			if model.Parameters != nil && len(got["typedParameters"].(object)) == 0 {
				t.Errorf("%s has no parameters", name)
			}
			want["typedParameters"] = got["typedParameters"]
		}
		same(t, name, want, got)
	}
	after := whole(user, path)
	same(t, "components", before["componentCount"].(float64)+6, after["componentCount"])
	same(t, "containers", len(before["containers"].([]any))+2, len(after["containers"].([]any)))
	same(t, "links", len(before["links"].([]any))+1, len(after["links"].([]any)))
	same(t, "the version", before["version"].(float64)+9, after["version"])

	for query, want := range map[string]string{
		"modelId=nothing-v1&type=switch&name=x":                     "modelId 'nothing-v1'",
		"modelId=clos-switch-v1&type=nic&name=x":                    "type must be 'switch'",
		"modelId=clos-switch-v1&type=application&name=x":            "type must be one of",
		"modelId=chakra-workload-v1&type=switch&name=x":             "type must be 'application'",
		"modelId=clos-switch-v1&name=x":                             "type is required",
		"modelId=clos-switch-v1&type=switch":                        "name is required",
		"type=switch&name=x":                                        "modelId is required",
		"modelId=clos-switch-v1&type=switch&name=leaf":              "name 'leaf' is taken",
		"modelId=clos-switch-v1&type=switch&name=web":               "name 'web' is taken",
		"modelId=leaf-rack-v1&type=rack&name=new-ethernet-layer-v1": "name 'new-ethernet-layer-v1' is taken",
		"modelId=clos-switch-v1&type=switch&name=x&version=1.0.1":   "version '1.0.1'",
		"modelId=clos-switch-v1&type=switch&name=.x":                "name must be",
	} {
		if message := add(query).Refused(400, "VALIDATION_ERROR"); !strings.Contains(message, want) {
			t.Errorf("%s: got the message %q, want %q in it", query, message, want)
		}
	}
}

func TestRemoveComponent(t *testing.T) {
	t.Parallel()
	user, path := newWorkbench(t, servicetest.Shared(t))
	remove := func(name string) servicetest.Reply { return user.Delete(path + "/components/" + name) }

	user.Patch(path+"/containers/pod", object{"name": "rack", "type": "rack"}).Want(200)
	user.Patch(path+"/topology", object{"name": "layer", "type": "layer"}).Want(200)
	before := whole(user, path)

	remove("nic").Want(204)
	same(t, "the server's members", []any{}, find(whole(user, path)["components"], "server")["components"])
	remove("layer").Want(204)
	remove("rack").Want(204)
	after := whole(user, path)
	same(t, "the pod's members", []any{}, find(after["containers"], "pod")["components"])
	same(t, "the topology's members", []any{}, after["topology"].(object)["components"])
	same(t, "links", []any{}, after["links"])
	same(t, "components", before["componentCount"].(float64)-1, after["componentCount"])

	remove("nic").Refused(404, "NOT_FOUND")
	remove("nothing").Refused(404, "NOT_FOUND")
	remove("web").Refused(404, "NOT_FOUND") // another operation removes applications
	remove("-x").Refused(400, "VALIDATION_ERROR")
	remove("leaf").Want(204) // the topology does not reach it any more

	// An idempotency key identifies a removal of the component in the path only.
	for _, name := range []string{"spare", "gpu", "spare"} {
		user.Delete(path+"/components/"+name, key("k")).Want(204)
	}
	same(t, "components", after["componentCount"].(float64)-3, whole(user, path)["componentCount"])
}
