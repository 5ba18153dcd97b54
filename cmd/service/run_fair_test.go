package service_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"netsim/cmd/settings"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
)

// TestOneAccountDoesNotKeepAnotherWaiting: an account has 33 runs and another account has
// one, and two processes have one worker each. The runs of the first account wait while
// the single run completes.
//
// How long a run must be depends on the machine: if most have completed before the single
// one is requested, the test repeats with longer runs. In the order of requests they have
// completed at every length.
func TestOneAccountDoesNotKeepAnotherWaiting(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.Workers, c.ShortRuns = 1, 0 })
	servicetest.Start(t, func(c *settings.Config) {
		*c = p.Config
		c.Roles = []string{settings.RoleWorker}
	})
	greedy, modest := servicetest.NewAccount(), servicetest.NewAccount()
	p.Grant(t, greedy, "1000000")
	p.Grant(t, modest, "1000")
	many, one := p.User(t, greedy), p.User(t, modest)
	const simulations = "/api/v1/simulations/"
	ids := make([]string, 33)
	for phases, waiting := 8, 0; waiting < 5; phases *= 4 {
		if phases > 128 {
			t.Fatalf("only %d of 33 runs were still waiting when the other account's had completed", waiting)
		}
		all := make([]object, phases)
		for i := range all {
			all[i] = object{"operationType": "allToAll", "dataSize": 1 << 20}
		}
		for i := range ids {
			ids[i] = many.Post("/api/v1/simple/simulations", object{
				"name": fmt.Sprintf("long%d-%d", phases, i), "workload": object{"ranks": 128, "phases": all},
			}).Want(202).Text("simulationId")
		}
		small := servicetest.SimpleSubmission(8)
		small["name"] = fmt.Sprint("small", phases)
		id := one.Post("/api/v1/simple/simulations", small).Want(202).Text("simulationId")
		one.Eventually(simulations+id, servicetest.HasStatus("completed"))
		waiting = 0
		for _, id := range ids {
			if many.Get(simulations + id).Want(200).Object()["status"] == "provisioning" {
				waiting++
				many.Delete(simulations + id) // gets a 409 if the run starts now
			}
		}
		// Every started run completes.
		for _, id := range ids {
			many.Eventually(simulations+id, func(r servicetest.Reply) bool {
				return r.Status == 404 || r.Object()["status"] == "completed"
			})
		}
	}
}

// TestNoAccountHasAllWorkers: of two long runs of an account one runs, although both workers are
// free. A run of another account completes beside it.
func TestNoAccountHasAllWorkers(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.ShortRuns = 0 })
	greedy, modest := servicetest.NewAccount(), servicetest.NewAccount()
	p.Grant(t, greedy, "1000")
	p.Grant(t, modest, "1000")
	many, one := p.User(t, greedy), p.User(t, modest)
	const simulations = "/api/v1/simulations/"
	endless := endlessSubmission()
	endless["workload"].(object)["ranks"] = 128
	first := many.Post("/api/v1/simple/simulations", endless).Want(202).Text("simulationId")
	second := many.Post("/api/v1/simple/simulations", endless).Want(202).Text("simulationId")
	many.Eventually(simulations+first, servicetest.HasStatus("running"))
	for range 2 {
		small := one.Post("/api/v1/simple/simulations", servicetest.SimpleSubmission(8)).Want(202).Text("simulationId")
		one.Eventually(simulations+small, servicetest.HasStatus("completed"))
	}
	if s := many.Get(simulations + second).Want(200).Object(); s["status"] != "provisioning" {
		t.Errorf("the second run of the account is %v while its first runs, want provisioning", s["status"])
	}
	many.PostOnce(simulations+first+"/terminate", nil, "k").Want(200)
	many.Eventually(simulations+second, servicetest.HasStatus("running"))
	many.Post(simulations+second+"/terminate", nil)
}

// TestAShortRunWaitsForNoLongRun: while two accounts have a long run each on the only two
// workers, which they would keep for an hour, short runs of both complete beside them.
func TestAShortRunWaitsForNoLongRun(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.RunTurn = time.Hour })
	const simulations = "/api/v1/simulations/"
	var users []*servicetest.Client
	var long []string
	for range 2 {
		account := servicetest.NewAccount()
		p.Grant(t, account, "1000")
		user := p.User(t, account)
		users, long = append(users, user), append(long, user.Post("/api/v1/simple/simulations", endlessSubmission()).Want(202).Text("simulationId"))
	}
	for i, user := range users {
		user.Eventually(simulations+long[i], servicetest.HasStatus("running"))
	}
	for i, user := range users {
		small := user.Post("/api/v1/simple/simulations", servicetest.SimpleSubmission(8)).Want(202).Text("simulationId")
		user.Eventually(simulations+small, servicetest.HasStatus("completed"))
		if s := user.Get(simulations + long[i]).Want(200).Object(); s["status"] != "running" {
			t.Errorf("the long run is %v after a short one, want running", s["status"])
		}
		user.Post(simulations+long[i]+"/terminate", nil).Want(200)
	}
}

// TestALongRunYields: two accounts have a long run each, on the only two workers. A run of
// a third completes while both are under way. The long ones are not billed while they
// wait, and their results are those of an undisturbed run.
//
// How long a run must be depends on the machine: if a long run ends before the small one,
// the test repeats with longer runs. Without yields it ends before at every length.
func TestALongRunYields(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.RunTurn, c.ShortRuns = 50*time.Millisecond, 0 })
	modest := servicetest.NewAccount()
	p.Grant(t, modest, "1000")
	one := p.User(t, modest)
	const simulations = "/api/v1/simulations/"
	type long struct {
		servicetest.Journey
		account, id string
	}
	var longs []long
	for phases := 160; ; phases *= 4 {
		longs = nil
		for i := range 2 {
			l := long{account: servicetest.NewAccount()}
			p.Grant(t, l.account, "1000")
			l.Journey = servicetest.Journey{T: t, Client: p.User(t, l.account)}
			l.id = l.AllToAlls(fmt.Sprint("long", i), 128, phases, 1<<20)
			longs = append(longs, l)
		}
		for _, l := range longs {
			l.Client.Eventually(simulations+l.id, func(r servicetest.Reply) bool { return r.Object()["status"] != "provisioning" })
		}
		small := one.Post("/api/v1/simple/simulations", servicetest.SimpleSubmission(8)).Want(202).Text("simulationId")
		one.Eventually(simulations+small, servicetest.HasStatus("completed"))
		status := longs[0].Client.Get(simulations + longs[0].id).Want(200).Object()["status"]
		if status == "running" {
			break
		}
		if phases >= 2560 {
			t.Fatalf("the first long run of %d phases is %v when the small one has completed, want running", phases, status)
		}
		for _, l := range longs {
			l.Completed(l.id)
		}
	}
	yields := 0
	for _, l := range longs {
		l.Completed(l.id)
		dir := l.Reproducible(l.id)
		want := fmt.Sprintf("reproduced: %d files equal\n", servicetest.ReceiptFiles(t, dir))
		if said, err := servicetest.Offline(t, teststack.Netsim(t), dir); err != nil || said != want {
			t.Errorf("engine run with the receipt of %s: %v: %s, want %s", l.id, err, said, want)
		}
		if listed := string(l.Client.Get(simulations + l.id + "/results?limit=100").Want(200).Body); strings.Contains(listed, ".state") {
			t.Errorf("the results list snapshots that nobody asked for: %s", listed)
		}
		yields += billedPauses(t, p.Service(t, l.account), l.id)
	}
	if yields == 0 {
		t.Error("no long run has yielded")
	}
}

// billedPauses waits for the end of a run's billing, and returns how often the run was not
// billed in between. It fails the test unless each yield ends the units and each resumption
// begins them.
func billedPauses(t *testing.T, service *servicetest.Client, id string) (pauses int) {
	t.Helper()
	var listed struct{ Events []billed }
	service.Eventually("/api/v1/billing/events?eventType=cluster&limit=100", func(r servicetest.Reply) bool {
		listed.Events = nil
		r.Want(200).Into(&listed)
		return strings.Contains(string(r.Body), "simulation.completed")
	})
	units := int64(0)
	for i := len(listed.Events) - 1; i >= 0; i-- { // the oldest first
		e := listed.Events[i]
		if e.Details.ResourceID != id {
			continue
		}
		want := map[string]int64{"simulation.started": 1, "simulation.resumed": 1}[e.EventName]
		if e.CurrentCount != want || e.PreviousCount != units || want == units {
			t.Errorf("%v after %d units", e, units)
		}
		if units = e.CurrentCount; e.EventName == "simulation.yielded" {
			pauses++
		}
	}
	return pauses
}

// TestAStudyDoesNotDelayARun: a single run completes while most points of the account's own
// study of 50 points wait. If a machine is slower to request the runs than to run them, the
// test repeats with longer runs.
func TestAStudyDoesNotDelayARun(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.Workers, c.ShortRuns, c.RunTurn = 1, 0, 50*time.Millisecond })
	account := servicetest.NewAccount()
	p.Grant(t, account, "100000")
	user := p.User(t, account)
	sizes := make([]int, 50)
	for i := range sizes {
		sizes[i] = 1<<20 + i
	}
	for phases, done := 4, 50.0; done > 25; phases *= 4 {
		if phases > 64 {
			t.Fatalf("%v of 50 points had completed when the single run had, want a few", done)
		}
		all := make([]object, phases)
		for i := range all {
			all[i] = object{"operationType": "allToAll", "dataSize": 1 << 20}
		}
		path := "/api/v1/studies/" + user.Post("/api/v1/studies", object{
			"name": fmt.Sprint("long", phases), "base": object{"simple": object{"workload": object{"ranks": 128, "phases": all}}},
			"axes": []object{{"field": "workload.phases[0].dataSize", "values": sizes}},
		}).Want(201).Text("id")
		user.Eventually(path, func(r servicetest.Reply) bool { // all runs are requested
			return r.Want(200).Object()["progress"].(object)["waiting"] == 0.0
		})
		small := user.Post("/api/v1/simple/simulations", servicetest.SimpleSubmission(8)).Want(202).Text("simulationId")
		user.Eventually("/api/v1/simulations/"+small, servicetest.HasStatus("completed"))
		done = user.Get(path).Want(200).Object()["progress"].(object)["completed"].(float64)
		user.Post(path+"/terminate", nil) // gets a 409 if it has completed
	}
}
