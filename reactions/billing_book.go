package reactions

import (
	"fmt"
	"time"

	"netsim/events"
	"netsim/projections"
	"netsim/rating"
)

// entry is a cost to be booked; its id is still to be taken.
type entry struct {
	cost      events.DailyCostRated
	commandID string // says what the entry is: booking it twice is booking it once
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
			entries = append(entries, version(r, 1))
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
		none.EngineVersion = rating.EngineVersion
		e, err := amend(day, now, none, b)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e...)
	}
	return entries, nil
}

// amend returns what makes a booked row agree with what it was rated at now.
func amend(day, now time.Time, rated events.DailyCostRated, b projections.BookedCost) ([]entry, error) {
	if !now.Before(monthCloses(day)) {
		stands, err := rating.Add(b.Cost, b.Corrected)
		if err != nil {
			return nil, fmt.Errorf("daily cost %d: %w", b.DailyCostID, err)
		}
		difference, err := rating.Sub(rated.Cost, stands)
		if err != nil || difference == "0" {
			return nil, err
		}
		rated.Cost, rated.Date, rated.Version = difference, now.Format(time.DateOnly), 1
		rated.Supersedes, rated.CorrectionOf = 0, b.DailyCostID
		return []entry{{rated, derivedCommand("correction", fmt.Sprint(b.DailyCostID), fmt.Sprint(b.Corrections+1))}}, nil
	}
	if rating.Equal(rated.Cost, b.Cost) && rating.Equal(rated.UnitDays, b.UnitDays) && rated.Quantity == b.Quantity {
		return nil, nil
	}
	rated.Supersedes = b.DailyCostID
	return []entry{version(rated, b.Version+1)}, nil
}

func version(r events.DailyCostRated, n int64) entry {
	r.Version = n
	return entry{r, derivedCommand("cost", fmt.Sprint(r.BillingItemID), r.Date, fmt.Sprint(r.RateID), fmt.Sprint(n))}
}

// monthCloses is when the books of the day's month close: the 3rd of the next,
// at 00:00.
func monthCloses(day time.Time) time.Time {
	return time.Date(day.Year(), day.Month()+1, 3, 0, 0, 0, 0, time.UTC)
}
