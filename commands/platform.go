package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// PlatformStream returns the stream of a deployment's price list.
func PlatformStream(platform string) string { return events.PlatformPrefix + "_" + platform }

// Platform is what decisions about a price list need: the list itself, which is
// short.
type Platform struct {
	created
	LastRateID int64             `json:"lastRateId,omitempty"`
	Rates      []events.RateSet  `json:"rates,omitempty"` // as they stand, in the order of their ids
	Founders   map[string]string `json:"founders,omitempty"`
}

// Evolve applies an event.
func (p *Platform) Evolve(e events.Event) {
	d, ok := e.Data.(events.RateSet)
	if !ok {
		return
	}
	p.Exists, p.LastRateID = true, max(p.LastRateID, d.RateID)
	if at := p.rate(d.RateID); at != nil {
		*at = d
		return
	}
	p.Rates = append(p.Rates, d)
	if _, founded := p.Founders[scopeOf(d.AccountID, d.RateName)]; !founded {
		if p.Founders == nil {
			p.Founders = map[string]string{}
		}
		p.Founders[scopeOf(d.AccountID, d.RateName)] = e.CorrelationID
	}
}

func (p *Platform) rate(id int64) *events.RateSet {
	for i := range p.Rates {
		if p.Rates[i].RateID == id {
			return &p.Rates[i]
		}
	}
	return nil
}

// scopeOf names the rows that apply together: those of a rate name for one
// account, or, with "", for the platform.
func scopeOf(account, rateName string) string { return account + "/" + rateName }

// SetRate records one row of the price list under the next rate id. Its
// command id derives from the row, so a list loaded twice stands once.
//
// Once something has a price, a row for it cannot begin before tomorrow, so
// that the price of a day never changes after the day has begun. Only the list
// that brings the first rows may bring all of them, one after the other, and
// from any day on that none of them has priced yet.
type SetRate struct {
	Rate events.RateSet // without RateID
	List string         // names the list; the command's correlation id
}

// Decide implements Command.
func (c SetRate) Decide(p *Platform, now time.Time) (events.Data, error) {
	r := c.Rate
	for _, there := range p.Rates {
		if there.RateID = 0; there == r {
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

// founding reports whether whatever the row prices has no price yet, but from
// the list, and none from any row on days of this one: the list may come again
// after others.
func (p *Platform) founding(r events.RateSet, list string) bool {
	for _, there := range p.Rates {
		if scopeOf(there.AccountID, there.RateName) == scopeOf(r.AccountID, r.RateName) && overlap(there, r) {
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

// overlap reports whether two rows are about the same units on some day.
func overlap(a, b events.RateSet) bool {
	return (a.EndDate == "" || b.StartDate < a.EndDate) && (b.EndDate == "" || a.StartDate < b.EndDate) &&
		(a.TierEnd == 0 || b.TierStart < a.TierEnd) && (b.TierEnd == 0 || a.TierStart < b.TierEnd)
}

// EndRate has a row end on another day, which is tomorrow at the earliest, as
// is the day on which it would have ended. Doing so again records nothing.
type EndRate struct {
	RateID  int64
	EndDate string // exclusive; "" for never
}

// Decide implements Command.
func (c EndRate) Decide(p *Platform, now time.Time) (events.Data, error) {
	at, tomorrow := p.rate(c.RateID), tomorrow(now)
	switch {
	case at == nil:
		return nil, fault.Missing("rate", c.RateID)
	case at.EndDate == c.EndDate:
		return nil, nil
	case at.EndDate != "" && at.EndDate < tomorrow:
		return nil, fault.New(fault.Conflict, "rate %s of %s ended %s", at.RateName, at.StartDate, at.EndDate)
	case c.EndDate != "" && c.EndDate < tomorrow:
		return nil, fault.New(fault.Conflict, "rate %s of %s cannot end %s: its price can change on %s at the earliest",
			at.RateName, at.StartDate, c.EndDate, tomorrow)
	}
	ended := *at
	ended.EndDate = c.EndDate
	return ended, nil
}

func tomorrow(now time.Time) string { return now.UTC().AddDate(0, 0, 1).Format(time.DateOnly) }
