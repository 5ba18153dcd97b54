package billing_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/internal/testwait"
)

// TestHolds: a prepaid account can hold at most its free credit. Holds are
// released when they expire, and when their simulation was not requested in
// time.
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
			err := b.billing.Holds.Hold(ctx, simulation, "", wanted)
			if got := fault.Is(err, fault.PaymentRequired); got != refused || err != nil && !got {
				t.Errorf("hold for %s: %v, want refused %v", simulation, err, refused)
			}
		}
	}
	release := func() {
		t.Helper()
		for range 2 {
			if err := b.billing.Holds.ReleaseOverdue(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	other, third := sim[:len(sim)-1]+"8", sim[:len(sim)-1]+"9"
	hold(sim, true) // nothing granted
	b.record(poor, "system", events.CreditGranted{Amount: "30", Currency: "CREDIT", Reference: "r"})
	hold(sim, false)
	b.record(sim, "ada", wanted)
	hold(other, false) // holds the remaining 10
	hold(third, true)
	release() // nothing is overdue yet
	b.at("2026-04-15 10:10:00")
	release() // the second simulation was never requested
	b.at("2026-04-16 10:00:00")
	hold(third, false)
	release()
	b.react(b.record(sim, "system", events.SimulationFailed{Reason: "late"}))
	b.record(poor, "system", events.DailyCostRated{DailyCostID: 99, Cost: "20", Currency: "CREDIT", RateAmount: "1", Version: 1})
	b.billing.Holds.Postpaid = []string{poor}
	hold(sim[:len(sim)-1]+"7", false)
	want := []string{
		"granted 30 CREDIT", "held 20 CREDIT", "held 10 CREDIT", "released 10 CREDIT: not requested",
		"held 10 CREDIT", "released 20 CREDIT: expired",
	}
	if diff := cmp.Diff(want, b.recorded(poor)[:len(want)]); diff != "" {
		t.Errorf("books (-want +got):\n%s", diff)
	}
}

// readFirst is the log of a worker that appends only after every other worker
// has read the holds.
type readFirst struct {
	*books
	all  *sync.WaitGroup
	once sync.Once
}

func (l *readFirst) Load(ctx context.Context, stream, commandID string) (events.Snapshot, error) {
	l.once.Do(func() { l.all.Done(); testwait.Group(l.t, l.all, "the other workers to read the holds") })
	return l.books.Load(ctx, stream, commandID)
}

// TestHoldsAreReleasedOnce: workers that release the same holds at the same time
// release each once.
func TestHoldsAreReleasedOnce(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	const holds, workers = 5, 2
	const poor = "acct_00000000000000000000000009"
	wanted := requested()
	wanted.AccountID = poor
	b.record(poor, "system", events.CreditGranted{Amount: "1000", Currency: "CREDIT", Reference: "r"})
	for range holds {
		if err := b.billing.Holds.Hold(t.Context(), events.NewID(events.SimulationPrefix), "", wanted); err != nil {
			t.Fatal(err)
		}
	}
	b.at("2026-04-16 10:00:00")
	var reads, ends sync.WaitGroup
	reads.Add(workers)
	for range workers {
		worker := *b.billing.Holds
		worker.Commands = &handle.Handler{Log: &readFirst{books: b, all: &reads}, Now: b.now}
		ends.Go(func() {
			if err := worker.ReleaseOverdue(t.Context()); err != nil {
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
		t.Errorf("%d holds were released %d times in all, want once each", holds, released)
	}
}

// TestAHoldThatWasReleased: after the hold of a request was released, a
// repetition of the request needs credit like any other request.
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
	b.record(poor, "system", events.CreditGranted{Amount: "20", Currency: "CREDIT", Reference: "r"})
	must(b.billing.Holds.Hold(ctx, sim, "", wanted))
	b.at("2026-04-15 10:11:00")
	must(b.billing.Holds.ReleaseOverdue(ctx)) // it was not requested
	must(b.billing.Holds.Hold(ctx, other, "", wanted))
	b.record(other, "ada", wanted)
	for range 2 {
		if err := b.billing.Holds.Hold(ctx, sim, "", wanted); !fault.Is(err, fault.PaymentRequired) {
			t.Errorf("hold again while another simulation holds all credit: %v, want payment required", err)
		}
	}
	b.react(b.record(other, "system", events.SimulationFailed{Reason: "gone"}))
	for range 2 {
		must(b.billing.Holds.Hold(ctx, sim, "", wanted))
	}
	b.at("2026-04-15 10:20:00") // the hold is open, but about to be released
	for range 2 {
		must(b.billing.Holds.Hold(ctx, sim, "", wanted))
	}
	b.at("2026-04-15 10:22:00") // when the replaced hold would be released
	must(b.billing.Holds.ReleaseOverdue(ctx))
	b.record(sim, "ada", wanted)
	b.react(b.record(sim, "system", events.SimulationFailed{Reason: "gone"}))
	want := []string{
		"granted 20 CREDIT", "held 20 CREDIT", "released 20 CREDIT: not requested", "held 20 CREDIT", "released 20 CREDIT: ended",
		"held 20 CREDIT", "released 20 CREDIT: not requested", "held 20 CREDIT", "released 20 CREDIT: ended",
	}
	if diff := cmp.Diff(want, b.recorded(poor)); diff != "" {
		t.Errorf("books (-want +got):\n%s", diff)
	}
}
