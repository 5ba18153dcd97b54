package rating_test

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netsim/events"
	"netsim/rating"
)

// model computes a day's costs slowly and obviously: between any two instants
// at which anything changes it asks again who is active, in what order and at
// what price, in rational numbers. It knows no minimum periods and no merging.
func model(day time.Time, rates []events.RateSet, usage []events.UsageRecorded) map[string]string {
	cuts := []time.Time{day, day.AddDate(0, 0, 1)}
	for _, u := range usage {
		if u.OccurredAt.After(cuts[0]) && u.OccurredAt.Before(cuts[1]) {
			cuts = append(cuts, u.OccurredAt)
		}
	}
	slices.SortFunc(cuts, time.Time.Compare)
	sums := map[string]*big.Rat{}
	for i := range len(cuts) - 1 {
		items := activeAt(cuts[i], usage)
		var count, ordinal int64
		for _, it := range items {
			count += it.units
		}
		f := new(big.Rat).Sub(round(dayPart(day, cuts[i+1]), 6), round(dayPart(day, cuts[i]), 6))
		for _, it := range items {
			for _, r := range rates {
				units := modelUnits(r, ordinal, it.units, count)
				if units == 0 || f.Sign() == 0 && cuts[i].Equal(cuts[i+1]) {
					continue
				}
				key := fmt.Sprintf("%d@%d", it.id, r.RateID)
				if sums[key] == nil {
					sums[key] = new(big.Rat)
				}
				cost := new(big.Rat).Mul(modelDayPrice(r, day), f)
				sums[key].Add(sums[key], cost.Mul(cost, new(big.Rat).SetInt64(units)))
			}
			ordinal += it.units
		}
	}
	out := map[string]string{}
	for key, sum := range sums {
		out[key] = exact(sum)
	}
	return out
}

type activeItem struct {
	id, units int64
	started   time.Time
}

func activeAt(at time.Time, usage []events.UsageRecorded) []activeItem {
	byID := map[int64]activeItem{}
	for _, u := range usage {
		if u.OccurredAt.After(at) {
			continue
		}
		it := byID[u.BillingItemID]
		if u.Action == "start" {
			it = activeItem{id: u.BillingItemID, started: u.OccurredAt}
		}
		it.units = u.CurrentCount
		byID[u.BillingItemID] = it
	}
	var items []activeItem
	for _, it := range byID {
		items = append(items, it)
	}
	slices.SortFunc(items, func(a, b activeItem) int {
		return cmp.Or(a.started.Compare(b.started), cmp.Compare(a.id, b.id))
	})
	return items
}

// modelUnits counts unit by unit.
func modelUnits(r events.RateSet, ordinal, q, count int64) (units int64) {
	inTier := func(n int64) bool { return n >= r.TierStart && (r.TierEnd == 0 || n < r.TierEnd) }
	switch r.RateType {
	case rating.Unit:
		return q
	case rating.Flat:
		if ordinal == 0 && q > 0 {
			return 1
		}
	case rating.Volume:
		if inTier(count) {
			return q
		}
	case rating.Graduated:
		for n := ordinal; n < ordinal+q; n++ {
			if inTier(n) {
				units++
			}
		}
	case rating.Package:
		for n := ordinal; n < ordinal+q; n++ {
			if n%r.PackageSize == 0 { // opens another package
				units++
			}
		}
	}
	return units
}

func modelDayPrice(r events.RateSet, day time.Time) *big.Rat {
	amount, _ := new(big.Rat).SetString(r.Amount)
	var first, next time.Time
	switch r.Period {
	case rating.PerHour:
		return amount.Mul(amount, big.NewRat(24, 1))
	case rating.PerDay:
		return amount
	case rating.PerMonth:
		first = time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, time.UTC)
		next = first.AddDate(0, 1, 0)
	case rating.PerYear:
		first = time.Date(day.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
		next = first.AddDate(1, 0, 0)
	}
	days := func(from, to time.Time) int64 { return int64(to.Sub(from).Hours()) / 24 }
	part := func(k int64) *big.Rat {
		return round(new(big.Rat).Mul(amount, big.NewRat(k, days(first, next))), 12)
	}
	k := days(first, day) + 1
	return new(big.Rat).Sub(part(k), part(k-1))
}

func dayPart(day, at time.Time) *big.Rat {
	return big.NewRat(at.Sub(day).Nanoseconds(), int64(24*time.Hour))
}

// round rounds half to even at so many decimals.
func round(x *big.Rat, decimals int64) *big.Rat {
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil))
	scaled := new(big.Rat).Mul(x, scale)
	whole := new(big.Int).Div(scaled.Num(), scaled.Denom())
	rest := new(big.Rat).Sub(scaled, new(big.Rat).SetInt(whole))
	if c := rest.Cmp(big.NewRat(1, 2)); c > 0 || c == 0 && whole.Bit(0) == 1 {
		whole.Add(whole, big.NewInt(1))
	}
	return new(big.Rat).Quo(new(big.Rat).SetInt(whole), scale)
}

func exact(x *big.Rat) string {
	text := x.FloatString(18)
	if again, _ := new(big.Rat).SetString(text); again.Cmp(x) != 0 {
		return "not a decimal of 18 places: " + x.String()
	}
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// anyUsage draws lives of items around a day, in the order of time.
func anyUsage(t *rapid.T, day time.Time) []events.UsageRecorded {
	units := map[int64]int64{}
	closed := map[int64]bool{}
	when := day.Add(-time.Duration(rapid.IntRange(0, 48).Draw(t, "hours before")) * time.Hour)
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
		when = when.Add(time.Duration(rapid.Int64Range(0, 8*3600*1000).Draw(t, "ms")) * time.Millisecond)
	}
	return usage
}

func anyRates(t *rapid.T) []events.RateSet {
	amount := func() string {
		return rapid.StringMatching(`[0-9]{1,6}(\.[0-9]{1,12})?`).Draw(t, "amount")
	}
	kind := rapid.SampledFrom([]string{rating.Unit, rating.Flat, rating.Graduated, rating.Volume, rating.Package}).Draw(t, "type")
	period := rapid.SampledFrom([]string{rating.PerHour, rating.PerDay, rating.PerMonth, rating.PerYear}).Draw(t, "period")
	first := rate(1, kind, amount(), period)
	first.PackageSize = rapid.Int64Range(1, 7).Draw(t, "package")
	if kind != rating.Graduated && kind != rating.Volume {
		return []events.RateSet{first}
	}
	bound := rapid.Int64Range(1, 20).Draw(t, "bound")
	return []events.RateSet{tier(first, 0, bound), tier(rate(2, kind, amount(), period), bound, 0)}
}

func TestDayEqualsTheModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		day := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, rapid.IntRange(0, 1000).Draw(rt, "day"))
		rates, usage := anyRates(rt), anyUsage(rt, day)
		price, err := rating.PriceOn(day, "acct_1", "cluster", rates)
		if err != nil {
			rt.Fatal(err)
		}
		got := map[string]string{}
		for _, r := range rating.Day(day, price, usage) {
			got[fmt.Sprintf("%d@%d", r.BillingItemID, r.RateID)] = r.Cost
			dayPrice, _ := new(big.Rat).SetString(r.DayPrice)
			unitDays, _ := new(big.Rat).SetString(r.UnitDays)
			if product := exact(dayPrice.Mul(dayPrice, unitDays)); product != r.Cost {
				rt.Errorf("day price %s × unit-days %s is %s, the cost %s", r.DayPrice, r.UnitDays, product, r.Cost)
			}
		}
		if diff := gocmp.Diff(model(day, rates, usage), got); diff != "" {
			rt.Errorf("costs (-model +got):\n%s", diff)
		}
	})
}

// TestPeriodsAddUp: what is there for a whole period costs its amount, to the
// last digit, however the days are cut by other items.
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
			for _, r := range rating.Day(day, price, usage) {
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
