// Package rating turns billing events and rates into daily costs, exactly as
// completions 7.4 says. It is a pure function: the same events, rates and day
// give the same rows, to the last digit, on any machine and in any year.
//
// A day is UTC and half-open. A cost is always the day's price times the
// unit-days, and never rounded; what is rounded, half to even, is the day's
// price (12 decimals) and each bound of a segment (6 decimals of the day), so
// that the days of a period, and the segments of a day, add up exactly.
package rating

import (
	"cmp"
	"slices"
	"time"

	"netsim/events"
)

// EngineVersion names the rules by which a cost was computed. It changes with
// every change after which the same input may give another row.
const EngineVersion = "rating-1"

// Day returns what the items cost on one day at a price: one row for each item
// and rate at which it has units, by item and tier. Ids and versions of the
// rows are left to whoever records them.
//
// The usage is of one account and rate name, in the order of the log: all
// events of all items that are active within the price's Window of the day.
// For a price that is Alone the events of one item are enough for its rows.
func Day(day time.Time, price Price, usage []events.UsageRecorded) []events.DailyCostRated {
	lives := livesOf(usage, day.AddDate(0, 0, 1))
	var rows []events.DailyCostRated
	for _, rate := range price {
		from, to := Price{rate}.Window(day)
		for _, u := range uses(rate, lives, from, to) {
			if row, ok := charge(day, rate, u); ok {
				rows = append(rows, row)
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b events.DailyCostRated) int {
		return cmp.Compare(a.BillingItemID, b.BillingItemID)
	})
	return rows
}

// charge returns the row of one item at one rate, and false when there is
// nothing to bear on the day.
func charge(day time.Time, rate Rate, u use) (events.DailyCostRated, bool) {
	pieces := widen(rate.MinimumPeriod, day, u.pieces)
	if len(pieces) == 0 {
		return events.DailyCostRated{}, false
	}
	dayPrice, priceText := rate.dayPrice(day), rate.text
	if dayPrice != rate.price {
		priceText = plain(dayPrice)
	}
	var unitDays int64 // in millionths
	cost := newDecimal(0, 0)
	segments := make([]events.CostSegment, len(pieces))
	for i, p := range pieces {
		within := fraction(day, p.from, p.to)
		beyond := daysAfter(day, p.to)
		segments[i] = events.CostSegment{
			From: p.from, To: p.to, Units: p.units, Count: p.count,
			Fraction: plainMillionths(within + beyond*million),
		}
		unitDays += p.units * (within + beyond*million)
		cost = add(cost, mul(dayPrice, newDecimal(p.units*within, -6)))
		if beyond > 0 {
			cost = add(cost, mul(rate.priceOfDaysAfter(day, beyond), newDecimal(p.units, 0)))
		}
	}
	first, last, quantity := u.life.during(day)
	opened := u.life.opened
	return events.DailyCostRated{
		BillingItemID: opened.BillingItemID, ItemName: opened.ItemName,
		Date: day.Format(time.DateOnly), RateID: rate.RateID, RateName: rate.RateName,
		RateAmount: rate.Amount, Cost: plain(cost), Currency: rate.Currency, Quantity: quantity,
		WorkspaceID: opened.WorkspaceID, SandboxID: opened.SandboxID, UserID: opened.UserID,
		Segments: segments, DayPrice: priceText, UnitDays: plainMillionths(unitDays),
		Period: rate.Period, TierStart: rate.TierStart, TierEnd: rate.TierEnd,
		EngineVersion: EngineVersion, FirstEventID: first, LastEventID: last,
	}, true
}

// fraction returns the part of the day between two instants, in millionths;
// what lies outside the day does not count.
func fraction(day, from, to time.Time) int64 { return millionths(day, to) - millionths(day, from) }

const million = 1_000_000

// millionths returns round6(seconds of the day / 86400), in millionths.
func millionths(day, at time.Time) int64 {
	const full = int64(24 * time.Hour / time.Microsecond)
	n := min(max(at.Sub(day).Microseconds(), 0), full) * million
	whole, rest := n/full, n%full
	if 2*rest > full || 2*rest == full && whole%2 == 1 {
		whole++
	}
	return whole
}

// daysAfter returns how many whole days after the day an instant lies.
func daysAfter(day, at time.Time) int64 {
	return max(int64(at.Sub(day)/(24*time.Hour))-1, 0)
}
