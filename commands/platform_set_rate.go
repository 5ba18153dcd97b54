package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
	"netsim/rating"
)

// SetRate records one row of the price list under the next rate id. Setting a row
// that is recorded already does nothing.
//
// A row for something that has a price begins tomorrow at the earliest, so that
// the price of a day never changes after the day has begun. The exception is
// the list that brought the first price: its rows may begin on any day that no
// row prices yet, because they are recorded one after the other.
type SetRate struct {
	Rate events.RateSet // without RateID
	List string         // names the list; the command's correlation id
}

// Decide implements Command.
func (c SetRate) Decide(p *Platform, now time.Time) (events.Data, error) {
	r := c.Rate
	if err := CheckRate(r); err != nil {
		return nil, fault.New(fault.Validation, "%v", err)
	}
	for _, row := range p.Rates {
		if row.RateID = 0; row == r {
			return nil, nil
		}
	}
	if tomorrow := tomorrow(now); r.StartDate < tomorrow && !p.founding(r, c.List) {
		return nil, fault.New(fault.Conflict, "rate %s begins %s: it has a price already, which can change on %s at the earliest",
			r.RateName, r.StartDate, tomorrow)
	}
	r.RateID = p.LastRateID + 1
	return r, nil
}

// founding reports whether the row may begin in the past: no other list brought the
// first price of its rate name, and no recorded row of the same account prices the
// same units on any of its days.
func (p *Platform) founding(r events.RateSet, list string) bool {
	for _, row := range p.Rates {
		if scopeOf(row.AccountID, row.RateName) == scopeOf(r.AccountID, r.RateName) && rating.Overlap(row, r) {
			return false
		}
	}
	for _, account := range []string{"", r.AccountID} {
		if by, founded := p.Founders[scopeOf(account, r.RateName)]; founded && (by != list || list == "") {
			return false
		}
	}
	return true
}
