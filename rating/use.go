package rating

import (
	"cmp"
	"slices"
	"time"

	"netsim/events"
)

// history is an item's units over time.
type history struct {
	opened *events.UsageRecorded // its start
	steps  []step                // in the order of time; the first is the start
}

// step is a change of an item's units.
type step struct {
	at      time.Time
	units   int64
	count   int64 // the account's units after it, as the event says
	eventID int64
	stop    bool
}

// historiesOf folds the events before an instant into the histories of items,
// sorted by start and then by id. Units are counted in this order for tiers and
// packages.
func historiesOf(usage []events.UsageRecorded, before time.Time) []*history {
	sorted := usage
	byTime := func(a, b events.UsageRecorded) int { return a.OccurredAt.Compare(b.OccurredAt) }
	if !slices.IsSortedFunc(usage, byTime) {
		sorted = slices.Clone(usage)
		slices.SortStableFunc(sorted, byTime)
	}
	var byID map[int64]*history
	if len(sorted) > fewEvents {
		byID = make(map[int64]*history)
	}
	var histories []*history
	for i := range sorted {
		u := &sorted[i]
		h := byID[u.BillingItemID]
		if byID == nil {
			h = historyOf(histories, u.BillingItemID)
		}
		if !u.OccurredAt.Before(before) || (h == nil) != (u.Action == start) || h != nil && h.stopped() {
			continue
		}
		if h == nil {
			h = &history{opened: u}
			if byID != nil {
				byID[u.BillingItemID] = h
			}
			histories = append(histories, h)
		}
		h.steps = append(h.steps, step{u.OccurredAt.UTC(), u.CurrentCount, u.BillableCount, u.BillingEventID, u.Action == stop})
	}
	if len(histories) < 2 {
		return histories
	}
	slices.SortFunc(histories, func(a, b *history) int {
		return cmp.Or(a.opened.OccurredAt.Compare(b.opened.OccurredAt),
			cmp.Compare(a.opened.BillingItemID, b.opened.BillingItemID))
	})
	return histories
}

// fewEvents is the number of events up to which a search is faster than a map.
// Most items have two events.
const fewEvents = 8

func historyOf(histories []*history, item int64) *history {
	for _, h := range histories {
		if h.opened.BillingItemID == item {
			return h
		}
	}
	return nil
}

// The actions of a billing event that open and close an item (completions 7.1).
const (
	start = "start"
	stop  = "stop"
)

func (h *history) stopped() bool { return h.steps[len(h.steps)-1].stop }

// unitsAt returns the item's units from an instant on.
func (h *history) unitsAt(at time.Time) (units int64) {
	for _, s := range h.steps {
		if s.at.After(at) {
			break
		}
		units = s.units
	}
	return units
}

// during returns the ids of the first and the last event that determine the
// item's units on a day, and the highest units. The first is the last event
// before the day, if there is one.
func (h *history) during(day time.Time) (first, last, quantity int64) {
	end := day.AddDate(0, 0, 1)
	for _, s := range h.steps {
		if !s.at.Before(end) {
			break
		}
		if first == 0 || !s.at.After(day) {
			first, quantity = s.eventID, s.units
		}
		last, quantity = s.eventID, max(quantity, s.units)
	}
	return first, last, quantity
}

// use is what one item uses at one rate.
type use struct {
	history *history
	pieces  []piece
}

// piece is a span of time in which the priced units do not change.
type piece struct {
	from, to time.Time
	units    int64 // as priced, more than 0
	count    int64 // of all active items
}

// uses returns the pieces of every item that has priced units between two
// instants.
//
// If the price of an item does not depend on the others, pieces end only where
// the item itself changes. The cost is the same, because the parts of a day add
// up exactly. The time is then linear in the number of events, not quadratic.
func uses(rate Rate, histories []*history, from, to time.Time) []use {
	if rate.model.Alone {
		return usesAlone(rate, histories, from, to)
	}
	return usesTogether(rate, histories, from, to)
}

func usesAlone(rate Rate, histories []*history, from, to time.Time) []use {
	var out []use
	for _, h := range histories {
		u := use{history: h}
		for i, s := range h.steps {
			end := to
			if i+1 < len(h.steps) {
				end = h.steps[i+1].at
			}
			u.add(piece{later(s.at, from), end, rate.model.due(&rate, 0, s.units, s.count), s.count})
		}
		if len(u.pieces) > 0 {
			out = append(out, u)
		}
	}
	return out
}

// usesTogether divides the time at every change of any item, and prices each item
// after the units of the items before it.
func usesTogether(rate Rate, histories []*history, from, to time.Time) []use {
	all := make([]use, len(histories))
	for i, h := range histories {
		all[i].history = h
	}
	cuts := cutsOf(histories, from, to)
	for i := range len(cuts) - 1 {
		units := make([]int64, len(histories))
		var count, ordinal int64
		for j, h := range histories {
			units[j] = h.unitsAt(cuts[i])
			count += units[j]
		}
		for j := range histories {
			all[j].add(piece{cuts[i], cuts[i+1], rate.model.due(&rate, ordinal, units[j], count), count})
			ordinal += units[j]
		}
	}
	return slices.DeleteFunc(all, func(u use) bool { return len(u.pieces) == 0 })
}

// cutsOf returns, without duplicates, both ends and every instant between them
// at which an item changes.
func cutsOf(histories []*history, from, to time.Time) []time.Time {
	cuts := []time.Time{from, to}
	for _, h := range histories {
		for _, s := range h.steps {
			if s.at.After(from) && s.at.Before(to) {
				cuts = append(cuts, s.at)
			}
		}
	}
	slices.SortFunc(cuts, time.Time.Compare)
	return slices.CompactFunc(cuts, time.Time.Equal)
}

// add appends a piece that is not empty. It extends the last piece if the units
// are the same.
func (u *use) add(p piece) {
	if p.units <= 0 || !p.from.Before(p.to) {
		return
	}
	if n := len(u.pieces); n > 0 {
		if last := &u.pieces[n-1]; last.to.Equal(p.from) && last.units == p.units && last.count == p.count {
			last.to = p.to
			return
		}
	}
	u.pieces = append(u.pieces, p)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
