package writeapi_test

import (
	"maps"
	"strings"
	"testing"

	"netsim/events"
	"netsim/internal/servicetest"
)

// oneRack returns a configuration of one rack with eight servers.
func oneRack(name string) object {
	return object{
		"name": name,
		"components": []object{
			{"type": "switch", "model": "clos-switch-v1", "name": "leaf", "version": "1.0.0",
				"typedParameters": object{"NumDownLinks": object{"value": 8, "type": "uint"}}},
			{"type": "nic", "model": "roce-nic-v1", "name": "nic", "version": "1.0.0"},
			{"type": "nic", "model": "roce-nic-v1", "name": "spare", "version": "1.0.0"},
			{"type": "server", "model": "gpu-server-v1", "name": "server", "version": "1.0.0",
				"components": []object{{"name": "nic", "type": "nic"}}},
		},
		"containers": []object{{"type": "rack", "name": "rack", "model": "leaf-rack-v1", "version": "1.0.0",
			"components": []object{{"name": "leaf", "type": "switch"}, {"name": "server", "type": "server", "count": 8}}}},
		"applications":     []object{{"type": "application", "trafficType": "coordinated", "name": "workload", "model": "chakra-workload-v1", "version": "1.0.0"}},
		"links":            []object{},
		"topology":         object{"type": "clos", "topologyTiers": 1, "components": []object{{"name": "rack", "type": "rack"}}},
		"globalParameters": object{},
	}
}

func with(body object, changes object) object {
	body = maps.Clone(body)
	maps.Copy(body, changes)
	return body
}

// newValidConfiguration creates a validated configuration in a workspace, with the
// document and the traceset of a simple submission.
func newValidConfiguration(t *testing.T, c *servicetest.Client, workspace string, body object) string {
	t.Helper()
	id := submit(t, c, body)
	made := c.Get(configurations + "/" + events.DerivedID(events.ConfigurationPrefix, id)).Want(200).Object()
	copied := object{"name": "copy", "workspaceId": workspace, "activeTraceset": object{"id": made["activeTraceset"].(object)["id"]}}
	for _, member := range []string{"components", "containers", "applications", "links", "topology", "globalParameters"} {
		copied[member] = made[member]
	}
	again := c.Post(configurations, copied).Want(201).Object()["id"].(string)
	if report := c.Post(configurations+"/"+again+"/validate", nil).Want(200).Object(); report["valid"] != true {
		t.Fatalf("got the report %v, want valid", report)
	}
	if body := c.Post(simulations+"/"+id+"/terminate", nil); body.Status != 200 && body.Status != 409 {
		body.Want(200)
	}
	return again
}

func TestCreateConfiguration(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	user := p.User(t, account)
	reply := user.Post(configurations, oneRack("one rack"), key("k")).Want(201)
	c := reply.Object()
	id := c["id"].(string)
	if reply.Header.Get("Location") != configurations+"/"+id || reply.Header.Get("ETag") != `"1"` {
		t.Errorf("got the headers %v, want the Location and the entity tag of the new resource", reply.Header)
	}
	if c["status"] != "draft" || c["version"] != 1.0 || c["componentCount"] != 4.0 || c["workspaceId"] != events.DefaultWorkspace {
		t.Errorf("got %v, want draft 1 with 4 components in the default workspace", c)
	}
	if n := len(c["components"].([]any)); n != 3 {
		t.Errorf("got %d components, want the 3 that the topology reaches", n)
	}
	if a := c["applications"].([]any)[0].(object); a["trafficType"] != "chakra" || a["typedParameters"].(object)["ChakraConfiguration"] == nil {
		t.Errorf("got the application %v, want chakra with default parameters", a)
	}
	if g := c["globalParameters"].(object); g["SimulationParameters"] == nil || g["SoftwareVersion"] == nil {
		t.Errorf("got the global parameters %v, want the defaults", g)
	}
	// A member that completions 3.2 does not mark as optional is present even if it
	// is empty.
	strange := with(oneRack("strange"), object{"components": []object{{"type": "switch", "model": "nothing-v1", "name": "leaf", "version": "1.0.0"}}})
	for _, c := range []object{c, user.Post(configurations, strange).Want(201).Object()} {
		for list, members := range map[string][]string{
			"components": {"typedParameters", "allowedComponents", "components"},
			"containers": {"configuration", "allowedComponents", "components"},
		} {
			for _, holder := range c[list].([]any) {
				for _, member := range members {
					if value, there := holder.(object)[member]; !there || (value == nil) != (member == "configuration") {
						t.Errorf("%s of %v is %v", member, holder, value)
					}
				}
			}
		}
	}
	if again := user.Post(configurations, oneRack("one rack"), key("k")).Want(201).Object(); again["id"] != id {
		t.Error("the repetition made another configuration")
	}
	user.Post(configurations, oneRack("two racks"), key("k")).Refused(422, "UNPROCESSABLE_ENTITY")

	for name, c := range map[string]struct {
		changes object
		status  int
		code    string
		message string
	}{
		"unknown workspace":        {object{"workspaceId": events.NewID(events.WorkspacePrefix)}, 404, "NOT_FOUND", ""},
		"template workspace":       {object{"workspaceId": events.TemplateWorkspace}, 400, "VALIDATION_ERROR", "template"},
		"malformed workspace":      {object{"workspaceId": "workspace_x"}, 400, "VALIDATION_ERROR", "workspaceId"},
		"no components":            {object{"components": nil}, 400, "VALIDATION_ERROR", "components"},
		"unknown member":           {object{"colour": 1}, 400, "VALIDATION_ERROR", "colour"},
		"blank name":               {object{"name": " "}, 400, "VALIDATION_ERROR", "name"},
		"unknown traceset":         {object{"activeTraceset": object{"id": events.NewID(events.TracesetPrefix)}}, 400, "VALIDATION_ERROR", "activeTraceset.id"},
		"malformed traceset":       {object{"activeTraceset": object{"id": "ts_x"}}, 400, "VALIDATION_ERROR", "activeTraceset.id"},
		"a malformed parameter":    {object{"globalParameters": object{"SimulationParameters": object{"Mtu": 1}}}, 400, "VALIDATION_ERROR", "globalParameters.SimulationParameters.Mtu must be an object"},
		"a section of the service": {object{"globalParameters": object{"ComputeConfiguration": object{}}}, 400, "VALIDATION_ERROR", "set by the service"},
		"a link of another type":   {object{"links": []object{{"type": "nic", "model": "roce-nic-v1", "name": "n", "version": "1.0.0"}}}, 400, "VALIDATION_ERROR", "links[0].type"},
		"a duplicate name":         {object{"containers": []object{{"type": "rack", "name": "leaf", "model": "leaf-rack-v1", "version": "1.0.0"}}}, 400, "VALIDATION_ERROR", "'leaf' is taken"},
		"another topology type":    {object{"topology": object{"type": "mesh", "topologyTiers": 1, "components": []object{}}}, 400, "VALIDATION_ERROR", "topology.type"},
	} {
		t.Run(name, func(t *testing.T) {
			if message := user.Post(configurations, with(oneRack("x"), c.changes)).Refused(c.status, c.code); !strings.Contains(message, c.message) {
				t.Errorf("got the message %q, want %q in it", message, c.message)
			}
		})
	}
	other := newWorkspace(t, p.Service(t, account), "other")
	p.User(t, account, events.NewID(events.WorkspacePrefix)).
		Post(configurations, with(oneRack("x"), object{"workspaceId": other})).Refused(403, "FORBIDDEN")
	p.Bearer(t, "").Post(configurations, oneRack("x")).Refused(401, "UNAUTHORIZED")
}

func TestValidateConfiguration(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	id := user.Post(configurations, oneRack("one rack")).Want(201).Object()["id"].(string)
	path := configurations + "/" + id

	reply := user.Post(path+"/validate", nil, ifMatch(`"1"`)).Want(200)
	report := reply.Object()
	if report["valid"] != false || report["status"] != "error" || reply.Header.Get("ETag") != `"1"` {
		t.Errorf("got entity tag %s and report %v, want an error in version 1", reply.Header.Get("ETag"), report)
	}
	if errs := report["errors"].([]any); len(errs) != 1 || errs[0].(object)["code"] != "TRACESET_REQUIRED" {
		t.Errorf("got the errors %v, want TRACESET_REQUIRED", errs)
	}
	if n := len(report["info"].([]any)); n != 2 { // the unreachable NIC, and the closing note
		t.Errorf("got the info %v, want 2 findings", report["info"])
	}
	if c := user.Get(path).Want(200).Object(); c["status"] != "invalid" || c["version"] != 1.0 {
		t.Errorf("got status %v and version %v, want invalid and 1", c["status"], c["version"])
	}
	user.Post(path+"/validate", nil, key("k")).Want(200)
	user.Post(path+"/validate", nil, key("k")).Want(200)
	user.Post(path+"/validate", nil, ifMatch(`"2"`)).Refused(412, "PRECONDITION_FAILED")

	valid := newValidConfiguration(t, user, events.DefaultWorkspace, workload(8, phase("allReduce", "", 1024)))
	if c := user.Get(configurations + "/" + valid).Want(200).Object(); c["status"] != "validated" {
		t.Errorf("got the status %v, want validated", c["status"])
	}
	user.Post(configurations+"/config_x/validate", nil).Refused(400, "VALIDATION_ERROR")
	user.Post(configurations+"/"+events.NewID(events.ConfigurationPrefix)+"/validate", nil).Refused(404, "NOT_FOUND")
	p.User(t, servicetest.NewAccount()).Post(path+"/validate", nil).Refused(404, "NOT_FOUND")
}

func TestDeleteConfiguration(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	id := user.Post(configurations, oneRack("one rack")).Want(201).Object()["id"].(string)
	path := configurations + "/" + id
	p.User(t, servicetest.NewAccount()).Delete(path).Refused(404, "NOT_FOUND")
	user.Delete(path, ifMatch(`"2"`)).Refused(412, "PRECONDITION_FAILED")
	user.Delete(path, ifMatch(`"1"`), key("k")).Want(204)
	user.Delete(path, ifMatch(`"1"`), key("k")).Want(204)
	for _, gone := range []servicetest.Reply{
		user.Delete(path), user.Get(path), user.Get(path + "/versions"), user.Get(path + "/versions/1"), user.Post(path+"/validate", nil),
	} {
		gone.Refused(404, "NOT_FOUND")
	}
	user.Delete(configurations+"/config_x").Refused(400, "VALIDATION_ERROR")
}
