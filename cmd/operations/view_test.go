package operations_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/api"
	"netsim/api/contract"
	"netsim/cmd/operate"
	"netsim/cmd/settings"
	"netsim/events"
	"netsim/infra/auth"
	"netsim/infra/devissuer"
	"netsim/infra/projector"
	"netsim/internal/servicetest"
	"netsim/internal/testworld"
	"netsim/stream/lake"
)

const prefix = "/api/v1/operations/"

// operator returns a client of a person with the role operator, of an account that has
// nothing.
func operator(t *testing.T, p *servicetest.Program) *servicetest.Client {
	t.Helper()
	return p.Person(t, servicetest.NewAccount(), auth.OperatorRole)
}

func openTools(t *testing.T, c settings.Config) *operate.Tools {
	t.Helper()
	tools, err := operate.OpenTools(t.Context(), c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tools.Close)
	return tools
}

// shown returns what the service shows at a path, as a value of the contract.
func shown[T any](t *testing.T, c *servicetest.Client, path string) (v T) {
	t.Helper()
	c.Get(prefix + path).Want(200).Into(&v)
	return v
}

// newWorkspace returns the id of a new workspace.
func newWorkspace(t *testing.T, p *servicetest.Program) string {
	t.Helper()
	return p.Service(t, servicetest.NewAccount()).Post("/api/v1/workspaces", map[string]any{"name": "w"}).Want(201).Text("id")
}

// letterPath returns the path of a dead letter.
func letterPath(l api.DeadLetter) string {
	return fmt.Sprintf("dead-letters/%s/%s/%d/%d", l.Handler, l.Family, l.Partition, l.Offset)
}

// awaitLetters waits until the fact of a stream is a dead letter of a handler, and returns it.
func awaitLetter(t *testing.T, c *servicetest.Client, handler, stream string) (letter api.DeadLetter) {
	t.Helper()
	c.Eventually(prefix+"dead-letters?limit=1000", func(r servicetest.Reply) bool {
		var list api.DeadLetterList
		r.Into(&list)
		for _, letter = range list.Items {
			if letter.Handler == handler && letter.Stream == stream {
				return true
			}
		}
		return false
	})
	return letter
}

// ageless returns JSON without the ages of jobs and runs, which grow.
func ageless(text []byte) string {
	return strings.TrimSpace(regexp.MustCompile(`"(oldest|age)Seconds":[0-9.e-]+`).ReplaceAllString(string(text), ""))
}

// TestTheAPIShowsWhatTheCommandsPrint: of a deployment in which nothing happens, each
// operation shows the JSON of its command.
func TestTheAPIShowsWhatTheCommandsPrint(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t)
	c, tools := operator(t, p), openTools(t, p.Config)
	workspace := newWorkspace(t, p)
	p.Park(t, workspace)
	awaitLetter(t, c, "workspace", workspace)
	awaitLetter(t, c, "billing", workspace)
	ctx := t.Context()
	for path, printed := range map[string]func() (any, error){
		"read-models?limit=3":  func() (any, error) { return tools.ReadModels(ctx, 3) },
		"streams":              func() (any, error) { return tools.StreamFamilies(ctx, 100) },
		"streams?limit=2":      func() (any, error) { return tools.StreamFamilies(ctx, 2) },
		"parked-facts":         func() (any, error) { return tools.Parked(ctx, projector.ParkedQuery{Schema: projector.Live}) },
		"reactions?limit=3":    func() (any, error) { return tools.Reactions(ctx, 3) },
		"dead-letters":         func() (any, error) { return tools.DeadLetters(ctx, 100) },
		"dead-letters?limit=1": func() (any, error) { return tools.DeadLetters(ctx, 1) },
		"jobs":                 func() (any, error) { return tools.Jobs(ctx, 100) },
		"runs":                 func() (any, error) { return tools.OpenRuns(ctx, 100) },
		"lake":                 func() (any, error) { return tools.Lake(ctx) },
		"public-topics":        func() (any, error) { return tools.PublicTopics(ctx, 100) },
		"checkpoint":           func() (any, error) { return tools.LogCheckpoint(ctx) },
		"acts":                 func() (any, error) { return tools.Acts(ctx, 100) },
	} {
		testworld.Await(t, func() bool { // until reactions, lake and publisher have caught up
			want, err := printed()
			if errors.Is(err, lake.ErrMissing) { // it is made soon after the start
				return false
			}
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			text, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			return cmp.Diff(ageless(text), ageless(c.Insist(func() servicetest.Reply { return c.Get(prefix + path) }).Want(200).Body)) == ""
		})
	}

	families := shown[api.StreamFamilyList](t, c, "streams?limit=2")
	if len(families.Items) != 2 || families.Total != 7 {
		t.Errorf("2 families of all are %+v", families)
	}
	if letters := shown[api.DeadLetterList](t, c, "dead-letters?limit=1"); len(letters.Items) != 1 || letters.Total != 2 {
		t.Errorf("one of two dead letters is %+v", letters)
	}
	models := shown[api.ReadModelList](t, c, "read-models?limit=3")
	if m := models.Items[0]; models.Total != 1 || m.Schema != projector.Live || !m.ThisRelease || m.ParkedStreams != 1 || m.Projector == "" ||
		len(m.Partitions.Items) != 3 || m.Partitions.Total != 14 || m.Partitions.Items[0].Parked != 1 {
		t.Errorf("the read models are %+v", models)
	}
	upgrade := shown[api.UpgradeStatus](t, c, "upgrade")
	if upgrade.Level != int64(events.Level) || len(upgrade.Members) < 2 {
		t.Errorf("the processes are %+v, want that of the tools and the service itself", upgrade)
	}
	c.Eventually(prefix+"checkpoint", func(r servicetest.Reply) bool { // that of the day before is made soon after the start
		var s api.LogCheckpointStatus
		if r.Into(&s); s.Name == "" {
			return false
		}
		if s.SignedAt == nil || s.Records == 0 || !s.Signs {
			t.Errorf("the checkpoint is %+v", s)
		}
		return true
	})
}

// TestOnlyOperatorsSeeTheMachineRoom: of every operation of the machine room, a service
// token of the platform without the role is refused, and a person of any account with it is not.
func TestOnlyOperatorsSeeTheMachineRoom(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	terms, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.NewReplacer("{sim_id}", events.NewID(events.SimulationPrefix), "{stream}", "workspace_1", "{sequence}", "1", "{handler_name}", "h", "{family}", "f", "{partition}", "0", "{offset}", "0")
	count := 0
	for _, op := range terms.Operations() {
		if !strings.HasPrefix(op.Path, prefix) {
			continue
		}
		count++
		path := parts.Replace(op.Path)
		for _, without := range []*servicetest.Client{
			p.Client(t, devissuer.Options{Service: true, Account: auth.AllAccounts}), p.Person(t, servicetest.NewAccount(), auth.BillingRole),
		} {
			if said := without.Do(op.Method, path, nil).Refused(403, "FORBIDDEN"); said != "the role operator is required" {
				t.Errorf("%s: %q", op.ID, said)
			}
		}
		want := 200
		if strings.Contains(op.Path, "{") {
			want = 404
		}
		if op.ID == "ShowLake" { // it is made soon after the start
			operator(t, p).Eventually(path, func(r servicetest.Reply) bool { return r.Status == 200 })
		}
		var body any
		if op.ID == "TerminateRun" {
			body = map[string]any{"reason": "r"}
		}
		operator(t, p).Do(op.Method, path, body).Want(want)
	}
	if count < 14 {
		t.Errorf("the machine room has %d operations, want at least 14", count)
	}
}

// TestWithoutALakeThereIsNone: a deployment whose processes write no lake says so.
func TestWithoutALakeThereIsNone(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.Roles = []string{settings.RoleAPI, settings.RoleProjector} })
	operator(t, p).Get(prefix+"lake").Refused(404, "NOT_FOUND")
}

// TestLooksAreRecorded: the lists have no content. Of a parked fact and of a dead letter it
// is shown to an operator, whose look is recorded before under an opaque id. What is not
// there is neither shown nor recorded.
func TestLooksAreRecorded(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t)
	c := operator(t, p)
	workspace := newWorkspace(t, p)
	p.Park(t, workspace)
	letter := awaitLetter(t, c, "workspace", workspace)
	for _, path := range []string{"parked-facts", "parked-facts?stream=" + workspace, "dead-letters"} {
		if r := c.Get(prefix + path).Want(200); strings.Contains(string(r.Body), "green") || !strings.Contains(string(r.Body), workspace) {
			t.Errorf("%s shows %s, want the fact without its content", path, r.Body)
		}
	}
	if list := shown[api.ParkedFactList](t, c, "parked-facts?stream=workspace_other"); list.Total != 0 || list.Items == nil {
		t.Errorf("of another stream %+v is parked", list)
	}
	if acts := shown[api.OperatorActList](t, c, "acts"); acts.Total != 0 {
		t.Errorf("lists are recorded: %+v", acts)
	}

	for _, missing := range []string{"parked-facts/" + workspace + "/1", "parked-facts/workspace_other/2", "dead-letters/workspace/workspaces/0/999"} {
		c.Get(prefix+missing).Refused(404, "NOT_FOUND")
	}
	fact := shown[api.ParkedFactContent](t, c, "parked-facts/"+workspace+"/2")
	if fact.Data != `{"colour":"green"}` || fact.Stream != workspace || fact.Sequence != 2 || fact.Type != (servicetest.Painted{}).EventType() || fact.Reason == "" {
		t.Errorf("the parked fact is %+v", fact)
	}
	dead := shown[api.DeadLetterContent](t, c, letterPath(letter))
	if dead.Data != `{"colour":"green"}` || dead.ID != letter.ID || dead.Reason != letter.Reason {
		t.Errorf("the dead letter is %+v", dead)
	}

	acts := shown[api.OperatorActList](t, c, "acts")
	if acts.Total != 2 {
		t.Fatalf("the acts are %+v, want the two looks", acts)
	}
	for i, want := range []string{"reactions show letter=" + letter.ID, "streams show stream=" + workspace + " sequence=2"} { // the newest first
		o := acts.Items[i]
		if said := o.Command + " " + strings.Join(o.Arguments, " "); said != want || o.Outcome != events.OperationSucceeded || o.EndedAt == nil {
			t.Errorf("the act is %+v, want %s, succeeded", o, want)
		}
		if !events.ValidID(events.UserPrefix, o.Operator) {
			t.Errorf("the operator is %q, want an opaque id", o.Operator)
		}
	}
}

// TestWhatCannotBeRecordedIsNotShown: while the deployment is at a level at which the look
// could not be recorded, the content is not shown.
func TestWhatCannotBeRecordedIsNotShown(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t)
	c := operator(t, p)
	workspace := newWorkspace(t, p)
	p.Park(t, workspace)
	letter := awaitLetter(t, c, "workspace", workspace)
	w := p.Beside(t)
	if _, err := w.DB.Exec(t.Context(), `DELETE FROM netsim.release_level`); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"parked-facts/" + workspace + "/2", letterPath(letter)} {
		c.Eventually(prefix+path, func(r servicetest.Reply) bool { // a process reads the level every second
			return r.Status == 503 && !strings.Contains(string(r.Body), "green")
		})
	}
}
