package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
	"netsim/rating"
)

// ChangeHold changes the amount that a prepaid account holds for a running simulation. If
// less is free than the hold grows by, all of it is held; if nothing is, the fault is
// PaymentRequired. Its command id is that of the release of the hold it replaces, so that
// of a change and a release only one is recorded.
type ChangeHold struct{ Changed events.CreditHoldChanged }

// Decide implements Command.
func (c ChangeHold) Decide(a *Account, _ time.Time) (events.Data, error) {
	d := c.Changed
	more, err := rating.Sub(d.Amount, d.PreviousAmount)
	if err == nil {
		err = rating.CheckCredit(d.Amount, d.Currency)
	}
	if err != nil {
		return nil, fault.New(fault.Internal, "change the hold of %s: %v", d.SimulationID, err)
	}
	if more[0] == '-' {
		return d, nil
	}
	left, err := a.free(d.Currency)
	if err != nil {
		return nil, err
	}
	if short, err := rating.Sub(left, more); err != nil {
		return nil, err
	} else if short[0] == '-' {
		more = left
	}
	d.Amount, err = rating.Add(d.PreviousAmount, more)
	return d, err
}
