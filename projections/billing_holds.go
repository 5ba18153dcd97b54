package projections

import (
	"time"

	"netsim/events"
	"netsim/infra/columns"
)

// CreditHold is a row of the table credit_holds.
type CreditHold struct {
	SimulationID string
	AccountID    string
	Amount       string // decimal
	Currency     string
	ExpiresAt    time.Time
	ReleasedAt   *time.Time // nil while open
}

// Holds is the projection of the credit that is reserved for simulations.
type Holds struct{ table[CreditHold] }

// NewHolds returns the projection.
func NewHolds() *Holds {
	return &Holds{table[CreditHold]{
		name: "credit_holds", file: "billing_holds.sql", columns: creditHoldColumns,
		keyOf: func(f *events.Fact) string {
			switch d := f.Data.(type) {
			case events.CreditHeld:
				return d.SimulationID
			case events.CreditHoldChanged:
				return d.SimulationID
			case events.CreditReleased:
				return d.SimulationID
			}
			return ""
		},
		first: func(f *events.Fact) bool { _, held := f.Data.(events.CreditHeld); return held },
		fold:  foldCreditHold,
	}}
}

var creditHoldColumns = columns.Of[CreditHold]()

func foldCreditHold(h *CreditHold, f *events.Fact) {
	switch d := f.Data.(type) {
	case events.CreditHeld:
		*h = CreditHold{
			SimulationID: d.SimulationID, AccountID: f.Stream,
			Amount: d.Amount, Currency: d.Currency, ExpiresAt: d.ExpiresAt,
		}
	case events.CreditHoldChanged:
		h.Amount, h.ExpiresAt = d.Amount, d.ExpiresAt
	case events.CreditReleased:
		h.SimulationID, h.AccountID, h.ReleasedAt = d.SimulationID, f.Stream, timeOf(f)
	}
}
