package commands

import (
	"cmp"
	"time"

	"netsim/events"
	"netsim/fault"
)

// Account is what decisions about a billing account need. It stays small
// whatever the number of items: an item's own units come with the command,
// whose id derives from the cause, so that one cause counts once.
type Account struct {
	created
	Units   map[string]int64  `json:"units,omitempty"`   // of all active items, by rate name
	Credits map[string]Credit `json:"credits,omitempty"` // by currency
	Quotas  map[string]int64  `json:"quotas,omitempty"`  // that an operator set, by name
}

// Evolve applies an event.
func (a *Account) Evolve(e events.Event) {
	a.Exists = true
	switch d := e.Data.(type) {
	case events.UsageRecorded:
		if a.Units == nil {
			a.Units = map[string]int64{}
		}
		a.Units[d.RateName] = d.BillableCount
	case events.CreditGranted:
		a.move(d.Currency, d.Amount, "0")
	case events.DailyCostRated:
		a.move(d.Currency, minus(cmp.Or(d.PreviousCost, "0"), d.Cost), "0")
	case events.CreditHeld:
		a.move(d.Currency, "0", d.Amount)
	case events.AccountQuotasSet:
		a.Quotas = nil
		for _, q := range d.Quotas {
			if a.Quotas == nil {
				a.Quotas = map[string]int64{}
			}
			a.Quotas[q.Name] = q.Limit
		}
	case events.CreditReleased:
		a.move(d.Currency, "0", minus("0", d.Amount))
	}
}

// RecordUsage records that an item opened, changed or closed. The account's
// count after it is decided here.
type RecordUsage struct {
	Usage events.UsageRecorded // without BillableCount
}

// Decide implements Command.
func (c RecordUsage) Decide(a *Account, _ time.Time) (events.Data, error) {
	u := c.Usage
	if u.PreviousCount == u.CurrentCount && u.Action == UsageUpdate {
		return nil, nil
	}
	u.BillableCount = a.Units[u.RateName] + u.CurrentCount - u.PreviousCount
	if u.BillableCount < 0 {
		return nil, fault.New(fault.Internal, "the units of %s would be negative", u.RateName)
	}
	return u, nil
}

// What a billing event does to its item.
const (
	UsageStart  = "start"
	UsageUpdate = "update"
	UsageStop   = "stop"
)

// RecordDailyCost writes down the rating of one item, day and rate row.
type RecordDailyCost struct{ Rated events.DailyCostRated }

// Decide implements Command.
func (c RecordDailyCost) Decide(*Account, time.Time) (events.Data, error) { return c.Rated, nil }

// LogAccess writes down that billing was looked up by a person's name.
type LogAccess struct{ Access events.AccessLogged }

// Decide implements Command.
func (c LogAccess) Decide(*Account, time.Time) (events.Data, error) { return c.Access, nil }
