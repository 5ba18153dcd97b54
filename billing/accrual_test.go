package billing_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/projections"
)

// TestAccrueDay: AccrueDay books a day once, and only after the day has ended.
func TestAccrueDay(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	b.record(sim, "ada", requested())
	b.react(b.record(sim, "system", events.SimulationStarted{Engine: "builtin", Ranks: 1}))
	april15 := day("2026-04-15 13:00:00")

	if err := b.at("2026-04-15 23:59:59").billing.Books.AccrueDay(t.Context(), april15); err == nil {
		t.Error("AccrueDay accrued a day that is not over")
	}
	b.at("2026-04-16 00:10:00")
	for range 2 {
		if err := b.billing.Books.AccrueDay(t.Context(), april15); err != nil {
			t.Fatal(err)
		}
	}
	b.at("2026-04-16 06:00:00").react(b.record(sim, "ada", events.SimulationTerminated{By: "ada"}))
	b.at("2026-04-17 00:10:00")
	if err := b.billing.Books.AccrueDay(t.Context(), day("2026-04-16 00:00:00")); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"granted 100000 CREDIT",
		"cluster start of nightly: 0 to 1, 1 in all",
		"cost of nightly on 2026-04-15: 140 CREDIT", // 14 hours at 10
		"cluster stop of nightly: 1 to 0, 0 in all",
		"cost of nightly on 2026-04-16: 60 CREDIT",
	}
	if diff := cmp.Diff(want, b.recorded(account)); diff != "" {
		t.Errorf("books (-want +got):\n%s", diff)
	}
}

// TestMissedAccruals: the next accrual books the days that were missed.
func TestMissedAccruals(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	b.record(sim, "ada", requested())
	b.at("2026-04-15 12:00:00").react(b.record(sim, "system", events.SimulationStarted{Engine: "builtin", Ranks: 1}))
	b.at("2026-04-18 00:10:00")
	for range 2 {
		if err := b.billing.Books.AccrueDay(t.Context(), day("2026-04-17 00:00:00")); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"granted 100000 CREDIT",
		"cluster start of nightly: 0 to 1, 1 in all",
		"cost of nightly on 2026-04-15: 120 CREDIT",
		"cost of nightly on 2026-04-16: 240 CREDIT",
		"cost of nightly on 2026-04-17: 240 CREDIT",
	}
	if diff := cmp.Diff(want, b.recorded(account)); diff != "" {
		t.Errorf("books (-want +got):\n%s", diff)
	}
}

// TestALateRate changes the price of a booked day. While the day's month is open,
// accruing the day again books a new version of its cost; when the month is
// closed, it books a correction. Each is booked only once.
func TestALateRate(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	b.record(sim, "ada", requested())
	b.at("2026-04-30 00:00:00").react(b.record(sim, "system", events.SimulationStarted{Engine: "builtin", Ranks: 1}))
	accrue := func() {
		for range 2 {
			if err := b.billing.Books.AccrueDay(t.Context(), day("2026-04-30 00:00:00")); err != nil {
				t.Fatal(err)
			}
		}
	}
	price := func(amount string) {
		b.record("platform_netsim", "system", events.RateSet{
			RateID: 1, RateName: "cluster", RateType: "unit", Amount: amount, Currency: "CREDIT",
			Period: "hour", StartDate: "2020-01-01",
		})
	}
	b.at("2026-05-01 00:10:00")
	accrue()
	price("11")
	b.at("2026-05-02 23:59:59")
	accrue()
	price("12")
	b.at("2026-05-03 00:00:00")
	accrue()
	price("11.5")
	b.at("2026-05-04 00:00:00")
	accrue()
	want := []string{
		"granted 100000 CREDIT",
		"cluster start of nightly: 0 to 1, 1 in all",
		"cost of nightly on 2026-04-30: 240 CREDIT",
		"cost of nightly on 2026-04-30: 264 CREDIT, version 2, before 240",
		"cost of nightly on 2026-05-03: 24 CREDIT, a correction",
		"cost of nightly on 2026-05-04: -12 CREDIT, a correction",
	}
	if diff := cmp.Diff(want, b.recorded(account)); diff != "" {
		t.Errorf("books (-want +got):\n%s", diff)
	}
	sums, err := projections.SumCosts(t.Context(), b.pool, account, day("2026-04-01 00:00:00"), day("2026-05-31 00:00:00"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sums {
		if s.Total != "276" {
			t.Errorf("sum %+v, want 276", s)
		}
	}
}
