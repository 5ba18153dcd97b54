package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
	"netsim/rating"
)

// Credit is what an account has in one currency; both are decimals.
type Credit struct {
	Balance string `json:"balance"` // granted, less the current daily costs; may be negative
	Held    string `json:"held"`    // set aside for simulations
}

// move changes the credit in a currency.
func (a *Account) move(currency, balance, held string) {
	if a.Credits == nil {
		a.Credits = map[string]Credit{}
	}
	c := a.credit(currency)
	a.Credits[currency] = Credit{plus(c.Balance, balance), plus(c.Held, held)}
}

func (a *Account) credit(currency string) Credit {
	if c, ok := a.Credits[currency]; ok {
		return c
	}
	return Credit{"0", "0"}
}

// plus and minus are exact. What is no decimal counts as nothing: amounts are
// checked before they are events.
func plus(a, b string) string {
	if sum, err := rating.Add(a, b); err == nil {
		return sum
	}
	return a
}

func minus(a, b string) string {
	if difference, err := rating.Sub(a, b); err == nil {
		return difference
	}
	return a
}

// GrantCredit adds credit; its command id derives from the unique reference.
type GrantCredit struct{ Granted events.CreditGranted }

// Decide implements Command.
func (c GrantCredit) Decide(*Account, time.Time) (events.Data, error) { return c.Granted, nil }

// HoldCredit sets credit aside for a simulation before it is requested, or what
// is left of it when that is less. As the account's stream decides, holds never
// come to more than the balance, however many requests race (completions 7.5).
// Its command id derives from the simulation: holding again holds nothing more.
type HoldCredit struct {
	Held    events.CreditHeld // an amount of "0" where there is no price
	Prepaid bool              // the account is gated by its credit
}

// Decide implements Command.
func (c HoldCredit) Decide(a *Account, _ time.Time) (events.Data, error) {
	held := c.Held
	amount, err := rating.Parse(held.Amount)
	if err != nil {
		return nil, err
	}
	if c.Prepaid {
		has := a.credit(held.Currency)
		left := minus(has.Balance, has.Held)
		free, err := rating.Parse(left)
		switch {
		case err != nil:
			return nil, err
		case free.Sign() <= 0:
			return nil, fault.New(fault.PaymentRequired, "the credit of the account is exhausted")
		case free.Cmp(amount) < 0:
			held.Amount = left
		}
	}
	if amount.IsZero() {
		return nil, nil
	}
	return held, nil
}

// ReleaseCredit frees what was held for a simulation; its command id derives
// from the simulation.
type ReleaseCredit struct{ Released events.CreditReleased }

// Decide implements Command.
func (c ReleaseCredit) Decide(*Account, time.Time) (events.Data, error) { return c.Released, nil }
