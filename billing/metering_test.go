package billing_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/billing"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/internal/testwait"
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
	if err := b.billing.Hold(b.t.Context(), simulation, d); err != nil {
		b.t.Fatal(err)
	}
	return b.tell(simulation, "ada", d)
}

func TestASimulationsLife(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	b.at("2026-04-15 10:00:00").react(b.request(sim, requested()))
	b.at("2026-04-15 10:00:01").react(b.tell(sim, "system", events.SimulationStarted{Engine: "builtin", Ranks: 1200}))
	b.at("2026-04-15 10:14:24").react(b.tell(sim, "system", events.SimulationResultsPublished{Manifest: "m", Bytes: 1_500_000_000}))
	b.react(b.tell(sim, "system", events.SimulationCompleted{}))
	b.at("2026-04-18 00:00:00").react(b.tell(sim, "eve", events.SimulationDeleted{Reason: "request"}))

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

	item, err := projections.LatestBillingItem(t.Context(), b.pool, "simulation", sim)
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

	// What is in the balance is what the costs add up to.
	balances, _, err := projections.ListBalances(t.Context(), b.pool, account, projections.Page{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	if len(balances) != 1 || balances[0].Debits != "4.799591111111111111" || balances[0].Current != "99995.200408888888888889" {
		t.Errorf("balances %+v", balances)
	}
}

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
			b.react(b.tell(sim, "system", end))
			want := []string{"granted 100000 CREDIT", "held 20 CREDIT", "released 20 CREDIT: ended"}
			if diff := cmp.Diff(want, b.recorded(account)); diff != "" {
				t.Errorf("books (-want +got):\n%s", diff)
			}
		})
	}
}

func TestResultsPublishedAgain(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	b.tell(sim, "ada", requested())
	first := b.tell(sim, "system", events.SimulationResultsPublished{Manifest: "1", Bytes: 1})
	b.react(first)
	second := b.at("2026-04-15 11:00:00").tell(sim, "system", events.SimulationResultsPublished{Manifest: "2", Bytes: 3_000_000_000})
	b.react(second)
	third := b.at("2026-04-15 12:00:00").tell(sim, "system", events.SimulationResultsPublished{Manifest: "3", Bytes: 3_000_000_001})
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
	one := b.tell(traceset(1), "ada", created(1))
	two := b.at("2026-04-15 10:00:10").tell(traceset(2), "bob", created(2))
	b.react(two) // another partition is ahead
	b.react(one)
	b.react(b.tell(traceset(1), "ada", events.TracesetDeleted{Reason: "request"}))
	b.at("2026-04-15 22:00:00").react(b.tell(traceset(2), "ada", events.TracesetDeleted{Reason: "expired"}))
	b.at("2026-04-15 23:00:00").react(b.tell(traceset(3), "ada", created(3)))
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

func TestMappingFiles(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	file := "mapfile_00000000000000000000000001"
	b.react(b.tell(file, "ada", events.MappingFileCreated{
		AccountID: account, WorkspaceID: events.DefaultWorkspace, Name: "mapping.txt", SizeBytes: 64_000_000,
	}))
	b.at("2026-04-15 22:00:00").react(b.tell(file, "ada", events.MappingFileDeleted{Reason: "request"}))
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

func TestWorkspaces(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	b.react(b.tell(events.DefaultWorkspace, "system", events.WorkspaceCreated{Name: "default", Owner: "system"}))
	ws := "workspace_00000000000000000000000001"
	b.react(b.tell(ws, "ada", events.WorkspaceCreated{AccountID: account, Name: "lab", Owner: "ada"}))
	b.react(b.tell(ws, "ada", events.WorkspaceDeletionRequested{}))
	b.react(b.tell(ws, "system", events.WorkspaceDeleted{}))
	want := []string{
		"granted 100000 CREDIT",
		"workspace start of lab: 0 to 1, 1 in all",
		"workspace stop of lab: 1 to 0, 0 in all",
	}
	if diff := cmp.Diff(want, b.recorded(account)); diff != "" {
		t.Errorf("books (-want +got):\n%s", diff)
	}
}

func TestHolds(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	ctx := t.Context()
	const poor = "acct_00000000000000000000000009"
	wanted := requested()
	wanted.AccountID = poor
	hold := func(simulation string, refused bool) {
		t.Helper()
		for range 2 {
			err := b.billing.Hold(ctx, simulation, wanted)
			if got := fault.Is(err, fault.PaymentRequired); got != refused || err != nil && !got {
				t.Errorf("hold for %s: %v, want refused %v", simulation, err, refused)
			}
		}
	}
	release := func() {
		t.Helper()
		for range 2 {
			if err := b.billing.ReleaseHolds(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	other, third := sim[:len(sim)-1]+"8", sim[:len(sim)-1]+"9"
	hold(sim, true) // nothing granted
	b.tell(poor, "system", events.CreditGranted{Amount: "30", Currency: "CREDIT", Reference: "r"})
	hold(sim, false)
	b.tell(sim, "ada", wanted)
	hold(other, false) // what is left of the 30
	hold(third, true)
	release() // nothing yet
	b.at("2026-04-15 10:10:00")
	release() // the other was never requested
	b.at("2026-04-16 10:00:00")
	hold(third, false)
	release()
	b.react(b.tell(sim, "system", events.SimulationFailed{Reason: "late"}))
	b.tell(poor, "system", events.DailyCostRated{DailyCostID: 99, Cost: "20", Currency: "CREDIT", RateAmount: "1", Version: 1})
	b.billing.Postpaid = []string{poor}
	hold(sim[:len(sim)-1]+"7", false)
	want := []string{
		"granted 30 CREDIT", "held 20 CREDIT", "held 10 CREDIT", "released 10 CREDIT: not requested",
		"held 10 CREDIT", "released 20 CREDIT: expired",
	}
	if diff := cmp.Diff(want, b.recorded(poor)[:len(want)]); diff != "" {
		t.Errorf("books (-want +got):\n%s", diff)
	}
}

// readFirst is the log of a worker that appends nothing before every other
// worker has read what it is going to do.
type readFirst struct {
	*books
	all  *sync.WaitGroup
	once sync.Once
}

func (l *readFirst) Load(ctx context.Context, stream, commandID string) (events.Snapshot, error) {
	l.once.Do(func() { l.all.Done(); testwait.Group(l.t, l.all, "the other workers to have read") })
	return l.books.Load(ctx, stream, commandID)
}

// TestHoldsAreReleasedOnce: workers that release the same holds at the same
// time free each of them once.
func TestHoldsAreReleasedOnce(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	const holds, workers = 5, 2
	const poor = "acct_00000000000000000000000009"
	wanted := requested()
	wanted.AccountID = poor
	b.tell(poor, "system", events.CreditGranted{Amount: "1000", Currency: "CREDIT", Reference: "r"})
	for range holds {
		if err := b.billing.Hold(t.Context(), events.NewID(events.SimulationPrefix), wanted); err != nil {
			t.Fatal(err)
		}
	}
	b.at("2026-04-16 10:00:00")
	var reads, ends sync.WaitGroup
	reads.Add(workers)
	for range workers {
		worker := *b.billing
		worker.Commands = &handle.Handler{Log: &readFirst{books: b, all: &reads}, Now: b.now}
		ends.Go(func() {
			if err := worker.ReleaseHolds(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	testwait.Group(t, &ends, "the workers")
	released := 0
	for _, entry := range b.recorded(poor) {
		if strings.HasPrefix(entry, "released ") {
			released++
		}
	}
	if released != holds {
		t.Errorf("%d holds were released %d times", holds, released)
	}
}

// TestAHoldThatWasReleased: a request that comes again after its credit was
// freed, as a client repeats it with its key, needs credit as any other.
func TestAHoldThatWasReleased(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	ctx := t.Context()
	const poor = "acct_00000000000000000000000009"
	wanted := requested()
	wanted.AccountID = poor
	other := sim[:len(sim)-1] + "8"
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	b.tell(poor, "system", events.CreditGranted{Amount: "20", Currency: "CREDIT", Reference: "r"})
	must(b.billing.Hold(ctx, sim, wanted))
	b.at("2026-04-15 10:11:00")
	must(b.billing.ReleaseHolds(ctx)) // it was not requested
	must(b.billing.Hold(ctx, other, wanted))
	b.tell(other, "ada", wanted)
	for range 2 {
		if err := b.billing.Hold(ctx, sim, wanted); !fault.Is(err, fault.PaymentRequired) {
			t.Errorf("hold again while another has all of it: %v, want payment required", err)
		}
	}
	b.react(b.tell(other, "system", events.SimulationFailed{Reason: "gone"}))
	for range 2 {
		must(b.billing.Hold(ctx, sim, wanted))
	}
	b.at("2026-04-15 10:20:00") // not over yet, but old
	for range 2 {
		must(b.billing.Hold(ctx, sim, wanted))
	}
	b.at("2026-04-15 10:22:00") // when the old one would be
	must(b.billing.ReleaseHolds(ctx))
	b.tell(sim, "ada", wanted)
	b.react(b.tell(sim, "system", events.SimulationFailed{Reason: "gone"}))
	want := []string{
		"granted 20 CREDIT", "held 20 CREDIT", "released 20 CREDIT: not requested", "held 20 CREDIT", "released 20 CREDIT: ended",
		"held 20 CREDIT", "released 20 CREDIT: not requested", "held 20 CREDIT", "released 20 CREDIT: ended",
	}
	if diff := cmp.Diff(want, b.recorded(poor)); diff != "" {
		t.Errorf("books (-want +got):\n%s", diff)
	}
}

func TestCountersAreRaised(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	b.tell(account, "system", events.UsageRecorded{
		BillingEventID: 70, BillingItemID: 50, Action: "start", CurrentCount: 1, OccurredAt: time.Now(),
	})
	for range 2 {
		if err := billing.RaiseCounters(t.Context(), b.pool); err != nil {
			t.Fatal(err)
		}
	}
	for counter, want := range map[billing.Counter]int64{billing.BillingItemIDs: 51, billing.BillingEventIDs: 71} {
		ids, err := counter.Next(t.Context(), b.pool, 2)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int64{want, want + 1}, ids); diff != "" {
			t.Errorf("%s (-want +got):\n%s", counter, diff)
		}
	}
}

func TestAccessIsLogged(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	access := events.AccessLogged{Caller: "auditor", Operation: "listRates", FilterKey: "userName"}
	if err := b.billing.LogAccess(t.Context(), account, "request-1", access); err != nil {
		t.Fatal(err)
	}
	want := []string{"granted 100000 CREDIT", "auditor looked up by userName in listRates"}
	if diff := cmp.Diff(want, b.recorded(account)); diff != "" {
		t.Errorf("books (-want +got):\n%s", diff)
	}
}
