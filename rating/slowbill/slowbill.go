// Package slowbill is a second, simple implementation of docs/rating.md. Between every
// two changes it lists the active items in order and counts them unit by unit, with
// rational numbers. Tests compare package rating with it. The two share no code.
package slowbill

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
	"time"
)

// Rate is a row of the price list, in the terms of docs/rating.md.
type Rate struct {
	ID                 int64
	Type, Amount       string
	Period, Minimum    string // Period: hour, day, month or year; Minimum: hour, day, month or ""
	TierStart, TierEnd int64  // TierEnd 0 means no end
	PackageSize        int64

	bound func(*big.Rat) *big.Rat // rounds a bound of a segment, in days
}

// Change sets the units of an item from an instant on. The first change of an item opens
// the item, and the last change can close it.
type Change struct {
	Item   int64
	At     time.Time // with a precision of milliseconds
	Units  int64
	Closes bool
}

// Key identifies a line of a day.
type Key struct{ Item, Rate int64 }

// Day returns the cost of every item on a UTC day, at the rates that apply on this day. An
// item with units at a rate has a line, even if it costs 0.
func Day(day time.Time, rates []Rate, changes []Change) map[Key]*big.Rat {
	return rounded(lines(day, rates, changes, func(x *big.Rat) *big.Rat { return x }))
}

// DayByRule1 is Day with the rule rating-1. It rounds each bound of a segment to
// millionths of a day, and nothing else.
func DayByRule1(day time.Time, rates []Rate, changes []Change) map[Key]*big.Rat {
	return lines(day, rates, changes, func(x *big.Rat) *big.Rat { return Round(x, 6) })
}

func lines(day time.Time, rates []Rate, changes []Change, bound func(*big.Rat) *big.Rat) map[Key]*big.Rat {
	lines := map[Key]*big.Rat{}
	for _, r := range rates {
		r.bound = bound
		for item := range items(changes) {
			if cost := r.day(day, item, changes); cost != nil {
				lines[Key{item, r.ID}] = cost
			}
		}
	}
	return lines
}

// rounded rounds the lines of each item to 18 decimals, so that they add up to their
// rounded sum. It first rounds all lines down. Then the lines with the largest remainders
// get one unit of the last decimal each.
func rounded(exact map[Key]*big.Rat) map[Key]*big.Rat {
	digit := big.NewRat(1, 1e18)
	out, sums := map[Key]*big.Rat{}, map[int64]*big.Rat{}
	for key, cost := range exact {
		if sums[key.Item] == nil {
			sums[key.Item] = new(big.Rat)
		}
		sums[key.Item].Add(sums[key.Item], cost)
		whole := new(big.Rat).Quo(cost, digit)
		out[key] = new(big.Rat).Mul(digit, new(big.Rat).SetInt(new(big.Int).Div(whole.Num(), whole.Denom())))
	}
	for item, sum := range sums {
		missing := Round(sum, 18)
		var keys []Key
		for key, cost := range out {
			if key.Item == item {
				missing.Sub(missing, cost)
				keys = append(keys, key)
			}
		}
		slices.SortFunc(keys, func(a, b Key) int { // the order of rate ids is the order of tiers
			below := func(k Key) *big.Rat { return new(big.Rat).Sub(exact[k], out[k]) }
			return cmp.Or(below(b).Cmp(below(a)), cmp.Compare(a.Rate, b.Rate))
		})
		for i := 0; missing.Sign() > 0; i++ {
			out[keys[i]].Add(out[keys[i]], digit)
			missing.Sub(missing, digit)
		}
	}
	return out
}

// Alone reports whether no item's cost depends on another item.
func Alone(rates []Rate) bool {
	return !slices.ContainsFunc(rates, func(r Rate) bool { return r.Type != "unit" })
}

// day returns the cost of one item at one rate, or nil if the item has no line.
func (r Rate) day(day time.Time, item int64, changes []Change) *big.Rat {
	switch r.Minimum {
	case "hour":
		return r.widened(day, item, changes, 24)
	case "day":
		return r.widened(day, item, changes, 1)
	case "month":
		return r.firstTouch(day, item, changes)
	}
	var cost *big.Rat
	for _, s := range segments(day, day.AddDate(0, 0, 1), changes) {
		if units := r.units(item, s.from, changes); units > 0 {
			cost = plus(cost, r.price(day), r.fraction(day, s.from, s.to), units)
		}
	}
	return cost
}

// widened divides the day into equal parts. Each part in which the item has units is
// charged completely, with the largest number of units in that part.
func (r Rate) widened(day time.Time, item int64, changes []Change, parts int) *big.Rat {
	var cost *big.Rat
	length := 24 * time.Hour / time.Duration(parts)
	for i := range parts {
		from := day.Add(time.Duration(i) * length)
		most := int64(0)
		for _, s := range segments(from, from.Add(length), changes) {
			most = max(most, r.units(item, s.from, changes))
		}
		if most > 0 {
			cost = plus(cost, r.price(day), r.fraction(day, from, from.Add(length)), most)
		}
	}
	return cost
}

// firstTouch charges the rest of the month if this is the first day of the month on which
// the item has units.
func (r Rate) firstTouch(day time.Time, item int64, changes []Change) *big.Rat {
	month := day.AddDate(0, 0, 1-day.Day())
	for _, s := range segments(month, day.AddDate(0, 0, 1), changes) {
		units := r.units(item, s.from, changes)
		if units == 0 {
			continue
		}
		if s.from.Before(day) {
			return nil
		}
		cost := plus(nil, r.price(day), r.fraction(day, s.from, day.AddDate(0, 0, 1)), units)
		for later := day.AddDate(0, 0, 1); later.Month() == day.Month(); later = later.AddDate(0, 0, 1) {
			cost = plus(cost, r.price(later), big.NewRat(1, 1), units)
		}
		return cost
	}
	return nil
}

type segment struct{ from, to time.Time }

// segments splits a span at every change of any item.
func segments(from, to time.Time, changes []Change) []segment {
	cuts := []time.Time{from, to}
	for _, c := range changes {
		if c.At.After(from) && c.At.Before(to) {
			cuts = append(cuts, c.At)
		}
	}
	slices.SortFunc(cuts, time.Time.Compare)
	var out []segment
	for i := range len(cuts) - 1 {
		if cuts[i].Before(cuts[i+1]) {
			out = append(out, segment{cuts[i], cuts[i+1]})
		}
	}
	return out
}

func items(changes []Change) map[int64]bool {
	out := map[int64]bool{}
	for _, c := range changes {
		out[c.Item] = true
	}
	return out
}

// units returns how many times the rate's amount is due for the item at an instant.
func (r Rate) units(item int64, at time.Time, changes []Change) (due int64) {
	active := activeAt(at, changes)
	total := int64(0)
	for _, a := range active {
		total += a.units
	}
	unit := int64(0) // the ordinal of the current unit
	for _, a := range active {
		for range a.units {
			if a.item == item && r.counts(unit, total) {
				due++
			}
			unit++
		}
	}
	return due
}

// counts reports whether the rate charges for the active unit with the ordinal.
func (r Rate) counts(ordinal, total int64) bool {
	within := func(x int64) bool { return x >= r.TierStart && (r.TierEnd == 0 || x < r.TierEnd) }
	switch r.Type {
	case "unit":
		return true
	case "flat":
		return ordinal == 0
	case "graduated":
		return within(ordinal)
	case "volume":
		return within(total)
	case "package":
		return ordinal%r.PackageSize == 0
	}
	return false
}

type active struct {
	item, units int64
	since       time.Time
}

// activeAt returns the items that are active at an instant, in the order of their opening.
func activeAt(at time.Time, changes []Change) []active {
	sorted := slices.Clone(changes)
	slices.SortStableFunc(sorted, func(a, b Change) int { return a.At.Compare(b.At) })
	var out []active
	for _, c := range sorted {
		if c.At.After(at) {
			break
		}
		i := slices.IndexFunc(out, func(a active) bool { return a.item == c.Item })
		if i < 0 {
			out = append(out, active{c.Item, 0, c.At})
			i = len(out) - 1
		}
		if out[i].units = c.Units; c.Closes {
			out = slices.Delete(out, i, i+1)
		}
	}
	slices.SortFunc(out, func(a, b active) int { return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.item, b.item)) })
	return out
}

// price returns the price of a day.
func (r Rate) price(day time.Time) *big.Rat {
	amount, _ := new(big.Rat).SetString(r.Amount)
	first, next := day.AddDate(0, 0, 1-day.Day()), day.AddDate(0, 1, 1-day.Day())
	switch r.Period {
	case "hour":
		return amount.Mul(amount, big.NewRat(24, 1))
	case "day":
		return amount
	case "year":
		first = time.Date(day.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
		next = first.AddDate(1, 0, 0)
	}
	days := int64(next.Sub(first) / (24 * time.Hour))
	upTo := func(k int64) *big.Rat { return Round(new(big.Rat).Mul(amount, big.NewRat(k, days)), 12) }
	k := int64(day.Sub(first)/(24*time.Hour)) + 1
	return new(big.Rat).Sub(upTo(k), upTo(k-1))
}

// fraction returns the part of the day between two of its instants.
func (r Rate) fraction(day, from, to time.Time) *big.Rat {
	part := func(at time.Time) *big.Rat {
		return r.bound(big.NewRat(at.Sub(day).Milliseconds(), (24 * time.Hour).Milliseconds()))
	}
	return new(big.Rat).Sub(part(to), part(from))
}

func plus(sum, price, fraction *big.Rat, units int64) *big.Rat {
	if sum == nil {
		sum = new(big.Rat)
	}
	cost := new(big.Rat).Mul(price, fraction)
	return new(big.Rat).Add(sum, cost.Mul(cost, new(big.Rat).SetInt64(units)))
}

// Round rounds half to even at a number of decimals.
func Round(x *big.Rat, decimals int64) *big.Rat {
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil))
	scaled := new(big.Rat).Mul(x, scale)
	whole := new(big.Int).Div(scaled.Num(), scaled.Denom())
	rest := new(big.Rat).Sub(scaled, new(big.Rat).SetInt(whole))
	if c := rest.Cmp(big.NewRat(1, 2)); c > 0 || c == 0 && whole.Bit(0) == 1 {
		whole.Add(whole, big.NewInt(1))
	}
	return new(big.Rat).Quo(new(big.Rat).SetInt(whole), scale)
}

// Exact formats a number as a decimal without trailing zeros. For a number with more than
// 18 decimals it returns a text that says so.
func Exact(x *big.Rat) string {
	text := x.FloatString(18)
	if again, _ := new(big.Rat).SetString(text); again.Cmp(x) != 0 {
		return "not a decimal of 18 places: " + x.String()
	}
	if text = strings.TrimSuffix(strings.TrimRight(text, "0"), "."); text == "-0" {
		return "0"
	}
	return text
}
