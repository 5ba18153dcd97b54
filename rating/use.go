package rating

import (
	"cmp"
	"slices"
	"time"

	"netsim/events"
)

// life is an item's units over time.
type life struct {
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

// livesOf folds the events before an instant into the lives of items. They are
// sorted by start and then by id, which is the order of ordinals.
func livesOf(usage []events.UsageRecorded, before time.Time) []*life {
	sorted := usage
	byTime := func(a, b events.UsageRecorded) int { return a.OccurredAt.Compare(b.OccurredAt) }
	if !slices.IsSortedFunc(usage, byTime) {
		sorted = slices.Clone(usage)
		slices.SortStableFunc(sorted, byTime)
	}
	var byID map[int64]*life
	if len(sorted) > fewEvents {
		byID = make(map[int64]*life)
	}
	var lives []*life
	for i := range sorted {
		u := &sorted[i]
		l := byID[u.BillingItemID]
		if byID == nil {
			l = lifeOf(lives, u.BillingItemID)
		}
		if !u.OccurredAt.Before(before) || (l == nil) != (u.Action == start) || l != nil && l.stopped() {
			continue
		}
		if l == nil {
			l = &life{opened: u}
			if byID != nil {
				byID[u.BillingItemID] = l
			}
			lives = append(lives, l)
		}
		l.steps = append(l.steps, step{u.OccurredAt.UTC(), u.CurrentCount, u.BillableCount, u.BillingEventID, u.Action == stop})
	}
	if len(lives) < 2 {
		return lives
	}
	slices.SortFunc(lives, func(a, b *life) int {
		return cmp.Or(a.opened.OccurredAt.Compare(b.opened.OccurredAt),
			cmp.Compare(a.opened.BillingItemID, b.opened.BillingItemID))
	})
	return lives
}

// fewEvents is up to how many events a search is faster than a map. Most items
// have two events.
const fewEvents = 8

func lifeOf(lives []*life, item int64) *life {
	for _, l := range lives {
		if l.opened.BillingItemID == item {
			return l
		}
	}
	return nil
}

// The actions of a billing event that open and close an item (completions 7.1).
const (
	start = "start"
	stop  = "stop"
)

func (l *life) stopped() bool { return l.steps[len(l.steps)-1].stop }

// unitsAt returns the item's units from an instant on.
func (l *life) unitsAt(at time.Time) (units int64) {
	for _, s := range l.steps {
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
func (l *life) during(day time.Time) (first, last, quantity int64) {
	end := day.AddDate(0, 0, 1)
	for _, s := range l.steps {
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
	life   *life
	pieces []piece
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
// up exactly, and the time is linear in the number of events, not quadratic.
func uses(rate Rate, lives []*life, from, to time.Time) []use {
	if rate.model.Alone {
		return usesAlone(rate, lives, from, to)
	}
	return usesTogether(rate, lives, from, to)
}

func usesAlone(rate Rate, lives []*life, from, to time.Time) []use {
	var out []use
	for _, l := range lives {
		u := use{life: l}
		for i, s := range l.steps {
			end := to
			if i+1 < len(l.steps) {
				end = l.steps[i+1].at
			}
			u.add(piece{later(s.at, from), end, rate.model.due(&rate, 0, s.units, s.count), s.count})
		}
		if len(u.pieces) > 0 {
			out = append(out, u)
		}
	}
	return out
}

// usesTogether cuts the time at every change of any item, and prices each item
// by its ordinal.
func usesTogether(rate Rate, lives []*life, from, to time.Time) []use {
	all := make([]use, len(lives))
	for i, l := range lives {
		all[i].life = l
	}
	cuts := cutsOf(lives, from, to)
	for i := range len(cuts) - 1 {
		units := make([]int64, len(lives))
		var count, ordinal int64
		for j, l := range lives {
			units[j] = l.unitsAt(cuts[i])
			count += units[j]
		}
		for j := range lives {
			all[j].add(piece{cuts[i], cuts[i+1], rate.model.due(&rate, ordinal, units[j], count), count})
			ordinal += units[j]
		}
	}
	return slices.DeleteFunc(all, func(u use) bool { return len(u.pieces) == 0 })
}

// cutsOf returns, without duplicates, both ends and every instant between them
// at which an item changes.
func cutsOf(lives []*life, from, to time.Time) []time.Time {
	cuts := []time.Time{from, to}
	for _, l := range lives {
		for _, s := range l.steps {
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
