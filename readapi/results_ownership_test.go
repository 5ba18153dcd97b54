package readapi_test

import (
	"testing"

	"netsim/cmd/settings"
	"netsim/commands"
	"netsim/events"
	"netsim/internal/servicetest"
	"netsim/internal/testworld"
)

// TestResultsOwnership: with the setting, only callers who may read a simulation
// get its results. Without it, every user does.
func TestResultsOwnership(t *testing.T) {
	t.Parallel()
	shared := servicetest.Shared(t)
	restricted := servicetest.Start(t, func(c *settings.Config) { c.ResultsOwnership = true })
	for _, c := range []struct {
		p       *servicetest.Program
		foreign int // status for another account
		limited int // status for a token of another workspace
	}{{shared, 200, 200}, {restricted, 404, 403}} {
		account := funded(t, c.p)
		user, service := c.p.User(t, account), c.p.Service(t, account)
		workspace, another := newWorkspace(t, service, "owned"), newWorkspace(t, service, "another")
		id := events.NewID(events.SimulationPrefix)
		w := c.p.Beside(t)
		testworld.In(t, w, workspace, id, commands.RequestSimulation{Requested: events.SimulationRequested{
			Origin: commands.OriginStart, AccountID: account, WorkspaceID: workspace, Name: "owned", DurationNs: 1, Duration: "1ns",
			ConfigurationID: events.NewID(events.ConfigurationPrefix), ConfigurationVersion: 1,
		}})
		user.Eventually(simulations+"/"+id, func(r servicetest.Reply) bool { return r.Want(200).Object()["status"] == "invalid" })
		header := "metric_path,collective_id,start_time,end_time,fct_us\n"
		publishIn(t, w, workspace, id, []stored{{"owned-perf-0.csv", "csv", []byte(header)}})

		if got := user.Get(simulations + "/" + id + "/results").Want(200).Object()["accuracy"].(object); got["class"] != "not-compared" {
			t.Errorf("a simulation that did not run has the accuracy %v", got)
		}
		other, limited := c.p.User(t, servicetest.NewAccount()), c.p.User(t, account, another)
		for _, path := range []string{"/results", "/results/download-url?fileName=owned-perf-0.csv"} {
			user.Get(simulations + "/" + id + path).Want(200)
			other.Get(simulations + "/" + id + path).Want(c.foreign)
			limited.Get(simulations + "/" + id + path).Want(c.limited)
		}
		if c.foreign != 200 {
			other.Get(simulations + "/" + id + "/results/data?metric=perf").Want(c.foreign)
			limited.Get(simulations + "/" + id + "/results/data?metric=perf").Want(c.limited)
		}
	}
}
