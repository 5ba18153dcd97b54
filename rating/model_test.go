package rating_test

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netsim/events"
	"netsim/rating"
	"netsim/rating/slowbill"
)

// anyUsage draws the usage of a few items around a day, in the order of time.
func anyUsage(t *rapid.T, day time.Time) []events.UsageRecorded {
	units := map[int64]int64{}
	closed := map[int64]bool{}
	when := day.Add(-time.Duration(rapid.IntRange(0, 20*24).Draw(t, "hours before")) * time.Hour)
	var usage []events.UsageRecorded
	for i := range rapid.IntRange(1, 14).Draw(t, "events") {
		item := rapid.Int64Range(1, 5).Draw(t, "item")
		before, known := units[item]
		action, after := "start", rapid.Int64Range(0, 12).Draw(t, "units")
		if known {
			action = rapid.SampledFrom([]string{"update", "stop"}).Draw(t, "action")
		}
		if closed[item] {
			continue
		}
		if action == "stop" {
			after, closed[item] = 0, true
		}
		units[item] = after
		var count int64
		for _, n := range units {
			count += n
		}
		usage = append(usage, events.UsageRecorded{
			BillingEventID: int64(i + 1), BillingItemID: item, Action: action, RateName: "cluster",
			PreviousCount: before, CurrentCount: after, BillableCount: count, OccurredAt: when,
		})
		if most := rapid.SampledFrom([]int64{0, 3600, 8 * 3600, 5 * 24 * 3600}).Draw(t, "seconds"); most > 0 {
			when = when.Add(time.Duration(rapid.Int64Range(0, most*1000).Draw(t, "ms")) * time.Millisecond)
		}
	}
	return usage
}

// changes returns the same usage for the model.
func changes(usage []events.UsageRecorded) (out []slowbill.Change) {
	for _, u := range usage {
		out = append(out, slowbill.Change{Item: u.BillingItemID, At: u.OccurredAt, Units: u.CurrentCount, Closes: u.Action == "stop"})
	}
	return out
}

func anyRates(t *rapid.T) []events.RateSet {
	amount := func() string {
		return rapid.StringMatching(`[0-9]{1,6}(\.[0-9]{1,12})?`).Draw(t, "amount")
	}
	kind := rapid.SampledFrom(rating.ModelNames()).Draw(t, "type")
	period := rapid.SampledFrom([]string{rating.PerHour, rating.PerDay, rating.PerMonth, rating.PerYear}).Draw(t, "period")
	first := rate(1, kind, amount(), period)
	first.MinimumPeriod = rapid.SampledFrom([]string{"", "", rating.PerHour, rating.PerDay, rating.PerMonth}).Draw(t, "minimum")
	first.PackageSize = rapid.Int64Range(1, 7).Draw(t, "package")
	if model, err := rating.ModelOf(kind); err != nil || !model.Tiered {
		return []events.RateSet{first}
	}
	list, start := []events.RateSet{}, int64(0)
	for i := range rapid.Int64Range(1, 3).Draw(t, "bounds") {
		next := first
		next.RateID, next.Amount = i+1, amount()
		end := start + rapid.Int64Range(1, 12).Draw(t, "tier")
		list = append(list, tier(next, start, end))
		start = end
	}
	first.RateID = int64(len(list) + 1)
	return append(list, tier(first, start, 0))
}

// rows returns the same rates for the model.
func rows(rates []events.RateSet) (out []slowbill.Rate) {
	for _, r := range rates {
		out = append(out, slowbill.Rate{
			ID: r.RateID, Type: r.RateType, Amount: r.Amount, Period: r.Period, Minimum: r.MinimumPeriod,
			TierStart: r.TierStart, TierEnd: r.TierEnd, PackageSize: r.PackageSize,
		})
	}
	return out
}

// TestDayEqualsTheModel compares random days with rating/slowbill;
// -rapid.checks sets how many.
func TestDayEqualsTheModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		for range 20 {
			checkDay(rt)
		}
	})
}

func checkDay(rt *rapid.T) {
	day := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, rapid.IntRange(0, 1000).Draw(rt, "day"))
	rates, usage := anyRates(rt), anyUsage(rt, day)
	price, err := rating.PriceOn(day, "acct_1", "cluster", rates)
	if err != nil {
		rt.Fatal(err)
	}
	for rule, model := range map[string]func(time.Time, []slowbill.Rate, []slowbill.Change) map[slowbill.Key]*big.Rat{
		rating.Rule1: slowbill.DayByRule1, rating.EngineVersion: slowbill.Day,
	} {
		want, got := map[string]string{}, map[string]string{}
		for key, cost := range model(day, rows(rates), changes(usage)) {
			want[fmt.Sprintf("%d@%d", key.Item, key.Rate)] = slowbill.Exact(cost)
		}
		for _, r := range rating.Day(day, price, usage, func(int64) string { return rule }) {
			got[fmt.Sprintf("%d@%d", r.BillingItemID, r.RateID)] = r.Cost
			checkRow(rt, day, rule, r)
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			rt.Errorf("costs by %s (-model +got):\n%s", rule, diff)
		}
	}
}

// checkRow checks that the day price times the unit-days is the cost: by rule 1
// exactly, by rule 2 up to the rounding of the unit-days.
func checkRow(rt *rapid.T, day time.Time, rule string, r events.DailyCostRated) {
	if r.EngineVersion != rule {
		rt.Errorf("the row names rule %s, want %s", r.EngineVersion, rule)
	}
	if r.Segments[len(r.Segments)-1].To.After(day.AddDate(0, 0, 1)) {
		return // the row includes later days of the month, each at its own price
	}
	dayPrice, _ := new(big.Rat).SetString(r.DayPrice)
	unitDays, _ := new(big.Rat).SetString(r.UnitDays)
	cost, _ := new(big.Rat).SetString(r.Cost)
	off := new(big.Rat).Mul(dayPrice, unitDays)
	off.Sub(off, cost).Abs(off)
	allowed := new(big.Rat)
	if rule != rating.Rule1 {
		units := int64(1)
		for _, s := range r.Segments {
			units += s.Units
		}
		allowed = new(big.Rat).Mul(new(big.Rat).Add(dayPrice, big.NewRat(1, 1)), big.NewRat(units, 1e18))
	}
	if off.Cmp(allowed) > 0 {
		rt.Errorf("day price %s × unit-days %s is not the cost %s", r.DayPrice, r.UnitDays, r.Cost)
	}
}

// TestPeriodsAddUp: the days of an item that is active for a whole period cost
// exactly the amount in total, whatever other items start on these days.
func TestPeriodsAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		amount := rapid.StringMatching(`[0-9]{1,6}(\.[0-9]{1,12})?`).Draw(rt, "amount")
		period := rapid.SampledFrom([]string{rating.PerMonth, rating.PerYear}).Draw(rt, "period")
		first := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
		if period == rating.PerMonth {
			first = first.AddDate(0, rapid.IntRange(0, 40).Draw(rt, "month"), 0)
		}
		end := first.AddDate(1, 0, 0)
		if period == rating.PerMonth {
			end = first.AddDate(0, 1, 0)
		}
		usage := []events.UsageRecorded{
			{BillingEventID: 1, BillingItemID: 1, Action: "start", CurrentCount: 1, OccurredAt: first},
		}
		list := []events.RateSet{tier(rate(1, rating.Graduated, amount, period), 0, 0)}
		sum := "0"
		for day := first; day.Before(end); day = day.AddDate(0, 0, 1) {
			usage = append(usage, events.UsageRecorded{
				BillingEventID: int64(len(usage) + 1), BillingItemID: int64(len(usage) + 1), Action: "start",
				OccurredAt: day.Add(time.Duration(rapid.Int64Range(0, 86_399_999).Draw(rt, "ms")) * time.Millisecond),
			})
			price, err := rating.PriceOn(day, "acct_1", "cluster", list)
			if err != nil {
				rt.Fatal(err)
			}
			for _, r := range rating.Day(day, price, usage, rating.Newest) {
				if sum, err = rating.Add(sum, r.Cost); err != nil {
					rt.Fatal(err)
				}
			}
		}
		if !rating.Equal(sum, amount) {
			rt.Errorf("the days of a %s add up to %s, the amount is %s", period, sum, amount)
		}
	})
}
