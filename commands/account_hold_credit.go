package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
	"netsim/rating"
)

// HoldCredit sets credit aside for a simulation before it is requested. If a
// prepaid account has less free credit than the amount, all of it is held; if it
// has none, the fault is PaymentRequired. The account's stream decides, so
// concurrent requests never hold more than the balance (completions 7.5). The
// command id derives from the simulation and its previous hold, so that repeating a
// hold does nothing.
type HoldCredit struct {
	Held    events.CreditHeld // an amount of "0" where no rate applies
	Prepaid bool              // the account needs credit to run
}

// Decide implements Command.
func (c HoldCredit) Decide(a *Account, _ time.Time) (events.Data, error) {
	held := c.Held
	amount, err := rating.Parse(held.Amount)
	if err == nil {
		err = rating.CheckCurrency(held.Currency)
	}
	if err != nil {
		return nil, fault.New(fault.Internal, "hold credit for %s: %v", held.SimulationID, err)
	}
	if amount.Sign() < 0 {
		return nil, fault.New(fault.Internal, "hold credit for %s: amount %s is below 0", held.SimulationID, held.Amount)
	}
	if c.Prepaid {
		left, err := a.free(held.Currency)
		if err != nil {
			return nil, err
		}
		free, err := rating.Parse(left)
		if err != nil {
			return nil, err
		}
		if free.Cmp(amount) < 0 {
			held.Amount = left
		}
	}
	if amount.IsZero() {
		return nil, nil
	}
	return held, nil
}
