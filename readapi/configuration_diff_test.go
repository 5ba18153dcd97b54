package readapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/internal/servicetest"
)

// updateConfiguration makes the configuration's next version and returns it.
func updateConfiguration(t *testing.T, c *servicetest.Client, path string, changes object) object {
	t.Helper()
	tag := c.Get(path).Want(200).Header.Get("ETag")
	return c.Patch(path, changes, servicetest.Header{Name: "If-Match", Value: tag}).Want(200).Object()
}

func TestGetConfigurationDiff(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	path := newConfiguration(t, user, twoTiers("diff"))
	diff := path + "/diff"

	// Version 1 has no predecessor.
	nothing := object{"from": 1.0, "to": 1.0, "patch": []any{}, "changes": []any{}}
	for _, query := range []string{"", "?from=1", "?to=1", "?from=1&to=1"} {
		if got := cmp.Diff(nothing, user.Get(diff+query).Want(200).Object()); got != "" {
			t.Errorf("%s (-want +got):\n%s", query, got)
		}
	}

	user.Patch(path+"/components/leaf/parameters", object{"NumUpLinks": object{"value": 32, "type": "uint"}}).Want(200)
	user.Patch(path+"/containers/rack/components/server", object{"count": 16}).Want(200)
	user.Delete(path + "/components/spare").Want(204)
	user.Post(path+"/components?modelId=roce-nic-v1&type=nic&name=nic2", nil).Want(201)
	user.Patch(path+"/parameters", object{"SimulationParameters": object{"Mtu": object{"value": 1.5, "type": "bytes", "unit": "KB"}}}).Want(200)
	id := submit(t, user, workload(8, "allReduce"))
	traceset := user.Get(configurations + "/" + events.DerivedID(events.ConfigurationPrefix, id)).Object()["activeTraceset"].(object)
	user.Patch(path+"/traceset", object{"tracesetId": traceset["id"]}).Want(200)

	leaf := func(value any) object { return object{"type": "uint", "value": value} }
	for query, want := range map[string]object{
		"?to=2": {
			"from": 1.0, "to": 2.0,
			"patch": []any{object{"op": "replace", "path": "/components/2/typedParameters/NumUpLinks/value", "value": 32.0}},
			"changes": []any{object{
				"kind": "changed", "subject": "switch leaf", "path": "/components/2/typedParameters/NumUpLinks",
				"before": leaf(64.0), "after": leaf(32.0), "text": "switch leaf: NumUpLinks 64 → 32",
			}},
		},
		"?from=3&to=2": {
			"from": 3.0, "to": 2.0,
			"patch": []any{object{"op": "replace", "path": "/containers/0/components/1/count", "value": 8.0}},
			"changes": []any{object{
				"kind": "changed", "subject": "rack rack", "path": "/containers/0/components/1/count",
				"before": 16.0, "after": 8.0, "text": "rack rack: server count 16 → 8",
			}},
		},
		"?from=3&to=4": { // the removed NIC, which GET does not show because the topology does not reach it
			"from": 3.0, "to": 4.0,
			"patch":   []any{object{"op": "remove", "path": "/components/6"}},
			"changes": []any{object{"kind": "removed", "subject": "nic spare", "path": "/components/6", "text": "component spare removed"}},
		},
	} {
		if got := cmp.Diff(want, user.Get(diff+query).Want(200).Object()); got != "" {
			t.Errorf("%s (-want +got):\n%s", query, got)
		}
	}
	var lines []string
	whole := user.Get(diff + "?from=1").Want(200).Object()
	for _, change := range whole["changes"].([]any) {
		lines = append(lines, change.(object)["text"].(string))
	}
	if got := cmp.Diff([]string{
		"application workload: ChakraConfiguration.NumOfChakraFiles 0 → 8",
		"component spare removed",
		"switch leaf: NumUpLinks 64 → 32",
		"component nic2 added",
		"rack rack: server count 8 → 16",
		"activeTraceset " + traceset["name"].(string) + " added",
		"globalParameters: SimulationParameters.Mtu 9216 B → 1.5 KB",
	}, lines); got != "" {
		t.Errorf("all changes (-want +got):\n%s", got)
	}
	if whole["to"] != 7.0 || user.Get(diff).Object()["from"] != 6.0 {
		t.Errorf("got to=%v and from=%v by default, want 7 and 6", whole["to"], user.Get(diff).Object()["from"])
	}

	user.Get(diff+"?to=8").Refused(404, "NOT_FOUND")
	user.Get(diff+"?from=8").Refused(404, "NOT_FOUND")
	for _, bad := range []string{"?from=0", "?to=0", "?from=-1", "?to=x", "?from=1.5", "?to=9007199254740992"} {
		user.Get(diff+bad).Refused(400, "VALIDATION_ERROR")
	}
}

// The patch turns one version, as GET shows it with all components, into the other.
func TestThePatchTransformsAVersion(t *testing.T) {
	t.Parallel()
	user := servicetest.Shared(t).User(t, servicetest.NewAccount())
	body := twoTiers("patched")
	components := body["components"].([]object)
	path := newConfiguration(t, user, body)
	updateConfiguration(t, user, path, object{
		"components": append([]object{components[6], components[4], components[5]}, components[:4]...),
		"links":      []object{},
		"topology": object{"type": "clos", "topologyTiers": 2, "components": []object{
			{"name": "pod", "type": "pod", "count": 2}, {"name": "spine", "type": "switch", "count": 4},
		}},
	})
	was := user.Get(path + "/versions/1?include=all").Want(200).Object()
	is := user.Get(path + "/versions/2?include=all").Want(200).Object()
	for _, o := range user.Get(path + "/diff").Want(200).Object()["patch"].([]any) {
		apply(t, was, o.(object))
	}
	for _, member := range []string{"version", "createdAt"} {
		delete(was, member)
		delete(is, member)
	}
	if diff := cmp.Diff(is, was); diff != "" {
		t.Errorf("version 1, patched (-want +got):\n%s", diff)
	}
}

// apply applies an operation of a JSON Patch to a document of lists and objects.
func apply(t *testing.T, document object, o object) {
	t.Helper()
	value := o["value"]
	switch o["op"] {
	case "add":
	case "move":
		value = take(t, document, o["from"].(string))
	default:
		value = take(t, document, o["path"].(string))
		if o["op"] == "remove" {
			return
		}
		value = o["value"]
	}
	edit(t, document, o["path"].(string), func(list []any, i int) []any {
		return append(list[:i:i], append([]any{value}, list[i:]...)...)
	}, func(holder object, name string) { holder[name] = value })
}

// take removes the value at a path, and returns it.
func take(t *testing.T, document object, path string) (taken any) {
	t.Helper()
	edit(t, document, path, func(list []any, i int) []any {
		taken = list[i]
		return append(list[:i:i], list[i+1:]...)
	}, func(holder object, name string) {
		taken = holder[name]
		delete(holder, name)
	})
	return taken
}

// edit changes the list or object that has the value at a path.
func edit(t *testing.T, document object, path string, list func([]any, int) []any, member func(object, string)) {
	t.Helper()
	tokens := strings.Split(path, "/")[1:]
	var walk func(value any, tokens []string) any
	walk = func(value any, tokens []string) any {
		switch v := value.(type) {
		case object:
			if len(tokens) == 1 {
				member(v, tokens[0])
			} else {
				v[tokens[0]] = walk(v[tokens[0]], tokens[1:])
			}
			return v
		case []any:
			var i int
			if err := json.Unmarshal([]byte(tokens[0]), &i); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			if len(tokens) == 1 {
				return list(v, i)
			}
			v[i] = walk(v[i], tokens[1:])
			return v
		}
		t.Fatalf("no value at the path %s", path)
		return nil
	}
	walk(document, tokens)
}
