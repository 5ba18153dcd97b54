package operations_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"netsim/api"
	"netsim/cmd/settings"
	"netsim/commands"
	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

func key(k string) servicetest.Header { return servicetest.Header{Name: "Idempotency-Key", Value: k} }

// execute runs SQL in the database of the program.
func execute(t *testing.T, p *servicetest.Program, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), p.Config.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // the statement has ended
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

// beside starts another process of the program's deployment that serves only the API.
func beside(t *testing.T, p *servicetest.Program, options ...func(*settings.Config)) *servicetest.Program {
	t.Helper()
	return servicetest.Start(t, func(own *settings.Config) {
		*own = p.Config
		own.Roles = []string{settings.RoleAPI}
		for _, option := range options {
			option(own)
		}
	})
}

// acts returns what operators did, as command, arguments and outcome, the oldest first.
func acts(t *testing.T, c *servicetest.Client) (all []string) {
	t.Helper()
	list := shown[api.OperatorActList](t, c, "acts").Items
	for i := range list {
		o := &list[len(list)-1-i]
		all = append(all, fmt.Sprint(o.Command, " ", o.Arguments, " ", o.Outcome))
	}
	return all
}

// TestAParkedStreamIsRetried: a retry applies the facts of a stream when the cause is
// removed, by whichever process it comes. It is recorded with its outcome. Under one key it is done
// once, and its answer stays; the same key for another stream is another act.
func TestAParkedStreamIsRetried(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t)
	account := servicetest.NewAccount()
	c, elsewhere := p.Person(t, account, "operator"), beside(t, p).Person(t, account, "operator")
	owner := p.Service(t, servicetest.NewAccount())
	workspace := owner.Post("/api/v1/workspaces", map[string]any{"name": "w"}).Want(201).Text("id")
	retry := prefix + "parked-facts/" + workspace + "/retry"
	c.Post(retry, nil, key("none")).Refused(404, "NOT_FOUND")

	execute(t, p, `ALTER TABLE readmodel.workspaces ADD CONSTRAINT no_colour CHECK (name <> 'green')`)
	p.Do(t, workspace, commands.UpdateWorkspace{ID: workspace, Name: "green"})

	var failed, again, done, repeated api.ParkedRetry
	c.Post(retry, nil, key("before")).Want(200).Into(&failed)
	if o := failed.Operation; o.Outcome != events.OperationFailed || o.EndedAt == nil || failed.Total != 1 || len(failed.Items) != 1 || failed.Items[0].Sequence != 2 {
		t.Errorf("before the cause is removed the retry is %+v", failed)
	}
	execute(t, p, `ALTER TABLE readmodel.workspaces DROP CONSTRAINT no_colour`)
	elsewhere.Post(retry, nil, key("before")).Want(200).Into(&again)
	if diff := cmp.Diff(failed, again); diff != "" {
		t.Errorf("the retry that failed is done again under its key (-first +second):\n%s", diff)
	}

	elsewhere.Post(retry, nil, key("after")).Want(200).Into(&done)
	if done.Operation.Outcome != events.OperationSucceeded || done.Total != 0 || done.Items == nil {
		t.Errorf("the retry is %+v, want a success that leaves nothing", done)
	}
	if w := owner.Get("/api/v1/workspaces/" + workspace).Want(200).Object(); w["name"] != "green" {
		t.Errorf("after the retry the workspace is %v, want green", w)
	}
	c.Post(retry, nil, key("after")).Want(200).Into(&repeated)
	if diff := cmp.Diff(done, repeated); diff != "" {
		t.Errorf("the repetition differs (-first +second):\n%s", diff)
	}
	c.Post(retry, nil, key("late")).Refused(404, "NOT_FOUND")
	c.Post(prefix+"parked-facts/workspace_other/retry", nil, key("after")).Refused(404, "NOT_FOUND")
	of := "streams retry [stream=" + workspace + "] "
	if diff := cmp.Diff([]string{of + "failed", of + "succeeded"}, acts(t, c)); diff != "" {
		t.Errorf("the acts (-want +got):\n%s", diff)
	}
}

// TestOneKeyIsOneAct: of requests with one key at the same time, by two processes, one acts.
// The others get its answer, or are told to ask again.
func TestOneKeyIsOneAct(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t)
	account := servicetest.NewAccount()
	clients := []*servicetest.Client{p.Person(t, account, "operator"), beside(t, p).Person(t, account, "operator")}
	workspace := newWorkspace(t, p)
	p.Park(t, workspace)
	var sent sync.WaitGroup
	for i := range 8 {
		sent.Go(func() {
			testworld.Await(t, func() bool {
				r := clients[i%2].Post(prefix+"parked-facts/"+workspace+"/retry", nil, key("one"))
				if r.Status == 503 && r.Header.Get("Retry-After") != "" {
					return false
				}
				r.Want(200)
				return true
			})
		})
	}
	testwait.Group(t, &sent, "the requests")
	if diff := cmp.Diff([]string{"streams retry [stream=" + workspace + "] failed"}, acts(t, clients[0])); diff != "" {
		t.Errorf("the acts (-want +got):\n%s", diff)
	}
}

// TestAnActThatHadNoTimeIsContinued: while no projector answers, a retry is told to come
// again and has no end. Under its key it is done to its end when there is one.
func TestAnActThatHadNoTimeIsContinued(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t)
	account := servicetest.NewAccount()
	c := p.Person(t, account, "operator")
	impatient := beside(t, p, func(c *settings.Config) { c.VerdictTimeout = 3 * time.Second }).Person(t, account, "operator")
	workspace := newWorkspace(t, p)
	p.Park(t, workspace)
	c.Eventually(prefix+"parked-facts", func(r servicetest.Reply) bool { return r.Object()["total"] == 1.0 })
	// The projector stores with this column why a fact stays parked.
	execute(t, p, `ALTER TABLE readmodel.parked RENAME COLUMN reason TO because; ALTER TABLE readmodel.parked ADD COLUMN reason text GENERATED ALWAYS AS (because) STORED`)
	retry := prefix + "parked-facts/" + workspace + "/retry"
	if r := impatient.Post(retry, nil, key("slow")); r.Status != 503 || r.Header.Get("Retry-After") == "" {
		t.Errorf("without a projector that answers: %d %s, want 503 with Retry-After", r.Status, r.Body)
	}
	of := "streams retry [stream=" + workspace + "] "
	if diff := cmp.Diff([]string{of}, acts(t, c)); diff != "" {
		t.Errorf("the acts (-want +got):\n%s", diff)
	}
	execute(t, p, `ALTER TABLE readmodel.parked DROP COLUMN reason; ALTER TABLE readmodel.parked RENAME COLUMN because TO reason`)
	testworld.Await(t, func() bool { return c.Post(retry, nil, key("slow")).Status == 200 })
	if diff := cmp.Diff([]string{of + "failed"}, acts(t, c)); diff != "" {
		t.Errorf("the acts (-want +got):\n%s", diff)
	}
}

// TestDeadLettersAreRetried: one letter is settled when its handler succeeds, in a process
// without the role reactor too. All are retried at once, and what fails again says why.
func TestDeadLettersAreRetried(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.Retries = 1 })
	account := servicetest.NewAccount()
	c, elsewhere := p.Person(t, account, "operator"), beside(t, p).Person(t, account, "operator")
	service := p.Client(t, devissuer.Options{Service: true, Account: servicetest.NewAccount()})
	execute(t, p, `ALTER TABLE readmodel.mapping_files RENAME TO lost`) // the deletion of a workspace reads it
	deleted := service.Post("/api/v1/workspaces", map[string]any{"name": "w"}).Want(201).Text("id")
	service.Delete("/api/v1/workspaces/" + deleted).Want(202)
	letter := awaitLetter(t, c, "workspace", deleted)
	retry := prefix + letterPath(letter) + "/retry"

	var retried, repeated api.DeadLetterRetry
	c.Post(retry, nil, key("before")).Want(200).Into(&retried)
	if retried.Operation.Outcome != events.OperationFailed || retried.Total != 1 || retried.Items[0].ID != letter.ID || retried.Items[0].Error == "" {
		t.Errorf("before the cause is removed the retry is %+v", retried)
	}
	execute(t, p, `ALTER TABLE readmodel.lost RENAME TO mapping_files`)
	elsewhere.Post(retry, nil, key("after")).Want(200).Into(&retried)
	if retried.Operation.Outcome != events.OperationSucceeded || retried.Total != 0 || retried.Items == nil {
		t.Errorf("the retry is %+v, want a success that leaves nothing", retried)
	}
	service.Eventually("/api/v1/workspaces/"+deleted, func(r servicetest.Reply) bool { return r.Status == 404 })
	c.Post(retry, nil, key("after")).Want(200).Into(&repeated)
	if diff := cmp.Diff(retried, repeated); diff != "" {
		t.Errorf("the repetition differs (-first +second):\n%s", diff)
	}
	c.Post(retry, nil, key("late")).Refused(404, "NOT_FOUND")

	var none, all api.DeadLetterRetry
	c.Post(prefix+"dead-letters/retry", nil, key("none")).Want(200).Into(&none)
	if none.Operation.Outcome != events.OperationSucceeded || none.Total != 0 {
		t.Errorf("the retry of no letters is %+v", none)
	}
	unknown := newWorkspace(t, p)
	p.Park(t, unknown)
	awaitLetter(t, c, "workspace", unknown)
	awaitLetter(t, c, "billing", unknown)
	c.Post(prefix+"dead-letters/retry?limit=1", nil).Want(200).Into(&all)
	if all.Operation.Outcome != events.OperationFailed || all.Total != 2 || len(all.Items) != 1 || all.Items[0].Error == "" {
		t.Errorf("the retry of unreadable facts is %+v", all)
	}
	of := "reactions retry [letter=" + letter.ID + "] "
	want := []string{of + "failed", of + "succeeded", "reactions retry [all=true] succeeded", "reactions retry [all=true] failed"}
	if diff := cmp.Diff(want, acts(t, c)); diff != "" {
		t.Errorf("the acts (-want +got):\n%s", diff)
	}
}

// TestARunIsTerminatedByAnOperator: an operator of another account ends a run, once for a
// key, and the log has the reason. What does not run is refused and not recorded.
func TestARunIsTerminatedByAnOperator(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t)
	account := servicetest.NewAccount()
	c, elsewhere := p.Person(t, account, "operator"), beside(t, p).Person(t, account, "operator")
	owner := servicetest.NewAccount()
	p.Grant(t, owner, "1000000")
	user := p.User(t, owner)
	phases := make([]map[string]any, 1000)
	for i := range phases {
		phases[i] = map[string]any{"operationType": "allToAll", "algorithm": "interleaved", "dataSize": 1 << 40}
	}
	id := user.Post("/api/v1/simple/simulations", map[string]any{"name": "endless", "workload": map[string]any{"ranks": 1024, "phases": phases}}).Want(202).Text("simulationId")
	user.Eventually("/api/v1/simulations/"+id, servicetest.HasStatus("running"))
	terminate := prefix + "runs/" + id + "/terminate"
	c.Post(prefix+"runs/"+events.NewID(events.SimulationPrefix)+"/terminate", map[string]any{"reason": "r"}).Refused(404, "NOT_FOUND")
	c.Post(terminate, map[string]any{}).Refused(400, "VALIDATION_ERROR")

	var done, repeated api.OperatorAct
	c.Post(terminate, map[string]any{"reason": "takes all workers"}, key("k")).Want(200).Into(&done)
	if done.Outcome != events.OperationSucceeded || done.EndedAt == nil || !events.ValidID(events.UserPrefix, done.Operator) {
		t.Errorf("the act is %+v, want a success of the user", done)
	}
	if s := user.Get("/api/v1/simulations/" + id).Want(200).Object(); s["status"] != "terminated" {
		t.Errorf("the simulation is %v, want terminated", s["status"])
	}
	elsewhere.Post(terminate, map[string]any{"reason": "takes all workers"}, key("k")).Want(200).Into(&repeated)
	if diff := cmp.Diff(done, repeated); diff != "" {
		t.Errorf("the repetition differs (-first +second):\n%s", diff)
	}
	c.Post(terminate, map[string]any{"reason": "another"}, key("k")).Refused(422, "UNPROCESSABLE_ENTITY")
	c.Post(terminate, map[string]any{"reason": "again"}).Refused(409, "CONFLICT")
	if diff := cmp.Diff([]string{"runs terminate [simulation=" + id + " reason=takes all workers] succeeded"}, acts(t, c)); diff != "" {
		t.Errorf("the acts (-want +got):\n%s", diff)
	}
}
