package billing_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/projections"
)

const sim = "sim_00000000000000000000000001"

func requested() events.SimulationRequested {
	return events.SimulationRequested{
		Origin: "simple", AccountID: account, WorkspaceID: events.DefaultWorkspace, Name: "nightly",
		Simple: `{"groups":[{"count":2,"groupSize":600,"phases":[]}]}`,
	}
}

// request holds credit for a simulation and requests it, as a handler does.
func (b *books) request(simulation string, d events.SimulationRequested) events.Fact {
	b.t.Helper()
	if err := b.billing.Holds.Hold(b.t.Context(), simulation, "", d); err != nil {
		b.t.Fatal(err)
	}
	return b.record(simulation, "ada", d)
}

// TestASimulationFromRequestToDeletion: the hold, the billing items and the
// costs of a simulation are recorded, and its hold is released at its end.
func TestASimulationFromRequestToDeletion(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	b.at("2026-04-15 10:00:00").react(b.request(sim, requested()))
	b.at("2026-04-15 10:00:01").react(b.record(sim, "system", events.SimulationStarted{Engine: "builtin", Ranks: 1200}))
	b.at("2026-04-15 10:14:24").react(b.record(sim, "system", events.SimulationResultsPublished{Manifest: "m", Bytes: 1_500_000_000}))
	b.react(b.record(sim, "system", events.SimulationCompleted{}))
	b.at("2026-04-18 00:00:00").react(b.record(sim, "eve", events.SimulationDeleted{Reason: "request"}))

	want := []string{
		"granted 100000 CREDIT",
		"held 20 CREDIT",
		"cluster start of nightly: 0 to 2, 2 in all",
		"storage start of nightly: 0 to 2, 2 in all",
		"cluster stop of nightly: 2 to 0, 0 in all",
		"cost of nightly on 2026-04-15: 4.794444444444444444 CREDIT", // 863 s of 3600 at 10 × 2
		"released 20 CREDIT: ended",
		"storage stop of nightly: 2 to 0, 0 in all",
		"cost of nightly on 2026-04-15: 0.001146666666666667 CREDIT", // 49,536 s of 86,400 at 0.001 × 2
		"cost of nightly on 2026-04-16: 0.002 CREDIT",
		"cost of nightly on 2026-04-17: 0.002 CREDIT",
	}
	if diff := cmp.Diff(want, b.recorded(account)); diff != "" {
		t.Errorf("books (-want +got):\n%s", diff)
	}

	item, err := projections.NewBillingLookups(b.pool).LatestItem(t.Context(), "simulation", sim)
	if err != nil {
		t.Fatal(err)
	}
	started, ended := day("2026-04-15 10:00:01"), day("2026-04-15 10:14:24")
	wantItem := &projections.BillingItem{
		ID: item.ID, AccountID: account, Meter: "cluster", Action: "stop", RateName: "cluster", ItemName: "nightly",
		WorkspaceID: events.DefaultWorkspace, UserID: "ada", ResourceType: "simulation", ResourceID: sim,
		Ranks: 1200, Engine: "builtin", StartedAt: started, ChangedAt: ended, EndedAt: &ended,
		OpenedBy: item.OpenedBy, ChangedBy: item.ChangedBy, ClosedBy: item.ChangedBy,
	}
	if diff := cmp.Diff(wantItem, item); diff != "" || item.OpenedBy == item.ClosedBy {
		t.Errorf("item (-want +got):\n%s", diff)
	}

	// The balance is the grant less the sum of the costs.
	balances, _, err := projections.ListBalances(t.Context(), b.pool, account, projections.Page{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	if len(balances) != 1 || balances[0].Debits != "4.799591111111111111" || balances[0].Current != "99995.200408888888888889" {
		t.Errorf("balances %+v, want the grant less 4.799591111111111111", balances)
	}
}

// TestARunThatNeverStarts: a simulation that ends before it starts costs
// nothing, and its hold is released.
func TestARunThatNeverStarts(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]events.Data{
		"invalid": events.SimulationInvalidated{Reason: "gone"},
		"failed":  events.SimulationFailed{Reason: "inputs could not be staged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBooks(t)
			b.react(b.request(sim, requested()))
			b.react(b.record(sim, "system", end))
			want := []string{"granted 100000 CREDIT", "held 20 CREDIT", "released 20 CREDIT: ended"}
			if diff := cmp.Diff(want, b.recorded(account)); diff != "" {
				t.Errorf("books (-want +got):\n%s", diff)
			}
		})
	}
}

// TestResultsPublishedAgain: results that are published again change the units
// of their item. Repeated reactions change nothing.
func TestResultsPublishedAgain(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	b.record(sim, "ada", requested())
	first := b.record(sim, "system", events.SimulationResultsPublished{Manifest: "1", Bytes: 1})
	b.react(first)
	second := b.at("2026-04-15 11:00:00").record(sim, "system", events.SimulationResultsPublished{Manifest: "2", Bytes: 3_000_000_000})
	b.react(second)
	third := b.at("2026-04-15 12:00:00").record(sim, "system", events.SimulationResultsPublished{Manifest: "3", Bytes: 3_000_000_001})
	b.react(third)
	b.react(first, second, third) // the whole partition again
	want := []string{
		"granted 100000 CREDIT",
		"storage start of nightly: 0 to 1, 1 in all",
		"storage update of nightly: 1 to 3, 3 in all",
		"storage update of nightly: 3 to 4, 4 in all",
	}
	if diff := cmp.Diff(want, b.recorded(account)); diff != "" {
		t.Errorf("books (-want +got):\n%s", diff)
	}
}

// TestALibraryIsPaidOnce: two tracesets with the same files have one item,
// which closes when both are deleted.
func TestALibraryIsPaidOnce(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	traceset := func(n int) string { return fmt.Sprintf("ts_0000000000000000000000000%d", n) }
	created := func(n int) events.TracesetCreated {
		return events.TracesetCreated{
			AccountID: account, WorkspaceID: events.TracesetWorkspace, Name: fmt.Sprint("traces ", n),
			LibraryHash: "abc", TotalSize: 2_000_000_000, Status: "ready",
		}
	}
	one := b.record(traceset(1), "ada", created(1))
	two := b.at("2026-04-15 10:00:10").record(traceset(2), "bob", created(2))
	b.react(two) // the reactor read the partition of the second traceset first
	b.react(one)
	b.react(b.record(traceset(1), "ada", events.TracesetDeleted{Reason: "request"}))
	b.at("2026-04-15 22:00:00").react(b.record(traceset(2), "ada", events.TracesetDeleted{Reason: "expired"}))
	b.at("2026-04-15 23:00:00").react(b.record(traceset(3), "ada", created(3)))
	want := []string{
		"granted 100000 CREDIT",
		"storage start of traces 1: 0 to 2, 2 in all",
		"storage stop of traces 1: 2 to 0, 0 in all",
		"cost of traces 1 on 2026-04-15: 0.000999768518518519 CREDIT",
		"storage start of traces 3: 0 to 2, 2 in all",
	}
	if diff := cmp.Diff(want, b.recorded(account)); diff != "" {
		t.Errorf("books (-want +got):\n%s", diff)
	}
}

// TestALibrarysCostsSurviveAKill: a process is killed between the end of a library's item
// and its costs. The next attempt books them, also if the library is in use again.
func TestALibrarysCostsSurviveAKill(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"unused": false, "in use again": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBooks(t)
			created := events.TracesetCreated{
				AccountID: account, WorkspaceID: events.TracesetWorkspace, Name: "traces", LibraryHash: "abc", TotalSize: 2_000_000_000, Status: "ready",
			}
			b.react(b.record("ts_00000000000000000000000001", "ada", created))
			deleted := b.at("2026-04-15 22:00:00").record("ts_00000000000000000000000001", "ada", events.TracesetDeleted{Reason: "request"})
			b.killAt = events.DailyCostRated{}.EventType()
			if err := b.billing.React(t.Context(), deleted); !errors.Is(err, errKilled) {
				t.Fatalf("the killed process says %v", err)
			}
			want := []string{
				"granted 100000 CREDIT", "storage start of traces: 0 to 2, 2 in all", "storage stop of traces: 2 to 0, 0 in all",
				"cost of traces on 2026-04-15: 0.001 CREDIT",
			}
			if again {
				b.record("ts_00000000000000000000000002", "ada", created)
				want = append(want, "storage start of traces: 0 to 2, 2 in all")
			}
			b.react(deleted)
			if diff := cmp.Diff(want, b.recorded(account)); diff != "" {
				t.Errorf("books (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMappingFiles: a mapping file is billed from its creation to its deletion.
func TestMappingFiles(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	file := "mapfile_00000000000000000000000001"
	b.react(b.record(file, "ada", events.MappingFileCreated{
		AccountID: account, WorkspaceID: events.DefaultWorkspace, Name: "mapping.txt", SizeBytes: 64_000_000,
	}))
	b.at("2026-04-15 22:00:00").react(b.record(file, "ada", events.MappingFileDeleted{Reason: "request"}))
	want := []string{
		"granted 100000 CREDIT",
		"storage start of mapping.txt: 0 to 1, 1 in all",
		"storage stop of mapping.txt: 1 to 0, 0 in all",
		"cost of mapping.txt on 2026-04-15: 0.0005 CREDIT",
	}
	if diff := cmp.Diff(want, b.recorded(account)); diff != "" {
		t.Errorf("books (-want +got):\n%s", diff)
	}
}

// TestWorkspaces: a workspace is billed from its creation until its deletion is
// finished. A built-in workspace is not billed.
func TestWorkspaces(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	b.react(b.record(events.DefaultWorkspace, "system", events.WorkspaceCreated{Name: "default", Owner: "system"}))
	ws := "workspace_00000000000000000000000001"
	b.react(b.record(ws, "ada", events.WorkspaceCreated{AccountID: account, Name: "lab", Owner: "ada"}))
	b.react(b.record(ws, "ada", events.WorkspaceDeletionRequested{}))
	b.react(b.record(ws, "system", events.WorkspaceDeleted{}))
	want := []string{
		"granted 100000 CREDIT",
		"workspace start of lab: 0 to 1, 1 in all",
		"workspace stop of lab: 1 to 0, 0 in all",
	}
	if diff := cmp.Diff(want, b.recorded(account)); diff != "" {
		t.Errorf("books (-want +got):\n%s", diff)
	}
}
