package commands

import "netsim/events"

// PlatformStream returns the stream of a deployment's price list.
func PlatformStream(platform string) string { return events.PlatformPrefix + "_" + platform }

// Platform is what decisions about a price list need: the list itself, which is
// short.
type Platform struct {
	created
	LastRateID int64             `json:"lastRateId,omitempty"`
	Rates      []events.RateSet  `json:"rates,omitempty"`    // the current rows, by id
	Founders   map[string]string `json:"founders,omitempty"` // the list that brought the first row, by scope
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

// scopeOf identifies the rows that apply together: those of a rate name for one
// account, or, with "", for the platform.
func scopeOf(account, rateName string) string { return account + "/" + rateName }
