// Package rating turns billing events and rates into daily costs, exactly as
// docs/rating.md says. It is a pure function: the same events, rates and day
// give the same rows, to the last digit, on any machine and in any year.
//
// A day is UTC and half-open. A cost is the price of the day, times the number of
// times it is due, times the part of the day for which it is due. The division is
// exact, and the result is rounded once, over all rows of an item and day together.
// A row that an older rule booked is rated again by that rule.
package rating

import (
	"cmp"
	"math/big"
	"math/bits"
	"slices"
	"time"

	"github.com/cockroachdb/apd/v3"

	"netsim/events"
)

// EngineVersion is the rule that rates new rows. Rule1 is the rule before it,
// which rounded the bounds of each segment to millionths of a day. A change that
// could give another row for the same input needs a new rule. A row is always
// rated again by the rule that it names.
const (
	EngineVersion = "rating-2"
	Rule1         = "rating-1"
)

// RuleOf returns the rule by which an item's day is booked, "" if it is not
// booked.
type RuleOf func(item int64) string

// Newest is a RuleOf that rates every item by the newest rule.
func Newest(int64) string { return "" }

// Day returns what the items cost on one day at a price: one row for each item
// and rate at which it has units, ordered by item and tier. The rows have no ids
// and versions yet.
//
// The usage is that of one account and rate name, in the order of the log: all
// events of all items that are active within the price's Window of the day. For a
// price that is Alone, the events of an item are enough for its rows.
func Day(day time.Time, price Price, usage []events.UsageRecorded, rule RuleOf) []events.DailyCostRated {
	histories := historiesOf(usage, day.AddDate(0, 0, 1))
	var lines []line
	for _, rate := range price {
		from, to := Price{rate}.Window(day)
		for _, u := range uses(rate, histories, from, to) {
			if l, ok := charge(day, rate, u, rule(u.history.opened.BillingItemID)); ok {
				lines = append(lines, l)
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int {
		return cmp.Compare(a.row.BillingItemID, b.row.BillingItemID)
	})
	settle(lines)
	rows := make([]events.DailyCostRated, len(lines))
	for i := range lines {
		rows[i] = lines[i].row
	}
	return rows
}

// line is a row with its exact cost, in units of 10^-18 of the currency and
// multiplied by wholeDay. Only the newest rule has exact costs.
type line struct {
	row   events.DailyCostRated
	exact *big.Int
}

// charge returns the line of one item at one rate, and false if nothing is
// charged to the day.
func charge(day time.Time, rate Rate, u use, rule string) (line, bool) {
	pieces := widen(rate.MinimumPeriod, day, u.pieces)
	if len(pieces) == 0 {
		return line{}, false
	}
	dayPrice, priceText := rate.dayPrice(day), rate.text
	if dayPrice != rate.price {
		priceText = plain(dayPrice)
	}
	scale, places := uint64(1e18), int32(-18)
	if rule == Rule1 {
		scale, places = 1e6, -6
	}
	unitDays, cost, exact := newDecimal(0, 0), newDecimal(0, 0), new(big.Int)
	segments := make([]events.CostSegment, len(pieces))
	for i, p := range pieces {
		within := newDecimal(part(day, p.to, scale)-part(day, p.from, scale), places)
		beyond, units := daysAfter(day, p.to), newDecimal(p.units, 0)
		all := within
		after := newDecimal(0, 0) // the price of the days after the day
		if beyond > 0 {
			all, after = add(within, newDecimal(beyond, 0)), Times(rate.priceOfDaysAfter(day, beyond), units)
		}
		segments[i] = events.CostSegment{From: p.from, To: p.to, Units: p.units, Count: p.count, Fraction: plain(all)}
		unitDays = add(unitDays, Times(units, all))
		if rule == Rule1 {
			cost = add(cost, add(Times(Times(dayPrice, units), within), after))
			continue
		}
		exact.Add(exact, scaled(dayPrice, p.units, micros(day, p.to)-micros(day, p.from)))
		exact.Add(exact, scaled(after, wholeDay))
	}
	l := line{exact: exact}
	if rule == Rule1 {
		l.exact = nil
	} else {
		rule = EngineVersion
	}
	first, last, quantity := u.history.during(day)
	opened := u.history.opened
	l.row = events.DailyCostRated{
		BillingItemID: opened.BillingItemID, ItemName: opened.ItemName,
		Date: day.Format(time.DateOnly), RateID: rate.RateID, RateName: rate.RateName,
		RateAmount: rate.Amount, Cost: plain(cost), Currency: rate.Currency, Quantity: quantity,
		WorkspaceID: opened.WorkspaceID, SandboxID: opened.SandboxID, UserID: opened.UserID,
		Segments: segments, DayPrice: priceText, UnitDays: plain(unitDays),
		Period: rate.Period, TierStart: rate.TierStart, TierEnd: rate.TierEnd,
		EngineVersion: rule, FirstEventID: first, LastEventID: last,
	}
	return l, true
}

// settle rounds exact costs to 18 decimals. The sum of an item's lines is rounded
// half to even, and each line is truncated. The units of the last decimal that
// are then missing go to the lines that lost most by truncation; if these are
// equal, to the first.
func settle(lines []line) {
	for len(lines) > 0 {
		n := 1
		for n < len(lines) && lines[n].row.BillingItemID == lines[0].row.BillingItemID {
			n++
		}
		if lines[0].exact != nil {
			settleItem(lines[:n])
		}
		lines = lines[n:]
	}
}

func settleItem(lines []line) {
	day, sum := big.NewInt(wholeDay), new(big.Int)
	whole, rest := make([]*big.Int, len(lines)), make([]*big.Int, len(lines))
	order := make([]int, len(lines))
	for i, l := range lines {
		sum.Add(sum, l.exact)
		whole[i], rest[i] = new(big.Int).QuoRem(l.exact, day, new(big.Int))
		order[i] = i
	}
	missing, left := sum.QuoRem(sum, day, new(big.Int))
	if c := left.Lsh(left, 1).Cmp(day); c > 0 || c == 0 && missing.Bit(0) == 1 {
		missing.Add(missing, big.NewInt(1))
	}
	for _, w := range whole {
		missing.Sub(missing, w)
	}
	slices.SortStableFunc(order, func(a, b int) int { return rest[b].Cmp(rest[a]) })
	for _, i := range order[:missing.Int64()] { // at most one unit per line
		whole[i].Add(whole[i], big.NewInt(1))
	}
	for i, w := range whole {
		lines[i].row.Cost = plain(apd.NewWithBigInt(new(apd.BigInt).SetMathBigInt(w), -18))
	}
}

// wholeDay is a day in microseconds.
const wholeDay = int64(24 * time.Hour / time.Microsecond)

// micros returns the microseconds of the day that are before an instant.
func micros(day, at time.Time) int64 { return min(max(at.Sub(day).Microseconds(), 0), wholeDay) }

// part returns the part of the day that is before an instant, in 1/scale of a
// day, rounded half to even.
func part(day, at time.Time, scale uint64) int64 {
	n := uint64(micros(day, at))
	if n == uint64(wholeDay) {
		return int64(scale)
	}
	high, low := bits.Mul64(n, scale)
	whole, rest := bits.Div64(high, low, uint64(wholeDay))
	if 2*rest > uint64(wholeDay) || 2*rest == uint64(wholeDay) && whole%2 == 1 {
		whole++
	}
	return int64(whole)
}

// scaled returns an amount of at most 18 decimals times the factors, in 10^-18. The product
// of the factors may be beyond an int64.
func scaled(amount *apd.Decimal, factors ...int64) *big.Int {
	out := amount.Coeff.MathBigInt()
	out.Mul(out, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(amount.Exponent)+18), nil))
	for _, n := range factors {
		out.Mul(out, big.NewInt(n))
	}
	return out
}

// daysAfter returns the number of whole days between the end of the day and a
// later instant.
func daysAfter(day, at time.Time) int64 {
	return max(int64(at.Sub(day)/(24*time.Hour))-1, 0)
}
