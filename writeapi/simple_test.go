package writeapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
)

const (
	simple         = "/api/v1/simple/simulations"
	simulations    = "/api/v1/simulations"
	configurations = "/api/v1/configurations"
)

type object = map[string]any

func workload(ranks int, phases ...object) object {
	return object{"workload": object{"ranks": ranks, "phases": phases}}
}

func phase(operation, algorithm string, size int) object {
	p := object{"operationType": operation, "dataSize": size}
	if algorithm != "" {
		p["algorithm"] = algorithm
	}
	return p
}

func TestSubmitSimple(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))

	reply := user.Post(simple, workload(64, phase("allReduce", "", 1<<20), phase("broadcast", "sequential", 1000))).Want(202)
	got := reply.Object()
	id := got["simulationId"].(string)
	if reply.Header.Get("Location") != simulations+"/"+id {
		t.Errorf("got the Location %s, want that of the simulation", reply.Header.Get("Location"))
	}
	want := object{"simulationId": id, "status": "accepted", "mode": "sequential", "workload": object{
		"ranks": 64.0, "phases": []any{
			object{"operationType": "allReduce", "algorithm": "ring", "dataSize": 1048576.0},
			object{"operationType": "broadcast", "algorithm": "sequential", "dataSize": 1000.0},
		}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}

	// When the response arrives, the simulation and its validated configuration with
	// a traceset exist.
	s := user.Get(simulations + "/" + id).Want(200).Object()
	if s["workspaceId"] != events.DefaultWorkspace || s["configurationVersion"] != 1.0 ||
		s["name"] != fmt.Sprintf("simple-allreduce-64-%s", id[len(id)-8:]) || s["status"] == "accepted" || s["status"] == "validating" {
		t.Errorf("got the simulation %v", s)
	}
	if want := events.DerivedID(events.ConfigurationPrefix, id); s["configurationId"] != want {
		t.Errorf("configuration %v, want %s", s["configurationId"], want)
	}
	c := user.Get(configurations + "/" + s["configurationId"].(string)).Want(200).Object()
	if c["status"] != "validated" || c["name"] != s["name"] || c["activeTraceset"] == nil {
		t.Errorf("got the configuration %v, want it validated with a traceset", c)
	}

	// The same workload of the same account has the same traceset.
	again := user.Post(simple, workload(64, phase("allReduce", "ring", 1<<20), phase("broadcast", "sequential", 1000))).Want(202).Object()
	twin := user.Get(configurations + "/" + events.DerivedID(events.ConfigurationPrefix, again["simulationId"].(string))).Want(200).Object()
	if diff := cmp.Diff(c["activeTraceset"], twin["activeTraceset"]); diff != "" {
		t.Errorf("the same workload has another traceset (-first +second):\n%s", diff)
	}
}

func TestSubmitSimpleGroups(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	groups := []object{{"count": 2, "groupSize": 4, "phases": []object{phase("allGather", "", 65536)}}}
	got := user.Post(simple, object{"name": "parts*of-a_run", "groups": groups}).Want(202).Object()
	want := object{"simulationId": got["simulationId"], "status": "accepted", "mode": "parallel", "groups": []any{
		object{"count": 2.0, "groupSize": 4.0, "phases": []any{object{"operationType": "allGather", "algorithm": "ring", "dataSize": 65536.0}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if s := user.Get(simulations + "/" + got["simulationId"].(string)).Want(200).Object(); s["name"] != "parts*of-a_run" {
		t.Errorf("got the name %v, want the one in the request", s["name"])
	}
}

func TestSubmitSimpleOnce(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	body := workload(8, phase("allReduce", "", 1024))
	first := user.Post(simple, body, key("k")).Want(202).Object()
	if diff := cmp.Diff(first, user.Post(simple, body, key("k")).Want(202).Object()); diff != "" {
		t.Errorf("the repetition gets another response (-first +second):\n%s", diff)
	}
	user.Post(simple, workload(16, phase("allReduce", "", 1024)), key("k")).Refused(422, "UNPROCESSABLE_ENTITY")
	// JSON has one number type, so 8.0 is 8, and the request is the same.
	same := []byte(`{"workload":{"ranks":8.0,"phases":[{"operationType":"allReduce","dataSize":1.024e3}]}}`)
	if diff := cmp.Diff(first, user.Post(simple, same, key("k")).Want(202).Object()); diff != "" {
		t.Errorf("other notations of the same numbers get another response (-first +second):\n%s", diff)
	}
	if list := user.Get(simulations).Want(200).Object()["simulations"].([]any); len(list) != 1 {
		t.Errorf("got %d simulations, want 1", len(list))
	}
}

// TestSimpleRefusals: submit and preview refuse the same requests with the same
// messages (completions 4.1).
func TestSimpleRefusals(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	user := p.User(t, account)
	ring := phase("allReduce", "", 1)
	with := func(body object, name string, value any) object { body[name] = value; return body }
	constraints := object{"switchRadix": "128x400G", "subscriptionRatio": "1:1"}
	for want, body := range map[string]any{
		"ranks must be one of [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096], got 12":                                          workload(12, ring),
		"algorithm 'halving' is not compatible with operation 'allReduce'; allowed algorithms: ring, recursiveHalvingDoubling":   workload(8, phase("allReduce", "halving", 1)),
		"topologyConstraints and topology are mutually exclusive":                                                                with(with(workload(8, ring), "topologyConstraints", constraints), "topology", "x"),
		"topology is reserved and must be absent; use topologyConstraints":                                                       with(workload(8, ring), "topology", "x"),
		"exactly one of workload and groups is required":                                                                         object{"name": "x"},
		"algorithm 'recursiveHalvingDoubling' requires a power-of-two group size, got 12":                                        with(workload(12, phase("allReduce", "recursiveHalvingDoubling", 1)), "topologyConstraints", constraints),
		"operationType 'gather' is unknown; known operations: allReduce, allGather, reduceScatter, allToAll, broadcast, scatter": workload(8, phase("gather", "", 1)),
		"70000 ranks exceed the 65536 supported by 64x800G at 1:1":                                                               with(workload(70000, ring), "topologyConstraints", object{"switchRadix": "64x800G"}),
		"70001 ranks exceed the 65536 supported by 128x400G at 1:1":                                                              with(object{"groups": []object{{"count": 70001, "groupSize": 1, "phases": []object{ring}}}}, "topologyConstraints", constraints),
		"workload.ranks must be between 1 and 65536, got 70000":                                                                  with(workload(70000, ring), "topologyConstraints", object{"subscriptionRatio": "2:1"}),
		"workload.phases[0].dataSize must be between 1 and 1099511627776, got 0":                                                 workload(8, phase("allReduce", "", 0)),
	} {
		for _, path := range []string{simple, simple + "/preview"} {
			if got := user.Post(path, body).Refused(400, "VALIDATION_ERROR"); got != want {
				t.Errorf("%s: %q, want %q", path, got, want)
			}
		}
	}
	both := with(workload(8, ring), "groups", []object{{"count": 1, "groupSize": 8, "phases": []object{ring}}})
	user.Post(simple, both).Refused(400, "VALIDATION_ERROR")
	for _, name := range []string{"-x", "a b", "", strings.Repeat("x", 256)} {
		user.Post(simple, with(workload(8, ring), "name", name)).Refused(400, "VALIDATION_ERROR")
	}
	user.Post(simple, with(workload(8, ring), "topologyConstraints", object{"switchRadix": "1x1G"})).Refused(400, "VALIDATION_ERROR")
	user.Post(simple, with(workload(8, ring), "colour", 1)).Refused(400, "VALIDATION_ERROR")
	user.Post(simple, []byte(`{"workload"`)).Refused(400, "VALIDATION_ERROR")
	p.Bearer(t, "").Post(simple, workload(8, ring)).Refused(401, "UNAUTHORIZED")
	p.Client(t, devissuer.Options{Service: true, Account: "*"}).Post(simple, workload(8, ring)).Refused(403, "FORBIDDEN")
	if list := user.Get(simulations).Want(200).Object()["simulations"].([]any); len(list) != 0 {
		t.Errorf("refusals and previews created %v, want nothing", list)
	}
}
