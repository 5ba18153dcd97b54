package service_test

import (
	"fmt"
	"testing"

	"netsim/cmd/settings"
	"netsim/internal/servicetest"
)

// TestOneAccountDoesNotKeepAnotherWaiting: an account has 33 runs and another account has
// one, and two processes have one worker each. The runs of the first account wait while
// the single run completes.
func TestOneAccountDoesNotKeepAnotherWaiting(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.Workers = 1 })
	servicetest.Start(t, func(c *settings.Config) {
		*c = p.Config
		c.Roles = []string{settings.RoleWorker}
	})
	greedy, modest := servicetest.NewAccount(), servicetest.NewAccount()
	p.Grant(t, greedy, "1000000")
	p.Grant(t, modest, "1000")
	many, one := p.User(t, greedy), p.User(t, modest)
	const simulations = "/api/v1/simulations/"
	phases := make([]object, 8)
	for i := range phases {
		phases[i] = object{"operationType": "allToAll", "dataSize": 1 << 20}
	}
	ids := make([]string, 33)
	for i := range ids {
		ids[i] = many.Post("/api/v1/simple/simulations", object{
			"name": fmt.Sprintf("long%d", i), "workload": object{"ranks": 128, "phases": phases},
		}).Want(202).Text("simulationId")
	}
	small := one.Post("/api/v1/simple/simulations", servicetest.SimpleSubmission(8)).Want(202).Text("simulationId")
	one.Eventually(simulations+small, servicetest.HasStatus("completed"))
	waiting := 0
	for _, id := range ids {
		if many.Get(simulations + id).Want(200).Object()["status"] == "provisioning" {
			waiting++
			many.Delete(simulations + id) // gets a 409 if the run starts now
		}
	}
	if waiting < 5 {
		t.Errorf("only %d of 33 runs were still waiting when the other account's had completed", waiting)
	}
	// Every started run completes.
	for _, id := range ids {
		many.Eventually(simulations+id, func(r servicetest.Reply) bool {
			return r.Status == 404 || r.Object()["status"] == "completed"
		})
	}
}
