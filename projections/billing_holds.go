package projections

import (
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/events"
)

// CreditHold is a row of the holds.
type CreditHold struct {
	SimulationID string
	AccountID    string
	Amount       string // decimal
	Currency     string
	ExpiresAt    time.Time
	ReleasedAt   *time.Time // nil while open
}

// Holds is the projection of the credit that is set aside.
type Holds struct{ rows table[CreditHold] }

// NewHolds returns the projection.
func NewHolds() *Holds {
	return &Holds{table[CreditHold]{
		name: "credit_holds", keys: 1, columns: creditHoldColumns,
		keyOf: func(f *events.Fact) string {
			switch d := f.Data.(type) {
			case events.CreditHeld:
				return d.SimulationID
			case events.CreditReleased:
				return d.SimulationID
			}
			return ""
		},
		first: func(f *events.Fact) bool { _, held := f.Data.(events.CreditHeld); return held },
		key:   func(h *CreditHold) string { return h.SimulationID },
		fold:  foldCreditHold,
	}}
}

var creditHoldColumns = []column[CreditHold]{
	{"simulation_id", "text", func(h *CreditHold) any { return &h.SimulationID }},
	{"account_id", "text", func(h *CreditHold) any { return &h.AccountID }},
	{"amount", "text", func(h *CreditHold) any { return &h.Amount }},
	{"currency", "text", func(h *CreditHold) any { return &h.Currency }},
	{"expires_at", "timestamptz", func(h *CreditHold) any { return &h.ExpiresAt }},
	{"released_at", "timestamptz", func(h *CreditHold) any { return &h.ReleasedAt }},
}

func foldCreditHold(h *CreditHold, f *events.Fact) {
	switch d := f.Data.(type) {
	case events.CreditHeld:
		*h = CreditHold{
			SimulationID: d.SimulationID, AccountID: f.Stream,
			Amount: d.Amount, Currency: d.Currency, ExpiresAt: d.ExpiresAt,
		}
	case events.CreditReleased:
		h.SimulationID, h.AccountID, h.ReleasedAt = d.SimulationID, f.Stream, &f.Time
	}
}

// Schema implements Projection.
func (p *Holds) Schema() string { return schema("billing_holds.sql") }

// Load implements Projection.
func (p *Holds) Load(reads *pgx.Batch, facts []events.Fact) { p.rows.load(reads, facts) }

// Apply implements Projection.
func (p *Holds) Apply(writes *pgx.Batch, facts []events.Fact) error {
	return p.rows.apply(writes, facts, nil)
}

// Forget implements Projection.
func (p *Holds) Forget() { p.rows.forget() }
