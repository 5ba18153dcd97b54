package billing

import (
	"fmt"
	"time"

	"netsim/events"
	"netsim/projections"
	"netsim/rating"
)

// entry is a cost to be booked; its id is still to be taken.
//
// Its command id names the place that it takes: the first of its row, or the
// next behind the row's newest version and its corrections. Whoever books into
// the same place, be it another version or a correction, finds it taken. The ids
// of a night follow each other in the index that they are looked up in.
type entry struct {
	cost      events.DailyCostRated
	commandID string
}

// place is what one row of a day is about.
type place struct{ item, rate int64 }

// reconcile compares what a day was rated at with what is booked, and returns
// what has to be booked so that both agree (completions 7.4 steps 7 and 8).
//
// While the day's month is open, another result is a new version of the row.
// Afterwards a row stays, and a correction dated today bears the difference. A
// day that was never booked is booked at its date, whenever that happens.
func reconcile(day, now time.Time, rated []events.DailyCostRated, booked []projections.BookedCost) ([]entry, error) {
	before := map[place]projections.BookedCost{}
	for _, b := range booked {
		before[place{b.BillingItemID, b.RateID}] = b
	}
	var entries []entry
	for _, r := range rated {
		at := place{r.BillingItemID, r.RateID}
		b, found := before[at]
		delete(before, at)
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
	// What is left has no cost any more.
	for _, b := range booked {
		if _, left := before[place{b.BillingItemID, b.RateID}]; !left {
			continue
		}
		none := b.DailyCostRated
		none.Cost, none.UnitDays, none.Quantity, none.Segments = "0", "0", 0, []events.CostSegment{}
		e, err := amend(day, now, none, b)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e...)
	}
	return entries, nil
}

// amend returns what makes a booked row agree with what it was rated at now. A
// row that has been corrected is corrected again: its month is closed, whatever
// this process's clock says.
func amend(day, now time.Time, rated events.DailyCostRated, b projections.BookedCost) ([]entry, error) {
	next := fmt.Sprintf("amend:%d:%d", b.DailyCostID, b.Corrections+1)
	if b.Corrections > 0 || !now.Before(monthCloses(day)) {
		stands, err := rating.Add(b.Cost, b.Corrected)
		if err != nil {
			return nil, fmt.Errorf("daily cost %d: %w", b.DailyCostID, err)
		}
		difference, err := rating.Sub(rated.Cost, stands)
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

// first makes the entry of a row that is not booked yet.
func first(r events.DailyCostRated) entry {
	r.Version = 1
	return entry{r, fmt.Sprintf("cost:%s:%d:%d", r.Date, r.BillingItemID, r.RateID)}
}

// monthCloses is when the books of the day's month close: the 3rd of the next,
// at 00:00.
func monthCloses(day time.Time) time.Time {
	return time.Date(day.Year(), day.Month()+1, 3, 0, 0, 0, 0, time.UTC)
}
