package audit

import (
	"slices"
	"strings"

	"netsim/rating"
)

// charge records a daily cost: the first version of its row, the next version,
// or a correction.
func (a *account) charge(b *books, c *cost) {
	if c.CorrectionOf != 0 {
		corrected := a.costOf(c.CorrectionOf)
		if corrected == nil {
			b.find(c.at, "daily cost %d corrects %d, which is not there", c.DailyCostID, c.CorrectionOf)
			return
		}
		corrected.fixes = append(corrected.fixes, c)
		a.fixes = append(a.fixes, c)
		return
	}
	i := a.item(c.BillingItemID)
	if at := i.indexOf(c.Date, c.RateID); at >= 0 {
		before := i.costs[at]
		if c.Version != before.Version+1 || c.Supersedes != before.DailyCostID {
			b.find(c.at, "daily cost %d is version %d and supersedes %d; the one before it is %d, version %d",
				c.DailyCostID, c.Version, c.Supersedes, before.DailyCostID, before.Version)
		}
		if c.PreviousCost != "" && !rating.Equal(c.PreviousCost, before.Cost) {
			b.find(c.at, "daily cost %d supersedes a cost of %s, but names %s", c.DailyCostID, before.Cost, c.PreviousCost)
		}
		c.ratedAt = latest(c.ratedAt, before.ratedAt)
		i.costs[at] = c
	} else {
		if c.Version > 1 {
			b.find(c.at, "daily cost %d is version %d of a row that is not there", c.DailyCostID, c.Version)
		}
		if n := len(i.costs); n > 0 && c.Date < i.costs[n-1].Date {
			i.mixed = true
		}
		i.costs = append(i.costs, c)
	}
	if a.byID != nil {
		a.byID[c.DailyCostID] = c
	}
	credit := a.credit(c.Currency)
	credit.at = latest(credit.at, c.ratedAt)
}

// indexOf returns the index of the row of a day and rate, -1 when there is none.
// It searches from the end, because rows come in the order of their dates except
// for late ones.
func (i *item) indexOf(date string, rate int64) int {
	for at := len(i.costs) - 1; at >= 0; at-- {
		c := i.costs[at]
		if c.Date == date && c.RateID == rate {
			return at
		}
		if c.Date < date && !i.mixed {
			break
		}
	}
	return -1
}

// cost returns the row of a day and rate, nil when there is none. It begins where
// it found the last row, because callers go through the days in order.
func (i *item) cost(date string, rate int64) *cost {
	at := i.looked
	if at >= len(i.costs) || i.costs[at].Date != date {
		at++
	}
	switch {
	case i.mixed:
		at = 0
	case at >= len(i.costs) || i.costs[at].Date != date || at > 0 && i.costs[at-1].Date == date:
		at, _ = slices.BinarySearchFunc(i.costs, date, func(c *cost, date string) int { return strings.Compare(c.Date, date) })
	}
	for ; at < len(i.costs) && (i.mixed || i.costs[at].Date == date); at++ {
		if c := i.costs[at]; c.Date == date && c.RateID == rate {
			i.looked = at
			return c
		}
	}
	return nil
}

// rule returns the rating rule by which a day of the item is booked, "" for a
// day that is not booked.
func (i *item) rule(date string) string {
	at := 0
	if !i.mixed {
		at, _ = slices.BinarySearchFunc(i.costs, date, func(c *cost, date string) int { return strings.Compare(c.Date, date) })
	}
	for ; at < len(i.costs) && (i.mixed || i.costs[at].Date == date); at++ {
		if i.costs[at].Date == date {
			return i.costs[at].EngineVersion
		}
	}
	return ""
}

// costOf returns the row with an id; nil when there is none.
func (a *account) costOf(id int64) *cost {
	if a.byID == nil {
		a.byID = map[int64]*cost{}
		for _, i := range a.items {
			for _, c := range i.costs {
				a.byID[c.DailyCostID] = c
			}
		}
	}
	return a.byID[id]
}
