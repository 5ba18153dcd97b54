package rating

import (
	"slices"
	"time"
)

// widen applies a minimum period to the pieces of an item at a rate, and returns
// the pieces that are charged to the day (completions 7.4 step 4).
func widen(minimum string, day time.Time, pieces []piece) []piece {
	switch minimum {
	case PerHour:
		return merge(pieces, time.Hour)
	case PerDay:
		return merge(pieces, 24*time.Hour)
	case PerMonth:
		// The first piece of the month is extended to the end of the month, with
		// its units. Nothing is charged to later days of the month.
		if len(pieces) == 0 || pieces[0].from.Before(day) {
			return nil
		}
		first := pieces[0]
		first.to = firstOfMonth(day).AddDate(0, 1, 0)
		return []piece{first}
	}
	return pieces
}

// merge extends the pieces of a day to whole steps. A step that several pieces
// share counts once, for the piece with the most units; if these are equal, for
// the earliest.
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
