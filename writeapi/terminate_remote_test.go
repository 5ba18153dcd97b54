package writeapi_test

import (
	"strings"
	"testing"
	"time"

	"netsim/cmd/settings"
	"netsim/commands"
	"netsim/events"
	"netsim/internal/scripted"
	"netsim/internal/servicetest"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// runningEngine returns the script of an engine whose runs never end.
func runningEngine(capabilities ...string) scripted.Script {
	return scripted.Script{
		Capabilities: capabilities,
		Run:          scripted.Run{State: "running", SimulatedTimeNs: 500, EventsProcessed: 5},
		Files:        map[string]string{"part.csv": "a\n1\n"},
	}
}

// withEngine starts a service with one remote engine. A call to it times out after
// two seconds.
func withEngine(t *testing.T, e *scripted.Engine, options ...func(*settings.Config)) *servicetest.Program {
	t.Helper()
	return servicetest.Start(t, func(c *settings.Config) {
		c.EngineURLs, c.EngineToken = []string{e.URL}, "secret"
		c.EnginePoll, c.EngineTimeout = 20*time.Millisecond, 2*time.Second
		for _, option := range options {
			option(c)
		}
	})
}

// newRemoteConfiguration creates a configuration for a remote engine in the
// workspace.
func newRemoteConfiguration(t *testing.T, c *servicetest.Client, workspace string) string {
	t.Helper()
	id := newValidConfiguration(t, c, workspace, workload(8, phase("allReduce", "", 1024)))
	c.Patch(configurations+"/"+id+"/parameters",
		object{"EngineParameters": object{"Engine": object{"value": "remote", "type": "string"}}}).Want(200)
	c.Post(configurations+"/"+id+"/validate", nil).Want(200)
	return id
}

// startRunning starts a simulation, and waits until it runs or cannot run.
func startRunning(t *testing.T, c *servicetest.Client, configuration string) string {
	t.Helper()
	id := c.Post(simulations, object{"configurationId": configuration, "name": "remote", "duration": "1h"}).Want(201).Object()["id"].(string)
	awaitStatus(c, id, "running", "failed", "invalid")
	return id
}

// TestTerminateAtARemoteEngine: each response of the engine has the result in the
// table of completions 5.4.
func TestTerminateAtARemoteEngine(t *testing.T) {
	t.Parallel()
	e := scripted.Start(t, runningEngine("terminate"))
	p := withEngine(t, e)
	user := p.User(t, funded(t, p))
	configuration := newRemoteConfiguration(t, user, events.DefaultWorkspace)

	id := startRunning(t, user, configuration)
	path := simulations + "/" + id + "/terminate"
	operator := p.Person(t, servicetest.NewAccount(), "operator")
	acts := "/api/v1/operations/runs/" + id + "/terminate"
	for name, c := range map[string]struct {
		answer scripted.Answer
		status int
		code   string
	}{
		"no response":     {scripted.Answer{Delay: time.Minute}, 503, "SERVICE_UNAVAILABLE"},
		"broken":          {scripted.Answer{Status: 500}, 500, "INTERNAL_ERROR"},
		"not implemented": {scripted.Answer{Status: 501}, 501, "NOT_IMPLEMENTED"},
		"gateway":         {scripted.Answer{Status: 502}, 502, "BAD_GATEWAY"},
		"busy":            {scripted.Answer{Status: 503}, 503, "SERVICE_UNAVAILABLE"},
		"gateway timeout": {scripted.Answer{Status: 504}, 504, "GATEWAY_TIMEOUT"},
		"no storage":      {scripted.Answer{Status: 507}, 502, "BAD_GATEWAY"},
		"redirect":        {scripted.Answer{Status: 307}, 502, "BAD_GATEWAY"},
	} {
		s := runningEngine("terminate")
		s.Answers = map[string]scripted.Answer{"terminate": c.answer}
		e.Do(s)
		t.Run(name, func(t *testing.T) {
			for _, post := range []func() servicetest.Reply{
				func() servicetest.Reply { return user.Post(path, nil, key("k")) },
				func() servicetest.Reply { return operator.Post(acts, object{"reason": "it holds a worker"}) },
			} {
				reply := post()
				for reply.Status == 503 && c.status != 503 { // on a busy machine the engine answers too late
					reply = post()
				}
				reply.Refused(c.status, c.code)
			}
		})
	}
	for _, status := range []int{400, 404, 409, 422} {
		s := runningEngine("terminate")
		s.Answers = map[string]scripted.Answer{"terminate": {Status: status, Body: `{"error":{"message":"no"}}`}}
		e.Do(s)
		if reply := user.PostOnce(path, nil, "k").Want(202); len(reply.Body) != 0 {
			t.Errorf("got the body %s, want none", reply.Body)
		}
	}
	if s := user.Get(simulations + "/" + id).Want(200).Object(); s["status"] != "running" {
		t.Fatalf("failed terminations changed the simulation: %v", s)
	}

	e.Do(runningEngine("terminate"))
	if s := user.PostOnce(path, nil, "k").Want(200).Object(); s["status"] != "terminated" || s["completedAt"] == nil {
		t.Errorf("got %v, want terminated", s)
	}
	asked := len(e.Calls("terminate"))
	if s := user.Post(path, nil, key("k")).Want(200).Object(); s["status"] != "terminated" {
		t.Errorf("repetition: got %v, want terminated", s)
	}
	user.Post(path, nil).Refused(409, "CONFLICT")
	if again := len(e.Calls("terminate")); again != asked {
		t.Errorf("the engine got %d more termination requests, want none", again-asked)
	}
	results := user.Eventually(simulations+"/"+id+"/results", func(r servicetest.Reply) bool { return r.Status == 200 }).Object()
	if files := results["files"].([]any); len(files) != 2 {
		t.Errorf("got the files %v, want 2", files)
	}
}

// TestTerminateTooLate: a run stays completed if it completes while its engine is
// asked to stop it.
func TestTerminateTooLate(t *testing.T) {
	t.Parallel()
	e := scripted.Start(t, runningEngine("terminate"))
	p := withEngine(t, e, func(c *settings.Config) { c.EngineTimeout = time.Minute })
	user := p.User(t, funded(t, p))
	id := startRunning(t, user, newRemoteConfiguration(t, user, events.DefaultWorkspace))
	busy := runningEngine("terminate")
	busy.Answers = map[string]scripted.Answer{"terminate": {Delay: time.Minute}}
	e.Do(busy)
	answered := make(chan servicetest.Reply, 1)
	go func() { answered <- user.Post(simulations+"/"+id+"/terminate", nil) }()
	user.Eventually(simulations+"/"+id, func(servicetest.Reply) bool { return len(e.Calls("terminate")) == 1 })
	busy.Run.State = "completed"
	e.Do(busy)
	awaitStatus(user, id, "completed")
	e.Do(runningEngine("terminate"))
	reply := testwait.Receive(t, answered, "the response")
	reply.Refused(409, "CONFLICT")
	if s := user.Get(simulations + "/" + id).Object(); s["status"] != "completed" {
		t.Errorf("got %v, want completed", s)
	}
}

func TestTerminateAtAnEngineThatIsDown(t *testing.T) {
	t.Parallel()
	e := scripted.Start(t, runningEngine("terminate"))
	proxy := e.Proxied()
	p := withEngine(t, e)
	user := p.User(t, funded(t, p))
	configuration := newRemoteConfiguration(t, user, events.DefaultWorkspace)
	id := startRunning(t, user, configuration)

	proxy.Refuse()
	reply := user.Post(simulations+"/"+id+"/terminate", nil)
	reply.Refused(503, "SERVICE_UNAVAILABLE")
	if reply.Header.Get("Retry-After") == "" {
		t.Error("the response has no Retry-After")
	}
	if s := user.Get(simulations + "/" + id).Object(); s["status"] != "running" {
		t.Errorf("got %v, want running", s)
	}
	user.Eventually("/api/v1/health/ready", func(r servicetest.Reply) bool { return r.Status == 200 && r.Object()["status"] == "degraded" })

	e.Lose()              // as a restart does
	e.Do(runningEngine()) // an engine that cannot stop runs
	proxy.Heal()
	user.Eventually(simulations+"/"+id+"/logs", func(r servicetest.Reply) bool { return strings.Contains(string(r.Body), "ordered again") })
	user.Post(simulations+"/"+id+"/terminate", nil).Refused(501, "NOT_IMPLEMENTED")
	if n := len(e.Calls("terminate")); n != 0 {
		t.Errorf("an engine without the capability got %d termination requests, want none", n)
	}
}

// TestTerminateWithoutPlatformLink: a simulation that another service started, and
// whose facts were imported, cannot be terminated here.
func TestTerminateWithoutPlatformLink(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.Roles = []string{settings.RoleAPI, settings.RoleProjector} })
	account := servicetest.NewAccount()
	w := p.Beside(t)
	id := events.NewID(events.SimulationPrefix)
	testworld.Do(t, w, id, commands.RequestSimulation{Requested: events.SimulationRequested{
		Origin: commands.OriginStart, AccountID: account, WorkspaceID: events.DefaultWorkspace,
		ConfigurationID: events.NewID(events.ConfigurationPrefix), ConfigurationVersion: 1, Name: "imported",
	}})
	testworld.Do(t, w, id, commands.ValidateSimulation{})
	testworld.Do(t, w, id, commands.StartSimulation{Started: events.SimulationStarted{Ranks: 8}})
	message := p.User(t, account).Post(simulations+"/"+id+"/terminate", nil).Refused(400, "VALIDATION_ERROR")
	if want := "simulation " + id + " has no platform link and cannot be terminated"; message != want {
		t.Errorf("message %q, want %q", message, want)
	}
}

// TestTerminateRemotelyInADeletedWorkspace: a termination in a deleted workspace is
// accepted at once, and the engine is notified afterwards.
func TestTerminateRemotelyInADeletedWorkspace(t *testing.T) {
	t.Parallel()
	e := scripted.Start(t, runningEngine("terminate"))
	p := withEngine(t, e)
	account := funded(t, p)
	user, service := p.User(t, account), p.Service(t, account)
	workspace := newWorkspace(t, service, "closing")
	id := startRunning(t, user, newRemoteConfiguration(t, user, workspace))
	service.Delete(workspaces + "/" + workspace).Want(202)
	path := simulations + "/" + id + "/terminate"
	if reply := user.Post(path, nil).Want(202); len(reply.Body) != 0 {
		t.Errorf("got the body %s, want none", reply.Body)
	}
	user.Eventually(workspaces, func(servicetest.Reply) bool { return len(e.Calls("free")) == 1 })
	if len(e.Calls("terminate")) == 0 {
		t.Error("the engine got no termination request")
	}
	user.Post(path, nil).Want(202)
}

// TestStartWithoutAnEngine: without a remote engine, a simulation that needs one
// becomes invalid.
func TestStartWithoutAnEngine(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	s := awaitStatus(user, startRunning(t, user, newRemoteConfiguration(t, user, events.DefaultWorkspace)), "invalid")
	if s["failureReason"] != "engine remote is not available" {
		t.Errorf("got %v, want invalid because there is no engine", s)
	}
}
