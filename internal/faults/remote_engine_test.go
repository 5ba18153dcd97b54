package faults_test

import (
	"testing"

	"netsim/events"
	"netsim/internal/scripted"
	"netsim/internal/servicetest"
)

// TestRemoteRunsOutliveTheService kills the service with SIGKILL during a run at a remote
// engine, and then the engine. The restarted service follows the same run, and sends
// the order again to the restarted engine.
func TestRemoteRunsOutliveTheService(t *testing.T) {
	script := scripted.Script{
		Capabilities: []string{"terminate"}, Files: map[string]string{"a.csv": "x\n1\n"},
		Run: scripted.Run{State: "running", SimulatedTimeNs: 500, EventsProcessed: 5},
	}
	e := scripted.Start(t, script)
	d := newDeployment(t)
	d.env = append(d.env, "NETSIM_ENGINE_URLS="+e.URL, "NETSIM_ENGINE_TOKEN=shared", "NETSIM_ENGINE_POLL=20ms",
		"NETSIM_JOB_RECONCILE=50ms", "NETSIM_JOB_GRACE=50ms")
	d.start()
	account := servicetest.NewAccount()
	d.tool("credit", "grant", account, "1000", "--reference", "test")
	p := servicetest.Program{URL: d.url}
	j := servicetest.Journey{T: t, Client: p.User(t, account)}
	simple := j.Completed(j.Client.Post("/api/v1/simple/simulations", servicetest.SimpleSubmission(8)).Want(202).Text("simulationId"))
	j.Configuration = events.DerivedID(events.ConfigurationPrefix, simple)
	j.UseRemoteEngine()
	id := j.Client.Post("/api/v1/simulations", object{"configurationId": j.Configuration, "name": "far", "duration": "1h"}).Want(201).Text("id")
	j.Client.Eventually("/api/v1/simulations/"+id, servicetest.HasStatus("running"))

	d.kill()
	polled := len(e.Calls("status"))
	d.start()
	j.Client.Eventually("/api/v1/simulations/"+id, func(servicetest.Reply) bool { return len(e.Calls("status")) > polled })
	if orders := e.Calls("order"); len(orders) != 1 || orders[0].Simulation != id || orders[0].Token != "shared" {
		t.Errorf("got orders %+v, want one of %s", orders, id)
	}
	if n := len(e.Calls("terminate")) + len(e.Calls("free")); n > 0 {
		t.Error("the end of the service ended the run")
	}

	e.Kill()
	e.Restart()
	script.Run.State = "completed"
	e.Do(script)
	j.Completed(id)
	if orders := e.Calls("order"); len(orders) != 1 || orders[0].Simulation != id {
		t.Errorf("the restarted engine got orders %+v, want one of %s", orders, id)
	}
	if n := len(j.Client.Get("/api/v1/simulations/" + id + "/results").Want(200).Object()["files"].([]any)); n != 2 {
		t.Errorf("%d result files, want 2", n)
	}
}
