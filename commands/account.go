package commands

import (
	"cmp"
	"fmt"

	"netsim/events"
	"netsim/fault"
	"netsim/rating"
)

// Account is the state that decisions about a billing account need. Its size does
// not depend on the number of items, because RecordUsage has the units of its item
// before and after. The command's id derives from the cause, so each cause counts
// once.
type Account struct {
	created
	Units   map[string]int64  `json:"units,omitempty"`   // total of all active items, by rate name
	Credits map[string]Credit `json:"credits,omitempty"` // by currency
	Quotas  map[string]int64  `json:"quotas,omitempty"`  // set by an operator, by name
}

// Credit is what an account has in one currency; both amounts are decimals.
type Credit struct {
	Balance string `json:"balance"`           // granted, less the current daily costs; may be negative
	Held    string `json:"held"`              // set aside for simulations
	Unknown string `json:"unknown,omitempty"` // why the amounts are not known: an event has an amount that is not a decimal
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
		a.move(e, d.Currency, balanceOf, d.Amount, "0")
	case events.DailyCostRated:
		a.move(e, d.Currency, balanceOf, cmp.Or(d.PreviousCost, "0"), d.Cost)
	case events.CreditHeld:
		a.move(e, d.Currency, heldOf, d.Amount, "0")
	case events.CreditHoldChanged:
		a.move(e, d.Currency, heldOf, d.Amount, d.PreviousAmount)
	case events.CreditReleased:
		a.move(e, d.Currency, heldOf, "0", d.Amount)
	case events.AccountQuotasSet:
		a.Quotas = nil
		for _, q := range d.Quotas {
			if a.Quotas == nil {
				a.Quotas = map[string]int64{}
			}
			a.Quotas[q.Name] = q.Limit
		}
	}
}

func balanceOf(c *Credit) *string { return &c.Balance }
func heldOf(c *Credit) *string    { return &c.Held }

// move adds plus less minus to an amount of the credit in a currency.
func (a *Account) move(e events.Event, currency string, of func(*Credit) *string, plus, minus string) {
	c, known := a.Credits[currency]
	if !known {
		c = Credit{Balance: "0", Held: "0"}
	}
	sum, err := rating.Add(*of(&c), plus)
	if err == nil {
		sum, err = rating.Sub(sum, minus)
	}
	switch {
	case err == nil:
		*of(&c) = sum
	case c.Unknown == "":
		c.Unknown = fmt.Sprintf("event %s: %v", e.ID, err)
	}
	if a.Credits == nil {
		a.Credits = map[string]Credit{}
	}
	a.Credits[currency] = c
}

// credit returns the credit in a currency. It returns an error if the credit is
// unknown.
func (a *Account) credit(currency string) (Credit, error) {
	c, known := a.Credits[currency]
	if !known {
		return Credit{Balance: "0", Held: "0"}, nil
	}
	if c.Unknown != "" {
		return c, fault.New(fault.Internal, "the credit in %s is unknown: %s", currency, c.Unknown)
	}
	return c, nil
}

// free returns the credit that is neither spent nor held, a decimal above 0. Without any it
// returns PaymentRequired.
func (a *Account) free(currency string) (string, error) {
	has, err := a.credit(currency)
	if err != nil {
		return "", err
	}
	left, err := rating.Sub(has.Balance, has.Held)
	if err != nil {
		return "", err
	}
	if free, err := rating.Parse(left); err != nil || free.Sign() > 0 {
		return left, err
	}
	return "", fault.New(fault.PaymentRequired, "the credit of the account is exhausted")
}
