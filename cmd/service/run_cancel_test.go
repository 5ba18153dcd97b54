package service_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"netsim/cmd/settings"
	"netsim/events"
	"netsim/internal/servicetest"
	"netsim/internal/testwait"
)

// endlessSubmission returns a workload that takes longer than any test.
func endlessSubmission() object {
	phases := make([]object, 1000)
	for i := range phases {
		phases[i] = object{"operationType": "allToAll", "algorithm": "interleaved", "dataSize": 1 << 40}
	}
	return object{"name": "endless", "workload": object{"ranks": 1024, "phases": phases}}
}

// TestDeleteCancels: deleting a simulation that is validated, queued or staged cancels
// it. It does not run, its credit is released, and its jobs stop.
func TestDeleteCancels(t *testing.T) {
	t.Parallel()
	w := newStoreWorld(t, time.Hour, func(c *settings.Config) { c.Workers, c.ShortRuns = 1, 0 })
	const simulations = "/api/v1/simulations/"
	first := w.submit("first")
	if s := w.ended(first); s["status"] != "completed" {
		t.Fatalf("the first simulation is %v: %v", s["status"], s["failureReason"])
	}
	idle := func(id string) {
		t.Helper()
		servicetest.AwaitSQL(t, w.p.Config.Postgres, `SELECT NOT EXISTS (SELECT FROM jobs.river_job
			WHERE args->>'simulationId' = $1 AND state NOT IN ('completed', 'cancelled', 'discarded'))`, id)
	}
	cancel := func(id, status string) {
		t.Helper()
		if s := w.user.Get(simulations + id).Want(200).Object(); s["status"] != status {
			t.Fatalf("the simulation is %v, want %s", s["status"], status)
		}
		message := w.user.Post(simulations+id+"/terminate", nil).Refused(409, "CONFLICT")
		if want := "the simulation is " + status + ", not running; delete the simulation to cancel it"; message != want {
			t.Errorf("terminate says %q, want %q", message, want)
		}
		w.user.Delete(simulations+id, servicetest.Header{Name: "Idempotency-Key", Value: "k" + id}).Want(200)
		w.user.Delete(simulations+id, servicetest.Header{Name: "Idempotency-Key", Value: "k" + id}).Want(200)
		w.user.Get(simulations + id).Want(404)
		w.user.Delete(simulations + id).Want(404)
		w.released(id)
		idle(id)
	}
	unreadable := refusing("GET", "/libraries/", 503, "ServiceUnavailable")

	reads := make(chan struct{}, 1)
	w.g.set(func(r *http.Request) (int, string) {
		status, code := unreadable(r)
		if status != 0 {
			select {
			case reads <- struct{}{}:
			default:
			}
		}
		return status, code
	})
	validating := w.user.Post("/api/v1/simulations", object{
		"configurationId": events.DerivedID(events.ConfigurationPrefix, first), "name": "checked", "duration": "10s",
	}).Want(201).Text("id")
	testwait.Receive(t, reads, "the reads")
	cancel(validating, "validating")
	staged := w.submit("staged")
	servicetest.AwaitSQL(t, w.p.Config.Postgres, `SELECT EXISTS (SELECT FROM jobs.river_job
		WHERE args->>'simulationId' = $1 AND state = 'running')`, staged)
	cancel(staged, "provisioning") // the object store still does not answer
	w.g.set(nil)

	long := w.user.Post("/api/v1/simple/simulations", endlessSubmission()).Want(202).Text("simulationId")
	w.user.Eventually(simulations+long, servicetest.HasStatus("running"))
	w.user.Delete(simulations+long).Refused(409, "CONFLICT")
	queued := w.submit("queued")
	servicetest.AwaitSQL(t, w.p.Config.Postgres, `SELECT EXISTS (SELECT FROM jobs.river_job WHERE args->>'simulationId' = $1)`, queued)
	cancel(queued, "provisioning")
	w.user.Post(simulations+long+"/terminate", nil).Want(200)
	if s := w.ended(w.submit("last")); s["status"] != "completed" { // the one worker is free again
		t.Errorf("the last simulation is %v: %v", s["status"], s["failureReason"])
	}
	items := string(w.service.Get("/api/v1/billing/items?limit=100").Want(200).Body)
	for _, id := range []string{validating, staged, queued} {
		if strings.Contains(items, id) {
			t.Errorf("%s has not run but was billed", id)
		}
	}
}

// TestDeleteWhileItStarts: the log accepts either the deletion or the start of a
// simulation. Either the simulation is gone and is not billed for a run, or the deletion
// is refused and the run completes.
func TestDeleteWhileItStarts(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t)
	account := servicetest.NewAccount()
	p.Grant(t, account, "100000")
	user, client := p.User(t, account), p.Service(t, account)
	var all sync.WaitGroup
	gone := make([]string, 24)
	for i := range gone {
		all.Go(func() {
			submission := servicetest.SimpleSubmission(8)
			submission["name"] = fmt.Sprintf("run%d", i)
			id := user.Post("/api/v1/simple/simulations", submission).Want(202).Text("simulationId")
			path := "/api/v1/simulations/" + id
			for {
				reply := user.Delete(path)
				if reply.Status == 200 {
					gone[i] = id
					break
				}
				reply.Refused(409, "CONFLICT") // the simulation runs
			}
			user.Get(path).Want(404)
		})
	}
	testwait.Group(t, &all, "the deletions")
	for _, id := range gone {
		servicetest.AwaitSQL(t, p.Config.Postgres, `SELECT released_at IS NOT NULL FROM readmodel.credit_holds WHERE simulation_id = $1`, id)
		servicetest.AwaitSQL(t, p.Config.Postgres, `SELECT bool_and((engine <> '') = (completed_at IS NOT NULL)) FROM readmodel.simulations WHERE id = $1`, id)
	}
	client.Eventually("/api/v1/billing/items?status=active", func(r servicetest.Reply) bool {
		return !strings.Contains(string(r.Want(200).Body), `"resourceType":"simulation"`)
	})
}
