package service_test

import (
	"strings"
	"testing"

	"netsim/cmd/settings"
	"netsim/events"
	"netsim/internal/servicetest"
)

// TestRunsThatTakeTooMuch: a workload above a limit ends before it runs. A run that
// exceeds a limit fails and publishes the results that it has.
func TestRunsThatTakeTooMuch(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.RunFlows, c.RunResults = 1000, 100_000 })
	account := servicetest.NewAccount()
	p.Grant(t, account, "1000")
	user := p.User(t, account)
	ended := func(id string) object {
		return user.Eventually("/api/v1/simulations/"+id, func(r servicetest.Reply) bool {
			status := r.Want(200).Object()["status"]
			return status != "validating" && status != "provisioning" && status != "running"
		}).Object()
	}
	submit := func(ranks int) string {
		return user.Post("/api/v1/simple/simulations", object{"name": "much", "workload": object{
			"ranks": ranks, "phases": []object{{"operationType": "allToAll", "dataSize": 1 << 20}, {"operationType": "allReduce", "dataSize": 64 << 20}},
		}}).Want(202).Text("simulationId")
	}

	const tooMany = "the workload has 4032 transfers in flight at once, more than the 1000 that a run may have"
	crowded := submit(64)
	if s := ended(crowded); s["status"] != "failed" || s["failureReason"] != "inputs could not be staged: "+tooMany {
		t.Errorf("the submitted simulation is %v: %v", s["status"], s["failureReason"])
	}
	again := user.Post("/api/v1/simulations", object{
		"configurationId": events.DerivedID(events.ConfigurationPrefix, crowded), "name": "again", "duration": "10s",
	}).Want(201).Text("id")
	if s := ended(again); s["status"] != "invalid" || s["failureReason"] != tooMany {
		t.Errorf("the started simulation is %v: %v", s["status"], s["failureReason"])
	}

	wordy := submit(32)
	s := ended(wordy)
	if reason, _ := s["failureReason"].(string); s["status"] != "failed" ||
		!strings.HasPrefix(reason, "the result files have more than the 100KB that a run may write; the last finished collective is ") {
		t.Errorf("the simulation with large results is %v: %v", s["status"], s["failureReason"])
	}
	if found := user.Get("/api/v1/simulations/" + wordy + "/results").Want(200); !strings.Contains(string(found.Body), "much-perf-0.csv") {
		t.Errorf("the results are %s, want much-perf-0.csv among them", found.Body)
	}
}
