package writeapi_test

import (
	"strings"
	"testing"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/internal/servicetest"
)

// A traceset can be attached, replaced and detached; wrong ones are refused
// (completions 3.5 rows 31, 37).
func TestAttachTraceset(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	user, path := newWorkbenchOf(t, p, account)
	h := p.Beside(t).Commands
	attach := func(c *servicetest.Client, id any, more ...servicetest.Header) servicetest.Reply {
		return c.Patch(path+"/traceset", object{"tracesetId": id}, more...)
	}
	first := whole(user, path)["activeTraceset"].(object)
	second := traceset(t, user, 16)

	reply := attach(user, second, ifMatch(`"1"`)).Want(200)
	now := whole(user, path)
	same(t, "the answer", now, reply.Object())
	if a := now["activeTraceset"].(object); a["id"] != second || a["name"] == "" || ranksOf(now) != 16.0 || now["version"] != 2.0 {
		t.Errorf("got the traceset %v with %v ranks in version %v, want the second with 16 in version 2", a, ranksOf(now), now["version"])
	}
	if again := attach(user, second).Want(200); again.Header.Get("ETag") != `"2"` {
		t.Error("attaching the attached traceset again made a version")
	}
	was := user.Get(path + "/versions/1").Want(200).Object()
	same(t, "the traceset of version 1", any(first), was["activeTraceset"])
	if ranksOf(was) != 8.0 {
		t.Errorf("version 1 has %v ranks, want 8", ranksOf(was))
	}

	detached := user.Delete(path + "/traceset").Want(200)
	now = whole(user, path)
	same(t, "the answer", now, detached.Object())
	if a, there := now["activeTraceset"]; there || ranksOf(now) != 0.0 || now["version"] != 3.0 || detached.Header.Get("ETag") != `"3"` {
		t.Errorf("got the traceset %v with %v ranks in version %v, want none in version 3", a, ranksOf(now), now["version"])
	}
	user.Delete(path+"/traceset").Refused(404, "NOT_FOUND")
	user.Delete(path+"/traceset", ifMatch(`"2"`)).Refused(412, "PRECONDITION_FAILED")

	for id, want := range map[any]string{
		"":                                       "tracesetId must be",
		"x":                                      "tracesetId must be",
		nil:                                      "tracesetId must be",
		1:                                        "tracesetId must be",
		events.NewID(events.TracesetPrefix):      "is unknown",
		events.NewID(events.ConfigurationPrefix): "tracesetId must be",
		traceset(t, p.User(t, funded(t, p)), 32): "is unknown", // of another account
	} {
		if message := attach(user, id).Refused(400, "VALIDATION_ERROR"); !strings.Contains(message, want) {
			t.Errorf("%v: got the message %q, want %q in it", id, message, want)
		}
	}
	if message := user.Patch(path+"/traceset", object{}).Refused(400, "VALIDATION_ERROR"); message != "tracesetId is required" {
		t.Errorf("got the message %q, want that tracesetId is required", message)
	}
	attach(user, putTraceset(t, h, account, "uploading", 0)).Refused(409, "CONFLICT")
	attach(user, putTraceset(t, h, account, "metadata_failed", 0)).Refused(409, "CONFLICT")
	attach(user, putTraceset(t, h, account, "ready", 0)).Refused(422, "UNPROCESSABLE_ENTITY")
	attach(user, putTraceset(t, h, account, "ready", 65537)).Refused(422, "UNPROCESSABLE_ENTITY")
	// If-Match is checked before the traceset.
	attach(user, events.NewID(events.TracesetPrefix), ifMatch(`"1"`)).Refused(412, "PRECONDITION_FAILED")
	attach(user, putTraceset(t, h, account, "uploading", 0), ifMatch(`"1"`)).Refused(412, "PRECONDITION_FAILED")

	// The largest traceset can be attached. A repetition succeeds even after the
	// traceset is deleted.
	most := putTraceset(t, h, account, "ready", 65536)
	attach(user, most, key("k")).Want(200)
	deleteTraceset(t, h, most)
	attach(user, most, key("k")).Want(200)
	attach(user, most).Refused(400, "VALIDATION_ERROR")
	if now := whole(user, path); ranksOf(now) != 65536.0 || now["version"] != 4.0 {
		t.Errorf("got %v ranks in version %v, want 65536 in version 4", ranksOf(now), now["version"])
	}
	if body := string(user.Post(path+"/validate", nil).Want(200).Body); !strings.Contains(body, "TRACESET_DELETED") {
		t.Errorf("got the report %s, want TRACESET_DELETED", body)
	}

	if message := user.Delete(path+"/applications/workload").Refused(409, "CONFLICT"); !strings.Contains(message, "ts_") {
		t.Errorf("got the message %q, want one that names the traceset", message)
	}
	user.Delete(path + "/traceset").Want(200)
	user.Delete(path + "/applications/workload").Want(200)
	if message := attach(user, second).Refused(400, "VALIDATION_ERROR"); !strings.Contains(message, "chakra") {
		t.Errorf("got the message %q, want chakra in it", message)
	}
}

// TestCreateConfigurationTraceset: creating a configuration with a traceset is
// refused for the same reasons as attaching one later.
func TestCreateConfigurationTraceset(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	user, h := p.User(t, account), p.Beside(t).Commands
	create := func(status string, ranks int64) servicetest.Reply {
		return user.Post(configurations, workbench(putTraceset(t, h, account, status, ranks)))
	}
	create("uploading", 0).Refused(409, "CONFLICT")
	create("ready", 0).Refused(422, "UNPROCESSABLE_ENTITY")
	create("ready", 65537).Refused(422, "UNPROCESSABLE_ENTITY")
	made := create("ready", 12).Want(201).Object()
	if ranksOf(made) != 12.0 {
		t.Errorf("got %v ranks, want 12", ranksOf(made))
	}
	bare := with(workbench(putTraceset(t, h, account, "ready", 12)), object{"applications": []object{}})
	if message := user.Post(configurations, bare).Refused(400, "VALIDATION_ERROR"); !strings.Contains(message, "chakra") {
		t.Errorf("got the message %q, want chakra in it", message)
	}
	// The rank count survives later changes of the applications.
	path := configurations + "/" + made["id"].(string)
	changed := user.Patch(path, object{"applications": made["applications"]}, ifMatch("*")).Want(200).Object()
	if ranksOf(changed) != 12.0 {
		t.Errorf("got %v ranks after a change, want 12", ranksOf(changed))
	}
}

// putTraceset creates a traceset directly, because no operation creates one in
// every status.
func putTraceset(t *testing.T, h *handle.Handler, account, status string, ranks int64) string {
	t.Helper()
	id := events.NewID(events.TracesetPrefix)
	to := handle.Target{Stream: id, PartitionKey: events.DefaultWorkspace, Fresh: true}
	created := events.TracesetCreated{
		AccountID: account, WorkspaceID: events.DefaultWorkspace, Name: "traces", Format: "chakra_et_v1", Status: status, RankCount: ranks,
	}
	if _, err := handle.Command(t.Context(), h, to, handle.Origin{Actor: "tester"},
		commands.Command[commands.Traceset](commands.CreateTraceset{Created: created})); err != nil {
		t.Fatal(err)
	}
	return id
}

func deleteTraceset(t *testing.T, h *handle.Handler, id string) {
	t.Helper()
	to := handle.Target{Stream: id, PartitionKey: events.DefaultWorkspace}
	if _, err := handle.Command(t.Context(), h, to, handle.Origin{Actor: "tester"},
		commands.Command[commands.Traceset](commands.DeleteTraceset{ID: id, Reason: "request"})); err != nil {
		t.Fatal(err)
	}
}
