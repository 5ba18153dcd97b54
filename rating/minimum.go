package rating

import (
	"slices"
	"time"
)

// widen applies a minimum period to the pieces of an item at a rate
// (completions 7.4 step 4) and returns those that the day bears.
func widen(minimum string, day time.Time, pieces []piece) []piece {
	switch minimum {
	case PerHour:
		return merge(pieces, time.Hour)
	case PerDay:
		return merge(pieces, 24*time.Hour)
	case PerMonth:
		// The first touch bears the rest of the month, at the units of the
		// touch; what comes later has been borne.
		if len(pieces) == 0 || pieces[0].from.Before(day) {
			return nil
		}
		touch := pieces[0]
		touch.to = firstOfMonth(day).AddDate(0, 1, 0)
		return []piece{touch}
	}
	return pieces
}

// merge widens the pieces of a day to whole steps, which are counted once: a
// step that several pieces reach into is borne by that with the most units,
// the earliest of equals.
func merge(pieces []piece, step time.Duration) []piece {
	var cuts []time.Time
	wide := slices.Clone(pieces)
	for i := range wide {
		wide[i].from = wide[i].from.Truncate(step)
		wide[i].to = wide[i].to.Add(step - 1).Truncate(step)
		cuts = append(cuts, wide[i].from, wide[i].to)
	}
	slices.SortFunc(cuts, time.Time.Compare)
	cuts = slices.CompactFunc(cuts, time.Time.Equal)
	var out use
	for i := range max(len(cuts)-1, 0) {
		var most piece
		for _, p := range wide {
			if !p.from.After(cuts[i]) && p.to.After(cuts[i]) && p.units > most.units {
				most = p
			}
		}
		out.add(piece{cuts[i], cuts[i+1], most.units, most.count})
	}
	return out.pieces
}
