package writeapi_test

import (
	"strings"
	"testing"

	"netsim/events"
	"netsim/internal/servicetest"
	"netsim/simulator/document"
)

// mappingOf returns the chakra application's parameters UseMapping and
// MappingFileName.
func mappingOf(c object) []any {
	of := func(name string) any {
		return pick(find(c["applications"], "workload"), "typedParameters.ChakraConfiguration."+name+".value")
	}
	return []any{of("UseMapping"), of("MappingFileName")}
}

// A mapping file can be attached, replaced and detached; wrong ones are refused
// (document 2, completions 3.5 rows 35, 36).
func TestAttachMappingFile(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	user, path := newWorkbenchOf(t, p, account)
	files := newRecorder(t, p)
	attach := func(id any, more ...servicetest.Header) servicetest.Reply {
		return user.Patch(path+"/mapping-file", object{"mappingFileId": id}, more...)
	}
	on := []any{true, "chakra-mapping.txt"}
	off := []any{false, ""}
	eight := files.record(account, events.DefaultWorkspace, "eight.txt", identityMapping(8))
	another := files.record(account, events.DefaultWorkspace, "another.txt", "# another\n"+identityMapping(8))

	user.Delete(path+"/mapping-file").Refused(404, "NOT_FOUND")
	reply := attach(eight, ifMatch(`"1"`), key("k")).Want(200)
	now := whole(user, path)
	same(t, "the answer", now, reply.Object())
	same(t, "activeMappingFile", any(object{"id": eight, "name": "eight.txt", "deleted": false}), now["activeMappingFile"])
	same(t, "parameters", on, mappingOf(now))
	if now["version"] != 2.0 || now["status"] != "draft" || reply.Header.Get("ETag") != `"2"` {
		t.Errorf("got version %v, status %v, entity tag %s, want draft 2", now["version"], now["status"], reply.Header.Get("ETag"))
	}
	for range 2 {
		if again := attach(eight).Want(200); again.Header.Get("ETag") != `"2"` {
			t.Error("attaching the attached file again made a version")
		}
	}
	attach(eight, ifMatch(`"1"`), key("k")).Want(200)
	was := user.Get(path + "/versions/1").Want(200).Object()
	if a, there := was["activeMappingFile"]; there || mappingOf(was)[0] != false {
		t.Errorf("version 1 has the mapping file %v and the parameters %v, want none", a, mappingOf(was))
	}
	same(t, "version 2", now["activeMappingFile"], user.Get(path + "/versions/2").Want(200).Object()["activeMappingFile"])
	attach(another).Want(200)
	changes := string(user.Get(path + "/diff?from=2&to=3").Want(200).Body)
	if !strings.Contains(changes, "/activeMappingFile/id") || !strings.Contains(changes, another) {
		t.Errorf("got the diff %s, want the id of the other file", changes)
	}

	reply = user.Delete(path+"/mapping-file", ifMatch(`"3"`), key("d")).Want(200)
	now = whole(user, path)
	same(t, "the answer", now, reply.Object())
	same(t, "parameters", off, mappingOf(now))
	if a, there := now["activeMappingFile"]; there || now["version"] != 4.0 || reply.Header.Get("ETag") != `"4"` {
		t.Errorf("got the mapping file %v in version %v, want none in version 4", a, now["version"])
	}
	user.Delete(path+"/mapping-file", ifMatch(`"3"`), key("d")).Want(200)
	user.Delete(path+"/mapping-file").Refused(404, "NOT_FOUND")
	user.Delete(path+"/mapping-file", ifMatch(`"3"`)).Refused(412, "PRECONDITION_FAILED")
	user.Get(mappingFiles + "/" + another).Want(200)

	unknown := events.NewID(events.MappingFilePrefix)
	own := newWorkspace(t, p.Service(t, account), "own")
	deleted := files.record(account, events.DefaultWorkspace, "deleted.txt", identityMapping(8))
	user.Delete(mappingFiles + "/" + deleted).Want(204)
	for name, c := range map[string]struct {
		id     any
		status int
		code   string
	}{
		"none":                 {nil, 400, "VALIDATION_ERROR"},
		"malformed":            {"mapfile_x", 400, "VALIDATION_ERROR"},
		"of another kind":      {events.NewID(events.TracesetPrefix), 400, "VALIDATION_ERROR"},
		"a number":             {1, 400, "VALIDATION_ERROR"},
		"unknown":              {unknown, 404, "NOT_FOUND"},
		"deleted":              {deleted, 404, "NOT_FOUND"},
		"in another workspace": {files.record(account, own, "eight.txt", identityMapping(8)), 404, "NOT_FOUND"},
		"of another account":   {files.record(servicetest.NewAccount(), events.DefaultWorkspace, "eight.txt", identityMapping(8)), 404, "NOT_FOUND"},
		"too few ranks":        {files.record(account, events.DefaultWorkspace, "seven.txt", identityMapping(7)), 422, "MAPPING_RANK_COUNT_MISMATCH"},
		"too many ranks":       {files.record(account, events.DefaultWorkspace, "nine.txt", identityMapping(9)), 422, "MAPPING_RANK_COUNT_MISMATCH"},
	} {
		t.Run(name, func(t *testing.T) {
			attach(c.id).Refused(c.status, c.code)
		})
	}
	attach(eight, ifMatch(`"3"`)).Refused(412, "PRECONDITION_FAILED")
	attach(unknown, ifMatch(`"3"`)).Refused(412, "PRECONDITION_FAILED")
	user.Patch(path+"/mapping-file", object{}).Refused(400, "VALIDATION_ERROR")
	user.Patch(path+"/mapping-file", object{"mappingFileId": eight, "name": "x"}).Refused(400, "VALIDATION_ERROR")
	gone := configurations + "/" + events.NewID(events.ConfigurationPrefix)
	for _, c := range []struct {
		client *servicetest.Client
		path   string
		status int
		code   string
	}{
		{user, configurations + "/config_x", 400, "VALIDATION_ERROR"},
		{user, gone, 404, "NOT_FOUND"},
		{p.User(t, servicetest.NewAccount()), path, 404, "NOT_FOUND"},
		{p.Bearer(t, ""), path, 401, "UNAUTHORIZED"},
		{user, configurations + "/" + template(t, user), 400, "VALIDATION_ERROR"},
	} {
		c.client.Patch(c.path+"/mapping-file", object{"mappingFileId": eight}).Refused(c.status, c.code)
		c.client.Delete(c.path+"/mapping-file").Refused(c.status, c.code)
	}
}

func template(t *testing.T, c *servicetest.Client) string {
	t.Helper()
	return c.Get("/api/v1/templates?limit=1").Want(200).Object()["templates"].([]any)[0].(object)["id"].(string)
}

// TestAttachMappingFileOrder: if several conditions fail, the refusal names the
// one that is first in completions 3.5 row 35.
func TestAttachMappingFileOrder(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	user, path := newWorkbenchOf(t, p, account)
	h := p.Beside(t).Commands
	unknown := object{"mappingFileId": events.NewID(events.MappingFilePrefix)}
	user.Patch(path+"/mapping-file", unknown).Refused(404, "NOT_FOUND")
	user.Delete(path + "/traceset").Want(200)
	user.Patch(path+"/mapping-file", unknown).Refused(409, "MAPPING_REQUIRES_TRACESET")
	user.Delete(path + "/applications/workload").Want(200)
	user.Patch(path+"/mapping-file", unknown).Refused(422, "MAPPING_REQUIRES_CHAKRA_APP")

	// No operation attaches a traceset whose rank count is unknown, so the
	// configuration is created directly.
	doc := `{"applications":[{"type":"application","trafficType":"chakra","name":"workload","model":"chakra-workload-v1","version":"1.0.0"}],"topology":{"type":"clos"}}`
	if _, err := document.Parse(doc); err != nil {
		t.Fatal(err)
	}
	id := createDirectly(t, h, events.ConfigurationCreated{
		AccountID: account, WorkspaceID: events.DefaultWorkspace, Name: "early", Document: doc, Status: "draft",
		TracesetID: putTraceset(t, h, account, "processing", 0),
	})
	user.Patch(configurations+"/"+id+"/mapping-file", unknown).Refused(409, "CONFLICT")
}

// TestAttachedMappingFileLocks: while a mapping file is attached, changes that
// would make it invalid are refused (completions 3.5 rows 4, 7, 9, 31, 37; 3.7).
func TestAttachedMappingFileLocks(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	user, path := newWorkbenchOf(t, p, account)
	file := newRecorder(t, p).record(account, events.DefaultWorkspace, "eight.txt", identityMapping(8))
	user.Patch(path+"/mapping-file", object{"mappingFileId": file}).Want(200)
	whole := func() object { return user.Get(path).Want(200).Object() }
	eight, sixteen := whole()["activeTraceset"].(object)["id"], traceset(t, user, 16)
	applications := func(change object) []any {
		list := whole()["applications"].([]any)
		app := find(list, "workload")
		for name, value := range change {
			app["typedParameters"].(object)["ChakraConfiguration"].(object)[name] = value
		}
		return list
	}
	parameters := func(patch object) servicetest.Reply {
		return user.Patch(path+"/applications/workload/parameters", object{"ChakraConfiguration": patch})
	}
	patch := func(body object) servicetest.Reply { return user.Patch(path, body, ifMatch("*")) }

	parameters(object{"UseMapping": leaf(false, "bool", "")}).Refused(422, "MAPPING_PARAMS_LOCKED")
	parameters(object{"UseMapping": leaf(true, "bool", "")}).Refused(422, "MAPPING_PARAMS_LOCKED")
	parameters(object{"MappingFileName": leaf("other.txt", "string", ""), "Scaling": leaf(true, "bool", "")}).Refused(422, "MAPPING_PARAMS_LOCKED")
	patch(object{"applications": applications(object{"UseMapping": leaf(false, "bool", "")})}).Refused(422, "MAPPING_PARAMS_LOCKED")
	patch(object{"applications": applications(object{"MappingFileName": leaf("other.txt", "string", "")})}).Refused(422, "MAPPING_PARAMS_LOCKED")
	patch(object{"activeTraceset": object{"id": sixteen}}).Refused(409, "TRACESET_CONFLICTS_WITH_MAPPING")
	patch(object{"activeMappingFile": object{"id": file}}).Refused(400, "VALIDATION_ERROR")
	user.Post(path+"/applications?modelId=chakra-workload-v1&name=second", nil).Refused(422, "MAPPING_PARAMS_LOCKED")
	user.Patch(path+"/traceset", object{"tracesetId": sixteen}).Refused(409, "TRACESET_CONFLICTS_WITH_MAPPING")
	user.Delete(path+"/traceset").Refused(409, "TRACESET_CONFLICTS_WITH_MAPPING")
	if v := whole()["version"]; v != 2.0 {
		t.Fatalf("got version %v after refusals, want 2", v)
	}

	// Changes that keep the attachment valid are accepted.
	parameters(object{"Scaling": leaf(true, "bool", "")}).Want(200)
	patch(object{"applications": applications(nil), "name": "renamed"}).Want(200)
	patch(object{"activeTraceset": object{"id": eight}}).Want(200)
	user.Patch(path+"/traceset", object{"tracesetId": eight}).Want(200)
	user.Patch(path+"/traceset", object{"tracesetId": putTraceset(t, p.Beside(t).Commands, account, "ready", 8)}).Want(200)
	same(t, "parameters", []any{true, "chakra-mapping.txt"}, mappingOf(whole()))

	user.Delete(path + "/mapping-file").Want(200)
	parameters(object{"UseMapping": leaf(true, "bool", "")}).Want(200)
	user.Patch(path+"/traceset", object{"tracesetId": sixteen}).Want(200)
}

// TestMappingFileInUse: a configuration with a mapping file can be validated,
// started and cloned. After the file is deleted, versions with it cannot be started.
func TestMappingFileInUse(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	user, files := p.User(t, account), newRecorder(t, p)
	id := newValidConfiguration(t, user, events.DefaultWorkspace, workload(8, phase("allReduce", "", 1024)))
	path := configurations + "/" + id
	validate := func() string { return string(user.Post(path+"/validate", nil).Want(200).Body) }
	start := func(name string) servicetest.Reply {
		return user.Post(simulations, object{"configurationId": id, "name": name, "duration": "1s"})
	}

	// The file places rank 7 on a server that the topology does not have.
	far := files.record(account, events.DefaultWorkspace, "far.txt", strings.Replace(identityMapping(8), "7, 7", "7, 4000", 1))
	user.Patch(path+"/mapping-file", object{"mappingFileId": far}).Want(200)
	if report := validate(); !strings.Contains(report, "MAPPING_SERVER_UNKNOWN") || !strings.Contains(report, "rank 7 on server 4000") {
		t.Errorf("got the report %s, want rank 7 on an unknown server", report)
	}
	start("far").Refused(422, "UNPROCESSABLE_ENTITY")

	near := files.record(account, events.DefaultWorkspace, "near.txt", "# near\n"+identityMapping(8))
	user.Patch(path+"/mapping-file", object{"mappingFileId": near}).Want(200)
	if report := validate(); strings.Contains(report, "MAPPING_") || !strings.Contains(report, `"errors":[]`) {
		t.Fatalf("got the report %s, want no error", report)
	}
	started := start("near").Want(201).Object()
	applied := object{"id": near, "name": "near.txt", "deleted": false}
	same(t, "appliedMappingFile", any(applied), started["appliedMappingFile"])
	simulation := simulations + "/" + started["id"].(string)
	awaitStatus(user, started["id"].(string), "completed", "failed", "invalid")
	same(t, "appliedMappingFile", any(applied), user.Get(simulation).Want(200).Object()["appliedMappingFile"])

	clone := user.Post(path+"/clone", object{"name": "clone"}).Want(201).Object()
	if a, there := clone["activeMappingFile"]; there {
		t.Errorf("the clone has the mapping file %v, want none", a)
	}
	chakra := func(c object) object {
		return pick(c["applications"].([]any)[0].(object), "typedParameters.ChakraConfiguration").(object)
	}
	was, is := chakra(whole(user, path)), chakra(clone)
	same(t, "UseMapping", any([]any{true, false}), any([]any{pick(was, "UseMapping.value"), pick(is, "UseMapping.value")}))
	same(t, "MappingFileName", any([]any{"chakra-mapping.txt", ""}), any([]any{pick(was, "MappingFileName.value"), pick(is, "MappingFileName.value")}))
	for _, c := range []object{was, is} {
		delete(c, "UseMapping")
		delete(c, "MappingFileName")
	}
	same(t, "the rest", was, is)
	if report := string(user.Post(configurations+"/"+clone["id"].(string)+"/validate", nil).Want(200).Body); strings.Contains(report, "UseMapping") {
		t.Errorf("got the report %s on the clone, want nothing about UseMapping", report)
	}

	tag := user.Get(path).Want(200).Header.Get("ETag")
	user.Delete(mappingFiles + "/" + near).Want(204)
	applied["deleted"] = true
	same(t, "activeMappingFile", any(applied), user.Get(path, servicetest.Header{Name: "If-None-Match", Value: tag}).Want(200).Object()["activeMappingFile"])
	same(t, "appliedMappingFile", any(applied), user.Get(simulation).Want(200).Object()["appliedMappingFile"])
	start("late").Refused(409, "MAPPING_FILE_DELETED_REFERENCE")
	if report := validate(); !strings.Contains(report, `"MAPPING_FILE_DELETED"`) {
		t.Errorf("got the report %s, want MAPPING_FILE_DELETED", report)
	}
	start("late").Refused(409, "MAPPING_FILE_DELETED_REFERENCE") // checked before the status
	user.Post(simulations, object{"configurationId": id, "configurationVersion": 1, "name": "earlier", "duration": "1s"}).Want(201)
	user.Delete(path + "/mapping-file").Want(200)
	if report := validate(); !strings.Contains(report, `"errors":[]`) {
		t.Errorf("got the report %s, want no error", report)
	}
	start("detached").Want(201)
}

// TestUseMappingByHand: UseMapping without a mapping file fails the validation.
func TestUseMappingByHand(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user, path := newWorkbenchOf(t, p, funded(t, p))
	user.Patch(path+"/applications/workload/parameters", object{"ChakraConfiguration": object{"UseMapping": leaf(true, "bool", "")}}).Want(200)
	report := string(user.Post(path+"/validate", nil).Want(200).Body)
	if !strings.Contains(report, "CONSTRAINT_VIOLATION") || !strings.Contains(report, "attach one") {
		t.Errorf("got the report %s, want the advice to attach a file", report)
	}
}
