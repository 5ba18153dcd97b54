package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// EndRate changes the day on which a row ends. The new day is tomorrow at the
// earliest, and a row that has ended stays as it is. The same day again does
// nothing.
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
	if _, err := time.Parse(time.DateOnly, c.EndDate); c.EndDate != "" && err != nil {
		return nil, fault.New(fault.Validation, "rate %s: endDate %q is not a date", at.RateName, c.EndDate)
	}
	ended := *at
	ended.EndDate = c.EndDate
	return ended, nil
}
