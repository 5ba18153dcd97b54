package billing_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/projections"
	"netsim/rating"
)

// stored opens two storage items of one unit each at the beginning of 28 April:
// a mapping file and the results of a simulation.
func stored(t *testing.T) *books {
	t.Helper()
	b := newBooks(t)
	b.at("2026-04-28 00:00:00").record(sim, "ada", requested())
	b.react(b.record("mapfile_00000000000000000000000001", "ada", events.MappingFileCreated{
		AccountID: account, WorkspaceID: events.DefaultWorkspace, Name: "mapping.txt", SizeBytes: 1,
	}))
	b.react(b.record(sim, "system", events.SimulationResultsPublished{Manifest: "1", Bytes: 1}))
	return b
}

// accrue accrues a day, and those missed before it, twice.
func (b *books) accrue(date string) {
	b.t.Helper()
	for range 2 {
		if err := b.billing.Books.AccrueDay(b.t.Context(), day(date+" 00:00:00")); err != nil {
			b.t.Fatal(err)
		}
	}
}

// priced sets the price of storage.
func (b *books) priced(rates ...events.RateSet) {
	b.t.Helper()
	for _, r := range rates {
		r.RateName, r.Currency, r.Period, r.StartDate = "storage", "CREDIT", "day", "2020-01-01"
		b.record("platform_netsim", "system", r)
	}
}

// TestALateUpdate: after a late event the past days are booked again, only for
// the item if its price does not depend on the others.
func TestALateUpdate(t *testing.T) {
	t.Parallel()
	b := stored(t)
	b.priced(events.RateSet{RateID: 2, RateType: "unit", Amount: "1"})
	late := b.at("2026-04-28 12:00:00").record(sim, "system", events.SimulationResultsPublished{Manifest: "2", Bytes: 3_000_000_000})
	b.at("2026-04-30 00:01:00").accrue("2026-04-29")
	b.at("2026-04-30 09:00:00").react(late)
	b.react(late)
	b.at("2026-05-01 00:01:00").accrue("2026-04-30")
	want := []string{
		"granted 100000 CREDIT",
		"storage start of mapping.txt: 0 to 1, 1 in all",
		"storage start of nightly: 0 to 1, 2 in all",
		"cost of mapping.txt on 2026-04-28: 1 CREDIT",
		"cost of nightly on 2026-04-28: 1 CREDIT",
		"cost of mapping.txt on 2026-04-29: 1 CREDIT",
		"cost of nightly on 2026-04-29: 1 CREDIT",
		"storage update of nightly: 1 to 3, 4 in all",
		"cost of nightly on 2026-04-28: 2 CREDIT, version 2, before 1",
		"cost of nightly on 2026-04-29: 3 CREDIT, version 2, before 1",
		"cost of mapping.txt on 2026-04-30: 1 CREDIT",
		"cost of nightly on 2026-04-30: 3 CREDIT",
	}
	if diff := cmp.Diff(inRuns(want), inRuns(b.recorded(account))); diff != "" {
		t.Errorf("books (-want +got):\n%s", diff)
	}
}

// TestWhatAnOlderRuleBookedStaysWithIt: a day that an older rule booked is rated
// by that rule, in a repeated accrual and after a late event.
func TestWhatAnOlderRuleBookedStaysWithIt(t *testing.T) {
	t.Parallel()
	b := stored(t)
	first, use := day("2026-04-28 00:00:00"), projections.Metered{AccountID: account, RateName: "storage"}
	b.priced(events.RateSet{RateID: 2, RateType: "unit", Amount: "1"})
	late := b.at("2026-04-28 08:00:00").record(sim, "system", events.SimulationResultsPublished{Manifest: "2", Bytes: 3_000_000_000})
	list, err := projections.RatesOf(t.Context(), b.billing.DB, use)
	if err != nil {
		t.Fatal(err)
	}
	price, err := rating.PriceOn(first, account, "storage", list)
	if err != nil {
		t.Fatal(err)
	}
	usage, err := projections.UsageBetween(t.Context(), b.billing.DB, use, first, first.AddDate(0, 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rating.Day(first, price, usage, func(int64) string { return rating.Rule1 }) {
		row.DailyCostID, row.Version = int64(1000+i), 1
		b.record(account, "system", row)
	}
	b.at("2026-04-30 00:01:00").accrue("2026-04-28")
	b.accrue("2026-04-29")
	b.at("2026-04-30 09:00:00").react(late)
	want := []string{
		"granted 100000 CREDIT",
		"storage start of mapping.txt: 0 to 1, 1 in all",
		"storage start of nightly: 0 to 1, 2 in all",
		"cost of mapping.txt on 2026-04-28: 1 CREDIT",
		"cost of nightly on 2026-04-28: 1 CREDIT",
		"cost of mapping.txt on 2026-04-29: 1 CREDIT",
		"cost of nightly on 2026-04-29: 1 CREDIT",
		"storage update of nightly: 1 to 3, 4 in all",
		"cost of nightly on 2026-04-28: 2.333334 CREDIT, version 2, before 1", // 0.333333 and three times 0.666667
		"cost of nightly on 2026-04-29: 3 CREDIT, version 2, before 1",
	}
	if diff := cmp.Diff(inRuns(want), inRuns(b.recorded(account))); diff != "" {
		t.Errorf("books (-want +got):\n%s", diff)
	}
}

// TestALateStopChangesAll: with tiers, the late end of one item changes the costs
// of the others. In a closed month the change is booked as corrections.
func TestALateStopChangesAll(t *testing.T) {
	t.Parallel()
	b := stored(t)
	b.priced(
		events.RateSet{RateID: 2, RateType: "volume", Amount: "4", TierEnd: 2},
		events.RateSet{RateID: 4, RateType: "volume", Amount: "1", TierStart: 2})
	stop := b.at("2026-04-29 00:00:00").record("mapfile_00000000000000000000000001", "ada", events.MappingFileDeleted{Reason: "request"})
	b.at("2026-04-30 00:01:00").accrue("2026-04-29")
	b.at("2026-05-03 08:00:00").react(stop)
	want := []string{
		"granted 100000 CREDIT",
		"storage start of mapping.txt: 0 to 1, 1 in all",
		"storage start of nightly: 0 to 1, 2 in all",
		"cost of mapping.txt on 2026-04-28: 1 CREDIT",
		"cost of nightly on 2026-04-28: 1 CREDIT",
		"cost of mapping.txt on 2026-04-29: 1 CREDIT",
		"cost of nightly on 2026-04-29: 1 CREDIT",
		"storage stop of mapping.txt: 1 to 0, 1 in all",
		"cost of mapping.txt on 2026-05-03: -1 CREDIT, a correction",
		"cost of nightly on 2026-04-29: 4 CREDIT", // a new row: the rate of the other tier
		"cost of nightly on 2026-05-03: -1 CREDIT, a correction",
		"cost of nightly on 2026-04-30: 4 CREDIT",
		"cost of nightly on 2026-05-01: 4 CREDIT",
		"cost of nightly on 2026-05-02: 4 CREDIT",
	}
	if diff := cmp.Diff(inRuns(want), inRuns(b.recorded(account))); diff != "" {
		t.Errorf("books (-want +got):\n%s", diff)
	}
}

// inRuns sorts each run of costs: the costs of one accrual are booked together,
// in any order.
func inRuns(lines []string) []string {
	begin := 0
	for i := range len(lines) + 1 {
		if i < len(lines) && strings.HasPrefix(lines[i], "cost of") {
			continue
		}
		slices.Sort(lines[begin:i])
		begin = i + 1
	}
	return lines
}
