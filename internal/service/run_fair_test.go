package service_test

import (
	"fmt"
	"testing"

	"netsim/internal/service"
	"netsim/internal/service/servicetest"
)

// TestOneAccountDoesNotKeepAnotherWaiting: the runs of an account with 33 of
// them wait, and not the one run of another account, in two processes with a
// worker each.
func TestOneAccountDoesNotKeepAnotherWaiting(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *service.Config) { c.Workers = 1 })
	servicetest.Start(t, func(c *service.Config) {
		*c = p.Config
		c.Roles = []string{service.RoleWorker}
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
		ids[i] = text(t, many.Post("/api/v1/simple/simulations", object{
			"name": fmt.Sprintf("long%d", i), "workload": object{"ranks": 128, "phases": phases},
		}).Want(202), "simulationId")
	}
	small := text(t, one.Post("/api/v1/simple/simulations", simpleSubmission(8)).Want(202), "simulationId")
	one.Eventually(simulations+small, hasStatus("completed"))
	waiting := 0
	for _, id := range ids {
		if many.Get(simulations + id).Want(200).Object()["status"] == "provisioning" {
			waiting++
			many.Delete(simulations + id) // 409 of one that starts now
		}
	}
	if waiting < 5 {
		t.Errorf("only %d of 33 runs were still waiting when the other account's had completed", waiting)
	}
	// Those that run are not disturbed.
	for _, id := range ids {
		many.Eventually(simulations+id, func(r servicetest.Reply) bool {
			return r.Status == 404 || r.Object()["status"] == "completed"
		})
	}
}
