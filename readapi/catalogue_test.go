package readapi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/internal/servicetest"
	"netsim/simulator/catalogue"
)

const (
	components = "/api/v1/components"
	models     = "/api/v1/models"
	charts     = "/api/v1/chart-definitions"
)

// ids returns the ids of the wanted entries, in the order of the catalogue.
func ids(wanted func(catalogue.Entry) bool) []string {
	got := []string{}
	for _, e := range catalogue.Entries() {
		if wanted(e) {
			got = append(got, e.ID)
		}
	}
	return got
}

func ofType(types ...string) func(catalogue.Entry) bool {
	return func(e catalogue.Entry) bool { return slices.Contains(types, e.Type) }
}

func TestListComponents(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, servicetest.NewAccount())
	every := func(catalogue.Entry) bool { return true }
	for filter, wanted := range map[string]func(catalogue.Entry) bool{
		"": every, "type=switch": ofType("switch"), "type=nic": ofType("nic"), "type=gpu": ofType("gpu"), "type=server": ofType("server"),
		"type=rack": ofType("rack"), "type=pod": ofType("pod"), "type=layer": ofType("layer"), "type=application": ofType("application"),
		"category=model":                 ofType("switch", "nic", "gpu", "server"),
		"category=container":             ofType("rack", "pod"),
		"category=layer":                 ofType("layer"),
		"category=application":           ofType("application"),
		"category=application&type=rack": ofType(),
	} {
		if diff := cmp.Diff(ids(wanted), pages(t, user, components+"?limit=2&"+filter, "components", "id")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", filter, diff)
		}
	}
	want := object{"id": "model_0000000000e008000000000004", "category": "container", "type": "rack", "name": "Leaf rack", "model": "leaf-rack-v1",
		"description": "Servers below a rack switch (RSW).", "latestVersion": "1.0.0", "versions": []any{"1.0.0"}}
	if diff := cmp.Diff(want, user.Get(components + "?type=rack").Want(200).Object()["components"].([]any)[0]); diff != "" {
		t.Errorf("an item (-want +got):\n%s", diff)
	}
	second := cursor(user, components+"?limit=1")
	user.Get(components + "?limit=1&cursor=" + second).Want(200)
	for _, bad := range []string{
		"limit=0", "limit=101", "limit=x", "next=x", "type=host", "category=other", "sort=name", "notes=true",
		"limit=1&type=switch&next=" + second, "next=" + second + "&cursor=" + second + "x",
	} {
		user.Get(components+"?"+bad).Refused(400, "VALIDATION_ERROR")
	}
	user.Get(models+"?next="+second).Refused(400, "VALIDATION_ERROR") // another list's cursor
	p.Bearer(t, "").Get(components).Refused(401, "UNAUTHORIZED")
}

func TestGetComponent(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, servicetest.NewAccount())
	for _, e := range catalogue.Entries() {
		c := user.Get(components + "/" + e.Model).Want(200)
		if diff := cmp.Diff(c.Object(), user.Get(components+"/"+e.ID).Want(200).Object()); diff != "" {
			t.Errorf("%s: the reference and the id differ (-reference +id):\n%s", e.Model, diff)
		}
		got := c.Object()
		_, container := got["containerSchema"]
		if got["id"] != e.ID || got["version"] != e.Latest() || got["latestVersion"] != e.Latest() || container != (got["category"] == "container") ||
			(got["trafficType"] != nil) != (e.Type == "application") || (e.Transport != "") != (got["transport"] == e.Transport) || got["notes"] != nil || got["createdAt"] == nil {
			t.Errorf("%s: got %v, want the newest version without notes", e.Model, got)
		}
		tag := servicetest.Header{Name: "If-None-Match", Value: c.Header.Get("ETag")}
		user.Get(components+"/"+e.Model, tag).Want(304)
		user.Get(components+"/"+e.Model+"?notes=true", tag).Want(200)
	}
	scale := user.Get(components + "/gpu-v1?version=1.0.0&notes=true").Want(200).Object()
	if scale["notes"] != "first version" {
		t.Errorf("got the notes %v, want \"first version\"", scale["notes"])
	}
	want := object{"ComputeScale": object{"value": 1.0, "type": "double", "default": "1", "description": "factor on the computation times of a trace",
		"min": object{"value": 0.001}, "max": object{"value": 1000.0}, "group": "Compute"}}
	if diff := cmp.Diff(want, scale["typedParameters"]); diff != "" {
		t.Errorf("the schema of parameters (-want +got):\n%s", diff)
	}
	nic := user.Get(components + "/roce-nic-v1").Want(200).Object()["typedParameters"].(object)
	if n := nic["NumDownLinks"].(object); n["readonly"] != true || n["default"] != "1" {
		t.Errorf("got NumDownLinks %v, want it read-only with the default 1", n)
	}
	if mss := nic["Transport"].(object)["MSS"].(object); mss["defaultUnit"] != "B" || mss["max"].(object)["unit"] != "B" {
		t.Errorf("got MSS %v, want the unit B", mss)
	}
	pod := user.Get(components + "/pod-v1").Want(200).Object()["containerSchema"].(object)
	if diff := cmp.Diff([]any{"switch", "rack"}, pod["allowed"]); diff != "" {
		t.Errorf("a pod (-want +got):\n%s", diff)
	}
	for _, unknown := range []string{"nothing-v1", "model_0000000000e00800000000000z", "x", "gpu-v1?version=9.9.9"} {
		user.Get(components+"/"+unknown).Refused(404, "NOT_FOUND")
	}
	for _, bad := range []string{"version=1", "version=x", "notes=maybe", "limit=1"} {
		user.Get(components+"/gpu-v1?"+bad).Refused(400, "VALIDATION_ERROR")
	}
	p.Bearer(t, "").Get(components+"/gpu-v1").Refused(401, "UNAUTHORIZED")
}

func TestListModels(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, servicetest.NewAccount())
	for filter, wanted := range map[string]func(catalogue.Entry) bool{
		"":                      func(catalogue.Entry) bool { return true },
		"type=switch":           ofType("switch"),
		"type=switch,nic,other": ofType("switch", "nic"),
		"type=other":            ofType(),
		"search=SWITCH": func(e catalogue.Entry) bool {
			return strings.Contains(strings.ToLower(e.Name+"\n"+e.Description), "switch")
		},
		"search=chakra&type=nic":     ofType(),
		"search=accelerator":         ofType("gpu"),
		"vendor=nobody":              ofType(),
		"vendor=nobody&type=switch":  ofType(),
		"type=application,container": ofType("application"),
	} {
		if diff := cmp.Diff(ids(wanted), pages(t, user, models+"?limit=2&"+filter, "models", "id")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", filter, diff)
		}
	}
	want := object{"id": "model_0000000000e008000000000008", "model": "clos-switch-v1", "name": "Clos switch", "type": "switch",
		"status": "stable", "latestVersion": "1.0.0", "compatibility": object{"minEngine": "1.0.0"}}
	if diff := cmp.Diff(want, user.Get(models + "?type=switch").Want(200).Object()["models"].([]any)[0]); diff != "" {
		t.Errorf("an item (-want +got):\n%s", diff)
	}
	transports := map[any]any{}
	for _, item := range user.Get(models + "?type=nic").Want(200).Object()["models"].([]any) {
		transports[item.(object)["model"]] = item.(object)["transport"]
	}
	if diff := cmp.Diff(map[any]any{"roce-nic-v1": "lossless", "trimming-nic-v1": "trimming", "ideal-nic-v1": "ideal"}, transports); diff != "" {
		t.Errorf("the transports of NICs (-want +got):\n%s", diff)
	}
	second := cursor(user, models+"?limit=1")
	for _, bad := range []string{
		"limit=0", "limit=101", "next=x", "search=" + strings.Repeat("x", 101), "vendor=Not%20a%20slug", "category=model",
		"type=switch&next=" + second, "search=a&next=" + second,
	} {
		user.Get(models+"?"+bad).Refused(400, "VALIDATION_ERROR")
	}
	user.Get(components+"?next="+second).Refused(400, "VALIDATION_ERROR")
	p.Bearer(t, "").Get(models).Refused(401, "UNAUTHORIZED")
}

// TestGetModel: POST /configurations accepts the declaration of every model
// unchanged, and GET returns it unchanged.
func TestGetModel(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, servicetest.NewAccount())
	for _, e := range catalogue.Entries() {
		reply := user.Get(models + "/" + e.ID).Want(200)
		declared := reply.Object()
		if diff := cmp.Diff(declared, user.Get(models+"/"+e.Model+"?version="+e.Latest()).Want(200).Object()); diff != "" {
			t.Errorf("%s: the id and the reference with a version differ (-id +reference):\n%s", e.Model, diff)
		}
		user.Get(models+"/"+e.Model, servicetest.Header{Name: "If-None-Match", Value: reply.Header.Get("ETag")}).Want(304)
		collection := map[string]string{"application": "applications", "container": "containers", "layer": "links"}[catalogue.Category(e.Type)]
		if collection == "" {
			collection = "components"
		}
		body := object{
			"name": e.Model, "components": []any{}, "containers": []any{}, "applications": []any{}, "links": []any{}, "globalParameters": object{},
			"topology": object{"type": "clos", "topologyTiers": 1, "components": []any{}},
		}
		body[collection] = []any{declared}
		made := user.Post(configurations, body).Want(201).Object()
		if collection == "components" { // GET shows only those that the topology reaches
			if made["componentCount"] != 1.0 {
				t.Errorf("%s: got %v, want 1 component", e.Model, made)
			}
			continue
		}
		if diff := cmp.Diff([]any{declared}, made[collection]); diff != "" {
			t.Errorf("%s in a configuration (-want +got):\n%s", e.Model, diff)
		}
	}
	for _, unknown := range []string{"nothing-v1", "model_x", "gpu-v1?version=9.9.9"} {
		user.Get(models+"/"+unknown).Refused(404, "NOT_FOUND")
	}
	user.Get(models+"/gpu-v1?version=one").Refused(400, "VALIDATION_ERROR")
	user.Get(models+"/gpu-v1?notes=true").Refused(400, "VALIDATION_ERROR")
	p.Bearer(t, "").Get(models+"/gpu-v1").Refused(401, "UNAUTHORIZED")
}

func TestListModelVersions(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, servicetest.NewAccount())
	want := object{"id": "model_0000000000e008000000000008", "model": "clos-switch-v1", "versions": []any{
		object{"version": "1.0.0", "status": "stable", "compatibility": object{"minEngine": "1.0.0"}},
	}}
	for _, name := range []string{"clos-switch-v1", "model_0000000000e008000000000008"} {
		if diff := cmp.Diff(want, user.Get(models+"/"+name+"/versions").Want(200).Object()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	user.Get(models+"/nothing-v1/versions").Refused(404, "NOT_FOUND")
	user.Get(models+"/clos-switch-v1/versions?limit=1").Refused(400, "VALIDATION_ERROR")
	p.Bearer(t, "").Get(models+"/clos-switch-v1/versions").Refused(401, "UNAUTHORIZED")
}

func TestListChartDefinitions(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, servicetest.NewAccount())
	reply := user.Get(charts).Want(200)
	got := reply.Object()
	var shown []string
	for _, d := range got["definitions"].([]any) {
		shown = append(shown, d.(object)["id"].(string))
	}
	want := []string{"collective-times", "fct-cdf", "link-utilisation-by-tier", "progress-cdf", "rank-completion", "throughput-by-tier"}
	if diff := cmp.Diff(want, shown); diff != "" || got["schemaVersion"] != 1.0 {
		t.Errorf("schema version %v, ids (-want +got):\n%s", got["schemaVersion"], diff)
	}
	tag := reply.Header.Get("ETag")
	if same := user.Get(charts, servicetest.Header{Name: "If-None-Match", Value: `"0", W/` + tag}).Want(304); len(same.Body) > 0 || same.Header.Get("ETag") != tag {
		t.Errorf("got the 304 response %v %s, want the same entity tag and no body", same.Header, same.Body)
	}
	user.Get(charts, servicetest.Header{Name: "If-None-Match", Value: `"0"`}).Want(200)
	user.Get(charts+"?limit=1").Refused(400, "VALIDATION_ERROR")
	p.Bearer(t, "").Get(charts).Refused(401, "UNAUTHORIZED")
}
