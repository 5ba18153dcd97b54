package billing

import (
	"fmt"
	"time"

	"netsim/events"
	"netsim/projections"
	"netsim/rating"
)

// entry is a cost to book, still without its id.
//
// Its command id names the one entry that can come next for its row: the first,
// or the one after the row's newest version and its corrections. If several
// writers book the same row at once, whether a version or a correction, only one
// of them succeeds. The command ids of an accrual begin with the date and the item,
// so that the index finds those of a batch close together.
type entry struct {
	cost      events.DailyCostRated
	commandID string
}

// row identifies a row of a day's costs.
type row struct{ item, rate int64 }

// reconcile compares the rated costs of a day with the booked ones, and returns
// the entries that make them equal (completions 7.4 steps 7 and 8).
//
// While the day's month is open, a different cost is a new version of the row.
// Afterwards the row stays, and a correction dated today books the difference. A
// row that was never booked is booked at its own date in either case.
func reconcile(day, now time.Time, rated []events.DailyCostRated, booked []projections.BookedCost) ([]entry, error) {
	before := map[row]projections.BookedCost{}
	for _, b := range booked {
		before[row{b.BillingItemID, b.RateID}] = b
	}
	var entries []entry
	for _, r := range rated {
		key := row{r.BillingItemID, r.RateID}
		b, found := before[key]
		delete(before, key)
		if !found {
			entries = append(entries, first(r))
			continue
		}
		e, err := amend(day, now, r, b)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e...)
	}
	for _, b := range booked {
		if _, left := before[row{b.BillingItemID, b.RateID}]; !left {
			continue
		}
		none := b.DailyCostRated // booked, and no longer rated
		none.Cost, none.UnitDays, none.Quantity, none.Segments = "0", "0", 0, []events.CostSegment{}
		e, err := amend(day, now, none, b)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e...)
	}
	return entries, nil
}

// amend returns the entry, if any, that makes a booked row equal to its new
// rating. A row with a correction is corrected again, whatever the local clock
// says, because its month is closed.
func amend(day, now time.Time, rated events.DailyCostRated, b projections.BookedCost) ([]entry, error) {
	next := fmt.Sprintf("amend:%d:%d", b.DailyCostID, b.Corrections+1)
	if b.Corrections > 0 || !now.Before(monthCloses(day)) {
		total, err := rating.Add(b.Cost, b.Corrected)
		if err != nil {
			return nil, fmt.Errorf("daily cost %d: %w", b.DailyCostID, err)
		}
		difference, err := rating.Sub(rated.Cost, total)
		if err != nil || difference == "0" {
			return nil, err
		}
		rated.Cost, rated.Date, rated.Version = difference, now.Format(time.DateOnly), 1
		rated.PreviousCost, rated.Supersedes, rated.CorrectionOf = "", 0, b.DailyCostID
		return []entry{{rated, next}}, nil
	}
	if rating.Equal(rated.Cost, b.Cost) && rating.Equal(rated.UnitDays, b.UnitDays) && rated.Quantity == b.Quantity {
		return nil, nil
	}
	rated.Version, rated.Supersedes, rated.PreviousCost = b.Version+1, b.DailyCostID, b.Cost
	return []entry{{rated, next}}, nil
}

// first returns the entry of a row that is not booked yet.
func first(r events.DailyCostRated) entry {
	r.Version = 1
	return entry{r, fmt.Sprintf("cost:%s:%d:%d", r.Date, r.BillingItemID, r.RateID)}
}

// monthCloses returns when the books of the day's month close: at 00:00 UTC on
// the 3rd of the next month.
func monthCloses(day time.Time) time.Time {
	return time.Date(day.Year(), day.Month()+1, 3, 0, 0, 0, 0, time.UTC)
}
