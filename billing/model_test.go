package billing_test

import (
	"fmt"
	"math/big"
	"slices"
	"time"

	"netsim/rating/slowbill"
)

// ledgerModel keeps the books of one account as plainly as possible. It has all
// changes of units, in the order in which they became known, and the booked
// lines. Each booking rates the whole day again.
type ledgerModel struct {
	files   []priceFile
	changes []slowbill.Change
	open    map[string]int64 // number of the item with a name
	last    map[string]time.Time
	closed  map[string]bool
	names   []string // of items, by number
	lines   map[lineKey]*big.Rat
	fixes   map[lineKey][]correction
	through time.Time
}

// priceFile is a price list and the day on which it was applied. It prices the
// days after that day; the first one prices every day.
type priceFile struct {
	applied time.Time
	rates   []slowbill.Rate
}

type lineKey struct {
	item int64
	date string
	tier int64
}

type correction struct {
	date   string
	amount *big.Rat
}

func newLedgerModel(through time.Time) *ledgerModel {
	return &ledgerModel{
		open: map[string]int64{}, last: map[string]time.Time{}, closed: map[string]bool{},
		lines: map[lineKey]*big.Rat{}, fixes: map[lineKey][]correction{}, through: through,
	}
}

func (m *ledgerModel) priceOf(day time.Time) []slowbill.Rate {
	rates := m.files[0].rates
	for _, f := range m.files {
		if f.applied.Before(day) {
			rates = f.rates
		}
	}
	return rates
}

// publish sets the units of an item from the time at on. The change becomes known
// now.
func (m *ledgerModel) publish(name string, units int64, at, now time.Time) {
	item, found := m.open[name]
	switch {
	case m.closed[name]:
		return
	case !found:
		item = int64(len(m.names))
		m.names, m.open[name] = append(m.names, name), item
	case m.units(item) == units:
		return
	}
	m.last[name] = at
	m.changes = append(m.changes, slowbill.Change{Item: item, At: at, Units: units})
	m.bookLate(item, at, now)
}

func (m *ledgerModel) units(item int64) (units int64) {
	for _, c := range m.changes {
		if c.Item == item {
			units = c.Units
		}
	}
	return units
}

// remove closes an item, and books its days until then.
func (m *ledgerModel) remove(name string, at, now time.Time) {
	item, found := m.open[name]
	if !found || m.closed[name] {
		return
	}
	m.closed[name] = true
	m.changes = append(m.changes, slowbill.Change{Item: item, At: at, Closes: true})
	for day := m.lastBooked(item); !day.After(at); day = day.AddDate(0, 0, 1) {
		m.book(item, day, now)
	}
	m.bookLate(item, at, now)
}

// lastBooked returns the last day for which an item has a line, or its first day.
func (m *ledgerModel) lastBooked(item int64) (day time.Time) {
	for _, c := range m.changes {
		if c.Item == item {
			day = midnight(c.At)
			break
		}
	}
	for key := range m.lines {
		if date, _ := time.Parse(time.DateOnly, key.date); key.item == item && date.After(day) {
			day = date
		}
	}
	return day
}

// bookLate books the past days that a change affects.
func (m *ledgerModel) bookLate(item int64, at, now time.Time) {
	for day := midnight(at); day.Before(midnight(now)); day = day.AddDate(0, 0, 1) {
		if slowbill.Alone(m.priceOf(day)) {
			m.book(item, day, now)
		} else {
			m.bookAll(day, now)
		}
	}
}

// accrue books the days since the last accrual.
func (m *ledgerModel) accrue(now time.Time) {
	day := midnight(now).AddDate(0, 0, -1)
	first := m.through.AddDate(0, 0, 1)
	if first.After(day) {
		first = day
	}
	for ; !first.After(day); first = first.AddDate(0, 0, 1) {
		m.bookAll(first, now)
	}
	if day.After(m.through) {
		m.through = day
	}
}

func (m *ledgerModel) bookAll(day, now time.Time) {
	for item := range m.names {
		m.book(int64(item), day, now)
	}
}

// book makes the booked costs of an item's day equal to what it costs. Until the
// 3rd of the next month it sets the amount of the line; from then on it adds a
// correction dated today.
func (m *ledgerModel) book(item int64, day, now time.Time) {
	rates, costs := m.priceOf(day), map[lineKey]*big.Rat{}
	for key, cost := range slowbill.Day(day, rates, m.changes) {
		if key.Item == item {
			costs[lineKey{item, day.Format(time.DateOnly), rates[key.Rate].TierStart}] = cost
		}
	}
	for key := range m.lines {
		if _, has := costs[key]; !has && key.item == item && key.date == day.Format(time.DateOnly) {
			costs[key] = new(big.Rat)
		}
	}
	closes := time.Date(day.Year(), day.Month()+1, 3, 0, 0, 0, 0, time.UTC)
	for key, cost := range costs {
		line, booked := m.lines[key]
		if !booked || now.Before(closes) {
			m.lines[key] = cost
			continue
		}
		sum := new(big.Rat).Set(line)
		for _, c := range m.fixes[key] {
			sum.Add(sum, c.amount)
		}
		if difference := new(big.Rat).Sub(cost, sum); difference.Sign() != 0 {
			m.fixes[key] = append(m.fixes[key], correction{now.Format(time.DateOnly), difference})
		}
	}
}

// books returns the booked lines as text, in order, and their sum.
func (m *ledgerModel) books() (lines []string, sum *big.Rat) {
	lines, sum = []string{}, new(big.Rat)
	for key, cost := range m.lines {
		lines = append(lines, bookedLine(m.names[key.item], key.date, key.tier, slowbill.Exact(cost), ""))
		sum.Add(sum, cost)
		for _, c := range m.fixes[key] {
			lines = append(lines, bookedLine(m.names[key.item], key.date, key.tier, slowbill.Exact(c.amount), c.date))
			sum.Add(sum, c.amount)
		}
	}
	slices.Sort(lines)
	return lines, sum
}

func bookedLine(item, date string, tier int64, cost, corrected string) string {
	if corrected != "" {
		corrected = ", corrected " + corrected
	}
	return fmt.Sprintf("%s of %s from unit %d: %s%s", date, item, tier, cost, corrected)
}

func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}
