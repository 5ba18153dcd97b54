package billing_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/fault"
	"netsim/projections"
)

const debtor = "acct_00000000000000000000000009"

// runs begins a run of debtor at 20 an hour, with this credit.
func (b *books) runs(credit string) {
	b.t.Helper()
	wanted := requested()
	wanted.AccountID = debtor
	b.record(debtor, "system", events.CreditGranted{Amount: credit, Currency: "CREDIT", Reference: "r"})
	b.react(b.request(sim, wanted))
	b.react(b.record(sim, "system", events.SimulationStarted{Engine: "builtin", Ranks: 1200}))
}

// covers fails the test unless the run is covered, and to be looked at again after this time.
func (b *books) covers(again time.Duration) {
	b.t.Helper()
	at, err := b.billing.Holds.Cover(b.t.Context(), sim)
	if err != nil || at.Sub(b.now()) != again {
		b.t.Errorf("at %s: again after %s, %v; want %s", b.now(), at.Sub(b.now()), err, again)
	}
}

// TestAHoldGrows: the hold of a run that has used it up grows by an hour, then by what is
// free, and then the run must end. Nothing is held that another run needs, and the account is
// not charged more than it has.
func TestAHoldGrows(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	b.runs("45")
	b.at("2026-04-15 10:30:00").covers(time.Minute)
	b.at("2026-04-15 10:59:50").covers(10 * time.Second)
	b.at("2026-04-15 11:00:00").covers(time.Minute) // 40 held
	b.at("2026-04-15 11:59:59").covers(time.Second)
	b.at("2026-04-15 12:00:00").covers(time.Minute) // 45 held
	b.at("2026-04-15 12:14:59").covers(time.Second)
	b.at("2026-04-15 12:15:00").covers(time.Second) // all is spent
	b.at("2026-04-15 12:15:01")
	if _, err := b.billing.Holds.Cover(t.Context(), sim); !fault.Is(err, fault.PaymentRequired) {
		t.Errorf("a second later: %v, want PaymentRequired", err)
	}
	b.react(b.record(sim, "system", events.SimulationFailed{Reason: "credit exhausted"}))
	b.covers(time.Minute) // it has ended
	want := []string{
		"granted 45 CREDIT", "held 20 CREDIT", "cluster start of nightly: 0 to 2, 2 in all",
		"holds 40 instead of 20 CREDIT", "holds 45 instead of 40 CREDIT",
		"cluster stop of nightly: 2 to 0, 0 in all", "cost of nightly on 2026-04-15: 45.005555555555555556 CREDIT",
		"released 45 CREDIT: ended",
	}
	if diff := cmp.Diff(want, b.recorded(debtor)); diff != "" {
		t.Errorf("books (-want +got):\n%s", diff)
	}
}

// TestAHoldAfterABooking: what is booked is not held too. A hold that expired while the run
// waited is made again. A pause costs nothing.
func TestAHoldAfterABooking(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	b.runs("10000")
	for _, hour := range []string{"11", "12", "13", "14", "15", "16", "17", "18", "19", "20", "21", "22", "23"} {
		b.at("2026-04-15 " + hour + ":00:00").covers(time.Minute)
	}
	b.at("2026-04-16 00:00:30") // 280 held
	if err := b.billing.Books.AccrueDay(t.Context(), day("2026-04-15 00:00:00")); err != nil {
		t.Fatal(err)
	}
	b.covers(time.Minute)
	b.at("2026-04-16 01:00:00").react(b.record(sim, "system", events.SimulationYielded{}))
	b.at("2026-04-17 12:00:00")
	if err := b.billing.Holds.ReleaseOverdue(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.react(b.record(sim, "system", events.SimulationResumed{}))
	b.covers(time.Minute)
	b.at("2026-04-17 12:30:00").react(b.record(sim, "system", events.SimulationCompleted{}))
	got := b.recorded(debtor)
	want := []string{
		"holds 280 instead of 260 CREDIT",
		"cost of nightly on 2026-04-15: 280 CREDIT",
		"holds 20.166666666666666667 instead of 280 CREDIT",
		"cluster update of nightly: 2 to 0, 0 in all",
		"released 20.166666666666666667 CREDIT: expired",
		"cluster update of nightly: 0 to 2, 2 in all",
		"held 40 CREDIT",
		"cluster stop of nightly: 2 to 0, 0 in all",
		"cost of nightly on 2026-04-16: 20 CREDIT",
		"cost of nightly on 2026-04-17: 10 CREDIT",
		"released 40 CREDIT: ended",
	}
	if diff := cmp.Diff(want, got[max(len(got)-len(want), 0):]); diff != "" {
		t.Errorf("books (-want +got):\n%s", diff)
	}
}

// TestAHoldChangesAtTheEnd: of a change of a hold and its release, the one that comes first
// is recorded. Nothing stays held.
func TestAHoldChangesAtTheEnd(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	b.runs("100")
	ended := b.at("2026-04-15 11:00:00").record(sim, "system", events.SimulationTerminated{})
	b.covers(time.Minute) // its end is not metered yet
	b.react(ended)
	b.covers(time.Minute)
	last, err := projections.LastHold(t.Context(), b.pool, sim)
	if err != nil || last.ReleasedAt == nil || last.Amount != "40" {
		t.Errorf("hold %+v, %v; want one of 40 that is released", last, err)
	}
	if err := b.billing.Holds.Hold(t.Context(), sim[:len(sim)-1]+"8", "", events.SimulationRequested{AccountID: debtor, Simple: requested().Simple}); err != nil {
		t.Error(err)
	}
	got := b.recorded(debtor)
	want := []string{"holds 40 instead of 20 CREDIT", "cluster stop of nightly: 2 to 0, 0 in all", "cost of nightly on 2026-04-15: 20 CREDIT", "released 40 CREDIT: ended", "held 20 CREDIT"}
	if diff := cmp.Diff(want, got[max(len(got)-len(want), 0):]); diff != "" {
		t.Errorf("books (-want +got):\n%s", diff)
	}
}
