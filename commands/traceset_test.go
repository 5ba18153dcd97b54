package commands_test

import (
	"testing"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
)

func TestCreateAndDeleteTraceset(t *testing.T) {
	t.Parallel()
	made := events.TracesetCreated{AccountID: "acct", WorkspaceID: "workspace_1", Name: "ring", Status: "ready"}
	gone := events.TracesetDeleted{Reason: "request"}
	create := commands.CreateTraceset{Created: made}
	remove := commands.DeleteTraceset{ID: "ts_1", Reason: "request"}
	check(t, []example[commands.Traceset]{
		{"create a new one", nil, create, event(made)},
		{"create it again", given(made), create, nothing()},
		{"create it after it was deleted", given(made, gone), create, event(made)},
		{"delete it", given(made), remove, event(gone)},
		{"delete it again", given(made, gone), remove, refusal(fault.NotFound)},
		{"delete it after it was created again", given(made, gone, made), remove, event(gone)},
		{"delete one that does not exist", nil, remove, refusal(fault.NotFound)},
	})
}

// Source: document 2, completions 6.1, 6.4.
func TestTracesetStates(t *testing.T) {
	t.Parallel()
	made := events.TracesetCreated{WorkspaceID: "workspace_1", Status: commands.TracesetProcessing, TTLDays: 7}
	described := made
	described.Workload = "{}"
	shown := described
	shown.Scope = commands.ScopePublic
	extracted := events.TracesetMetadataExtracted{RankCount: 2}
	failed := events.TracesetMetadataFailed{Reason: "a cycle"}
	gone := events.TracesetDeleted{Reason: "request"}
	extract := commands.RecordExtraction{ID: "ts_1", Extracted: extracted}
	refuse := commands.RefuseExtraction{ID: "ts_1", Failed: failed}
	promote := func(target, workload string) commands.PromoteTraceset {
		return commands.PromoteTraceset{ID: "ts_1", Target: target, Workload: workload}
	}
	promoted := func(from, to, workload string) events.TracesetPromoted {
		return events.TracesetPromoted{From: from, To: to, Workload: workload}
	}
	tenant := promoted("workspace", "tenant", "")
	use := commands.UseTraceset{ID: "ts_1", Use: "download"}
	expire := commands.DeleteTraceset{ID: "ts_1", Reason: "expired"}
	kept := events.TracesetUsed{Use: "resolve", ExpiresAt: time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)}
	check(t, []example[commands.Traceset]{
		{"extracted", given(made), extract, event(extracted)},
		{"extracted twice", given(made, extracted), extract, nothing()},
		{"extracted after it was deleted", given(made, gone), extract, nothing()},
		{"refused", given(made), refuse, event(failed)},
		{"extracted after it was refused", given(made, failed), extract, nothing()},

		{"promoted", given(described, extracted), promote("tenant", ""), event(tenant)},
		{"promoted again", given(described, extracted, tenant), promote("tenant", ""), nothing()},
		{"promoted below its scope", given(described, extracted, tenant, promoted("tenant", "public", "")), promote("tenant", ""), nothing()},
		{"promoted further", given(described, extracted, tenant), promote("public", ""), event(promoted("tenant", "public", ""))},
		{"promoted in one step", given(described, extracted), promote("public", ""), refusal(fault.PreconditionFailed)},
		{"promoted without metadata", given(made, extracted), promote("tenant", ""), refusal(fault.PreconditionFailed)},
		{"promoted with metadata", given(made, extracted), promote("tenant", "{}"), event(promoted("workspace", "tenant", "{}"))},
		{"promoted before it is ready", given(described), promote("tenant", ""), refusal(fault.Conflict)},
		{"promoted when it is gone", given(described, extracted, gone), promote("tenant", ""), refusal(fault.NotFound)},

		{"used", given(made, extracted), use, event(events.TracesetUsed{Use: "download", ExpiresAt: time.UnixMilli(0).AddDate(0, 0, 7)})},
		{"used when it does not expire", given(shown, extracted), use, nothing()},
		{"used when it is gone", given(made, gone), use, refusal(fault.NotFound)},
		{"expired", given(made, extracted), expire, event(events.TracesetDeleted{Reason: "expired"})},
		{"expired after a use", given(made, extracted, kept), expire, nothing()},
		{"expired when it does not expire", given(shown, extracted), expire, nothing()},
	})
}
