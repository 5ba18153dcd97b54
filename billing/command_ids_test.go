package billing_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
)

// TestCommandIDsAreStable: a reaction that is repeated by another release finds
// its commands in the log by their ids, so the ids must never change.
func TestCommandIDsAreStable(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	b.react(b.request(sim, requested()))
	b.at("2026-04-15 10:00:01").react(b.record(sim, "system", events.SimulationStarted{Engine: "builtin", Ranks: 1200}))
	b.at("2026-04-15 10:14:24").react(b.record(sim, "system", events.SimulationCompleted{}))
	traceset := "ts_00000000000000000000000001"
	b.react(b.record(traceset, "ada", events.TracesetCreated{
		AccountID: account, WorkspaceID: events.DefaultWorkspace, Name: "traces", LibraryHash: "abc", TotalSize: 1, Status: "ready",
	}))
	b.react(b.record(traceset, "ada", events.TracesetDeleted{Reason: "request"}))
	var got []string
	for _, f := range b.facts {
		if f.CommandID != "" {
			got = append(got, f.Type+" "+f.CommandID)
		}
	}
	want := []string{
		"netsim.billing.rate_set.v1 90e412de-0595-80ab-84ac-84b85928e7c3",
		"netsim.billing.rate_set.v1 feb31415-62f5-8110-90e0-f98819ad47b6",
		"netsim.billing.rate_set.v1 dcf4ba5b-81ef-82f7-b2c0-333b0489058b",
		"netsim.billing.credit_granted.v1 e1ff6817-cfab-891b-9c9e-976b24a55ddf",
		"netsim.billing.credit_held.v1 hold:sim_00000000000000000000000001",
		"netsim.billing.usage_recorded.v1 1732d6cd-f462-825f-81a6-f2a56322a8cf",
		"netsim.billing.usage_recorded.v1 78440b7c-2b3c-8f77-aeab-16ab23a62159",
		"netsim.billing.daily_cost_rated.v1 cost:2026-04-15:1:1",
		"netsim.billing.credit_released.v1 release:sim_00000000000000000000000001:1776333600000",
		"netsim.billing.usage_recorded.v1 d0fe9c67-9588-850f-89a7-db248f3fcf17",
		"netsim.billing.usage_recorded.v1 1921c250-4404-8982-b34b-1f9560396a86",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("command ids (-want +got):\n%s", diff)
	}
}
