package conformance_test

import (
	"slices"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
)

// pageParameters select a page of a list. All other parameters select the list.
var pageParameters = []string{"next", "cursor", "limit"}

// TestACursorBelongsToItsRequest: every list refuses a cursor when a parameter other
// than the position and size of the page has changed.
func TestACursorBelongsToItsRequest(t *testing.T) {
	w := newWorld(t, servicetest.Shared(t))
	w.fillLists(t)
	each(t, operation.isList, func(t *testing.T, op operation) {
		c := w.lister(t, op)
		r := w.request(t, op)
		w.show(t, &r)
		next := secondPage(c, r)
		r.query.Set("limit", "2")
		r.query.Set("next", next)
		r.send(c).Want(200)
		for _, p := range op.parameters {
			if p.In != "query" || slices.Contains(pageParameters, p.Name) {
				continue
			}
			changed := r.with(p, w.another(t, p, r.query.Get(p.Name)))
			changed.send(c).Refused(400, "VALIDATION_ERROR")
			changed.query.Del("next")
			changed.send(c).Want(200) // the request is allowed without the cursor
		}
	})
}

// isList reports whether the operation returns a list in pages.
func (op operation) isList() bool {
	return slices.ContainsFunc(op.parameters, func(p *openapi3.Parameter) bool { return p.Name == "next" })
}

// fillLists adds a second row to every list of the account.
func (w *world) fillLists(t *testing.T) {
	t.Helper()
	c := w.client(t)
	w.newTraceset(t, events.DefaultWorkspace)
	c.Post("/api/v1/simulations", map[string]any{"configurationId": w.configuration, "name": "again", "duration": "1s"}).Want(201)
	w.newMappingFile(t, events.DefaultWorkspace)
	w.program.Grant(t, servicetest.NewAccount(), "1")
	for range 2 {
		w.program.Checkpoint(t, events.NewID("checkpoint"))
	}
	log := w.program.Beside(t).Commands
	for _, id := range []int64{900_001, 900_002} {
		if _, err := handle.Command(t.Context(), log, handle.Target{Stream: w.account, PartitionKey: w.account},
			handle.Origin{Actor: events.System}, commands.RecordDailyCost{Rated: events.DailyCostRated{
				DailyCostID: id, BillingItemID: id, RateID: 1, EngineVersion: "1", FirstEventID: 1, LastEventID: 1, Date: "2026-03-01", Cost: "1", Currency: "CREDIT", RateAmount: "1", Period: "day",
				DayPrice: "1", UnitDays: "1", RateName: "cluster", Version: 1,
			}}); err != nil {
			t.Fatal(err)
		}
	}
}

// show changes the request so that its list has several rows and a page has one.
func (w *world) show(t *testing.T, r *request) {
	t.Helper()
	switch r.op.id {
	case "ListLibraries", "ListMappingFiles":
		r.query.Set("workspaceId", events.DefaultWorkspace)
	case "ListCosts":
		r.query.Set("startDate", "2026-02-20")
		r.query.Set("endDate", "2026-03-10")
	case "ListConfigurationComponents", "ListConfigurationContainers":
		r.path["config_id"] = w.newConfiguration(t)
	}
	r.query.Set("limit", "1")
}

// lister returns a client that sees several rows of the list. An account has only one
// balance, so the list of balances needs a client that sees the whole platform.
func (w *world) lister(t *testing.T, op operation) *servicetest.Client {
	t.Helper()
	if op.id == "ListBalances" {
		return w.program.Client(t, devissuer.Options{Service: true, User: "robot", Account: "*"})
	}
	return w.client(t)
}

// secondPage waits until the list has a second page, and returns its cursor.
func secondPage(c *servicetest.Client, r request) (next string) {
	c.Eventually(r.target(), func(reply servicetest.Reply) bool {
		pagination, _ := reply.Object()["pagination"].(map[string]any)
		next, _ = pagination["nextCursor"].(string)
		return next != ""
	})
	return next
}

// another returns a value of the parameter that differs from value.
func (w *world) another(t *testing.T, p *openapi3.Parameter, value string) string {
	t.Helper()
	schema := p.Schema.Value
	switch {
	case p.Name == "workspaceId" && value != w.workspace:
		return w.workspace
	case schema.Format == "date" && value != "":
		day, err := time.Parse(time.DateOnly, value)
		if err != nil {
			t.Fatal(err)
		}
		return day.AddDate(0, 0, 1).Format(time.DateOnly)
	case len(schema.Enum) > 0:
		for _, other := range slices.Backward(schema.Enum) {
			if text(other) != value && text(other) != text(schema.Default) {
				return text(other)
			}
		}
	case schema.Type.Is("boolean"):
		return text(value != "true")
	}
	other := example(p)
	if other == value {
		t.Fatalf("%s: no other value than %q is known", p.Name, value)
	}
	return other
}
