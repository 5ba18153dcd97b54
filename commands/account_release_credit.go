package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
	"netsim/rating"
)

// ReleaseCredit releases a hold. Its command id derives from the hold, so it is
// released once.
type ReleaseCredit struct{ Released events.CreditReleased }

// Decide implements Command.
func (c ReleaseCredit) Decide(a *Account, _ time.Time) (events.Data, error) {
	r := c.Released
	if err := rating.CheckCredit(r.Amount, r.Currency); err != nil {
		return nil, fault.New(fault.Internal, "release the credit of %s: %v", r.SimulationID, err)
	}
	has, err := a.credit(r.Currency)
	if err != nil {
		return nil, err
	}
	left, err := rating.Sub(has.Held, r.Amount)
	if err != nil {
		return nil, err
	}
	if left[0] == '-' {
		return nil, fault.New(fault.Internal, "release %s %s for %s: the account holds only %s", r.Amount, r.Currency, r.SimulationID, has.Held)
	}
	return r, nil
}
