package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// Account is what decisions about a billing account need. It stays small
// whatever the number of items: an item's own units come with the command,
// whose id derives from the cause, so that one cause counts once.
type Account struct {
	created
	Units map[string]int64 `json:"units,omitempty"` // of all active items, by rate name
}

// Evolve applies an event.
func (a *Account) Evolve(e events.Event) {
	a.Exists = true
	if d, ok := e.Data.(events.UsageRecorded); ok {
		if a.Units == nil {
			a.Units = map[string]int64{}
		}
		a.Units[d.RateName] = d.BillableCount
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

// GrantCredit adds credit; its command id derives from the unique reference.
type GrantCredit struct{ Granted events.CreditGranted }

// Decide implements Command.
func (c GrantCredit) Decide(*Account, time.Time) (events.Data, error) { return c.Granted, nil }

// HoldCredit sets credit aside for a simulation.
type HoldCredit struct{ Held events.CreditHeld }

// Decide implements Command.
func (c HoldCredit) Decide(*Account, time.Time) (events.Data, error) { return c.Held, nil }

// ReleaseCredit frees what was held for a simulation.
type ReleaseCredit struct{ Released events.CreditReleased }

// Decide implements Command.
func (c ReleaseCredit) Decide(*Account, time.Time) (events.Data, error) { return c.Released, nil }

// RecordDailyCost writes down the rating of one item, day and rate row.
type RecordDailyCost struct{ Rated events.DailyCostRated }

// Decide implements Command.
func (c RecordDailyCost) Decide(*Account, time.Time) (events.Data, error) { return c.Rated, nil }

// LogAccess writes down that billing was looked up by a person's name.
type LogAccess struct{ Access events.AccessLogged }

// Decide implements Command.
func (c LogAccess) Decide(*Account, time.Time) (events.Data, error) { return c.Access, nil }
