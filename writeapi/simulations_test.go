package writeapi_test

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/cmd/settings"
	"netsim/events"
	"netsim/internal/servicetest"
	"netsim/internal/testwait"
)

// funded returns a new account with credit.
func funded(t *testing.T, p *servicetest.Program) string {
	t.Helper()
	account := servicetest.NewAccount()
	p.Grant(t, account, "1000000")
	return account
}

// submit submits a workload and returns the simulation's id.
func submit(t *testing.T, c *servicetest.Client, body object) string {
	t.Helper()
	return c.Post(simple, body).Want(202).Object()["simulationId"].(string)
}

// awaitStatus waits until the simulation has one of the statuses, and returns it.
func awaitStatus(c *servicetest.Client, id string, statuses ...string) object {
	return c.Eventually(simulations+"/"+id, func(r servicetest.Reply) bool {
		s, _ := r.Object()["status"].(string)
		for _, want := range statuses {
			if s == want {
				return true
			}
		}
		return false
	}).Object()
}

// long returns a workload whose simulation takes longer than any test.
func long() object {
	phases := make([]object, 1000)
	for i := range phases {
		phases[i] = phase("allToAll", "interleaved", 1<<40)
	}
	return workload(1024, phases...)
}

func TestStartSimulation(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	user := p.User(t, account)
	configuration := events.DerivedID(events.ConfigurationPrefix, submit(t, user, workload(8, phase("allReduce", "", 1024))))
	start := func(changes object) object {
		body := object{"configurationId": configuration, "name": "again", "duration": "10s"}
		for name, value := range changes {
			body[name] = value
			if value == nil {
				delete(body, name)
			}
		}
		return body
	}

	reply := user.Post(simulations, start(object{"checkpointing": object{"enabled": true}}), key("k")).Want(201)
	s := reply.Object()
	id := s["id"].(string)
	if reply.Header.Get("Location") != simulations+"/"+id || s["workspaceId"] != events.DefaultWorkspace ||
		s["configurationId"] != configuration || s["configurationVersion"] != 1.0 || s["name"] != "again" {
		t.Errorf("got Location %s and simulation %v", reply.Header.Get("Location"), s)
	}
	if s["status"] != "validating" {
		t.Errorf("got the status %v, want validating", s["status"])
	}
	user.Post(simulations, start(nil), key("k")).Refused(422, "UNPROCESSABLE_ENTITY")
	done := awaitStatus(user, id, "completed", "failed", "invalid")
	if done["status"] != "completed" || done["metrics"] == nil || done["startedAt"] == nil || done["completedAt"] == nil {
		t.Errorf("got %v in the end, want completed with metrics", done)
	}
	again := user.Post(simulations, start(object{"checkpointing": object{"enabled": true}}), key("k")).Want(201).Object()
	if diff := cmp.Diff(s, again); diff != "" {
		t.Errorf("the repetition gets another response (-first +second):\n%s", diff)
	}
	user.Post(simulations, start(object{"configurationVersion": 1, "workspaceId": events.DefaultWorkspace, "duration": "PT1H30M"})).Want(201)

	elsewhere := newWorkspace(t, p.Service(t, account), "elsewhere")
	for name, c := range map[string]struct {
		changes object
		status  int
		code    string
	}{
		"no configuration":            {object{"configurationId": nil}, 400, "VALIDATION_ERROR"},
		"malformed configuration":     {object{"configurationId": "config_x"}, 400, "VALIDATION_ERROR"},
		"unknown configuration":       {object{"configurationId": events.NewID(events.ConfigurationPrefix)}, 404, "NOT_FOUND"},
		"unknown version":             {object{"configurationVersion": 2}, 404, "NOT_FOUND"},
		"version 0":                   {object{"configurationVersion": 0}, 400, "VALIDATION_ERROR"},
		"unknown workspace":           {object{"workspaceId": events.NewID(events.WorkspacePrefix)}, 404, "NOT_FOUND"},
		"another workspace":           {object{"workspaceId": elsewhere}, 400, "VALIDATION_ERROR"},
		"no duration":                 {object{"duration": nil}, 400, "VALIDATION_ERROR"},
		"zero duration":               {object{"duration": "0s"}, 400, "VALIDATION_ERROR"},
		"too long":                    {object{"duration": "25h"}, 400, "VALIDATION_ERROR"},
		"not a duration":              {object{"duration": "soon"}, 400, "VALIDATION_ERROR"},
		"malformed name":              {object{"name": "a b"}, 400, "VALIDATION_ERROR"},
		"unknown member":              {object{"colour": "red"}, 400, "VALIDATION_ERROR"},
		"checkpoints without enabled": {object{"checkpointing": object{}}, 400, "VALIDATION_ERROR"},
		"checkpoints too often":       {object{"checkpointing": object{"enabled": true, "interval": "9s"}}, 400, "VALIDATION_ERROR"},
		"malformed interval":          {object{"checkpointing": object{"enabled": true, "interval": "x"}}, 400, "VALIDATION_ERROR"},
	} {
		t.Run(name, func(t *testing.T) {
			user.Post(simulations, start(c.changes)).Refused(c.status, c.code)
		})
	}
	if message := user.Post(simulations, start(object{"duration": "0s"})).Refused(400, "VALIDATION_ERROR"); !strings.HasPrefix(message, "duration must") {
		t.Errorf("got the message %q, want one about duration", message)
	}
	p.User(t, servicetest.NewAccount()).Post(simulations, start(nil)).Refused(404, "NOT_FOUND")
	p.Bearer(t, "").Post(simulations, start(nil)).Refused(401, "UNAUTHORIZED")
}

func TestStartNeedsAValidatedVersion(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	draft := user.Post(configurations, oneRack("draft")).Want(201).Object()["id"].(string)
	user.Post(simulations, object{"configurationId": draft, "name": "x", "duration": "1s"}).Refused(422, "UNPROCESSABLE_ENTITY")
}

func TestSubmitNeedsCredit(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	user := p.User(t, account)
	body := workload(8, phase("allReduce", "", 1))
	user.Post(simple, workload(12, phase("allReduce", "", 1))).Refused(400, "VALIDATION_ERROR")
	user.Post(simple, body, key("k")).Refused(402, "PAYMENT_REQUIRED")
	user.Post(simple+"/preview", body).Want(200)
	p.Grant(t, account, "1")
	user.Post(simple, body, key("k")).Want(202)
}

func TestTerminateSimulation(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	user := p.User(t, account)
	id := submit(t, user, long())
	path := simulations + "/" + id + "/terminate"
	// The workload has more bytes than the largest integer of the contract.
	user.Eventually(simulations+"/"+id, func(r servicetest.Reply) bool {
		progress, _ := r.Object()["progress"].(object)
		return progress["totalBytes"] == float64(1<<53-1)
	})

	p.User(t, servicetest.NewAccount()).Post(path, nil).Refused(404, "NOT_FOUND")
	user.Delete(simulations+"/"+id).Refused(409, "CONFLICT")
	if s := user.Post(path, nil, key("k")).Want(200).Object(); s["status"] != "terminated" || s["completedAt"] == nil {
		t.Errorf("got %v, want terminated", s)
	}
	if s := user.Post(path, nil, key("k")).Want(200).Object(); s["status"] != "terminated" {
		t.Errorf("repetition: got %v, want terminated", s)
	}
	user.Post(path, nil).Refused(409, "CONFLICT")
	user.Post(simulations+"/sim_x/terminate", nil).Refused(400, "VALIDATION_ERROR")
	user.Post(simulations+"/"+events.NewID(events.SimulationPrefix)+"/terminate", nil).Refused(404, "NOT_FOUND")
	p.Bearer(t, "").Post(path, nil).Refused(401, "UNAUTHORIZED")
	// The results up to the termination are published.
	results := user.Eventually(simulations+"/"+id+"/results", func(r servicetest.Reply) bool { return r.Status == 200 }).Object()
	if packets := results["summary"].(object)["totalPackets"]; packets != 0.0 && results["duration"] == "0ns" {
		t.Errorf("got %v packets in no simulated time: %v", packets, results)
	}
	if m, present := user.Get(simulations + "/" + id).Object()["metrics"].(object); present != (results["duration"] != "0ns") || present && m["simulatedTime"] != results["duration"] {
		t.Errorf("got metrics %v, want the simulated time %v of the results, if any", m, results["duration"])
	}
}

func TestTerminateInADeletedWorkspace(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	user, service := p.User(t, account), p.Service(t, account)
	workspace := newWorkspace(t, service, "closing")
	configuration := newValidConfiguration(t, user, workspace, long())
	id := user.Post(simulations, object{"configurationId": configuration, "name": "orphan", "duration": "24h"}).Want(201).Object()["id"].(string)
	awaitStatus(user, id, "running")
	service.Delete(workspaces + "/" + workspace).Want(202)

	user.Get(simulations+"/"+id).Refused(404, "NOT_FOUND")
	path := simulations + "/" + id + "/terminate"
	if reply := user.Post(path, nil).Want(202); len(reply.Body) != 0 {
		t.Errorf("got the body %s, want none", reply.Body)
	}
	user.Post(path, nil).Want(202)
	p.User(t, servicetest.NewAccount()).Post(path, nil).Refused(404, "NOT_FOUND")
}

func TestDeleteSimulation(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	id := submit(t, user, workload(8, phase("allReduce", "", 1024)))
	path := simulations + "/" + id
	awaitStatus(user, id, "completed")

	p.User(t, servicetest.NewAccount()).Delete(path).Refused(404, "NOT_FOUND")
	if got := user.Delete(path, key("k")).Want(200).Object(); got["id"] != id || got["status"] != "deleting" || got["message"] == "" {
		t.Errorf("got %v, want the status deleting", got)
	}
	user.Delete(path, key("k")).Want(200)
	for _, gone := range []servicetest.Reply{
		user.Delete(path), user.Get(path), user.Get(path + "/results"), user.Get(path + "/logs"),
		user.Post(path+"/terminate", nil),
	} {
		gone.Refused(404, "NOT_FOUND")
	}
	if list := user.Get(simulations).Want(200).Object()["simulations"].([]any); len(list) != 0 {
		t.Errorf("the list still has %v", list)
	}
	user.Delete(simulations+"/sim_x").Refused(400, "VALIDATION_ERROR")
	user.Delete(simulations+"/"+events.NewID(events.SimulationPrefix)).Refused(404, "NOT_FOUND")
}

// Of 1,000 concurrent starts on two nodes, as many succeed as the account has
// credit for, counting one hour each; the last one may use the remainder. The
// others are refused and create nothing.
func TestRacingStartsNeverHoldMoreThanThereIs(t *testing.T) {
	t.Parallel()
	withoutWorker := func(c *settings.Config) { c.Roles = []string{settings.RoleAPI, settings.RoleProjector} }
	one := servicetest.Start(t, withoutWorker)
	other := servicetest.Start(t, func(c *settings.Config) {
		http, ops := c.HTTP, c.Ops
		*c = one.Config
		c.HTTP, c.Ops, c.Roles = http, ops, []string{settings.RoleAPI}
	})
	account := servicetest.NewAccount()
	one.Grant(t, account, "95") // 10 an hour each
	const racing = 1000
	statuses := make(chan int, racing)
	var all sync.WaitGroup
	for i := range racing {
		node := one
		if i%2 == 1 {
			node = other
		}
		all.Go(func() {
			statuses <- node.User(t, account).PostOnce(simple, workload(8, phase("allReduce", "", 1024)), "start-"+strconv.Itoa(i)).Status
		})
	}
	testwait.Group(t, &all, "the requests")
	close(statuses)
	counts := map[int]int{}
	for s := range statuses {
		counts[s]++
	}
	if diff := cmp.Diff(map[int]int{202: 10, 402: racing - 10}, counts); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	if n := len(one.User(t, account).Get(simulations).Want(200).Object()["simulations"].([]any)); n != 10 {
		t.Errorf("%d simulations were requested, want 10", n)
	}
}
