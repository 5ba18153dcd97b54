package projections

import (
	"encoding/json"
	"fmt"
	"time"

	"netsim/events"
	"netsim/infra/columns"
)

// DailyCost is a row of the daily costs.
type DailyCost struct {
	Slot string // primary key: item/date/rate, or correction/id
	events.DailyCostRated
	AccountID    string
	SegmentsJSON string `db:"segments"`
	RatedAt      time.Time
}

// Costs is the projection of daily costs, their sums, and the balances of accounts.
type Costs struct {
	table[DailyCost]
}

// NewCosts returns the projection.
func NewCosts() *Costs {
	return &Costs{table[DailyCost]{
		name: "daily_costs", file: "billing_costs.sql", columns: dailyCostColumns,
		keyOf: func(f *events.Fact) string {
			if d, ok := f.Data.(events.DailyCostRated); ok {
				return costSlot(d)
			}
			return ""
		},
		first: func(f *events.Fact) bool {
			d, ok := f.Data.(events.DailyCostRated)
			return ok && d.Version <= 1
		},
		fold: foldDailyCost,
	}}
}

// costSlot returns the primary key of a cost's row. A new version of a cost has
// the same key and replaces the row; a correction has a row of its own.
func costSlot(d events.DailyCostRated) string {
	if d.CorrectionOf != 0 {
		return fmt.Sprintf("correction/%d", d.DailyCostID)
	}
	return fmt.Sprintf("%d/%s/%d", d.BillingItemID, d.Date, d.RateID)
}

var dailyCostColumns = columns.Of[DailyCost](
	"DailyCostID", "id", "BillingItemID", "item_id", "PreviousCost", "-", "Segments", "-",
)

func foldDailyCost(c *DailyCost, f *events.Fact) {
	d, ok := f.Data.(events.DailyCostRated)
	if !ok {
		return
	}
	segments, _ := json.Marshal(d.Segments) //nolint:errchkjson // strings, numbers and times always encode
	rated := f.Time
	if c.RatedAt.After(rated) {
		rated = c.RatedAt // clocks differ; with the latest time, balances.updated_at does not depend on the batches
	}
	*c = DailyCost{DailyCostRated: d, Slot: costSlot(d), AccountID: f.Stream, SegmentsJSON: string(segments), RatedAt: rated}
}

// Apply implements Projection.
func (p *Costs) Apply(writes *columns.Writes, facts []events.Fact) error {
	var moves []*costMove
	p.apply(writes, facts, func(before, after *DailyCost) {
		m := costMove{after.AccountID, after.Date, after.Currency, after.RateName, after.WorkspaceID, "0", after.Cost, after.RatedAt}
		if before != nil {
			m.Before = before.Cost
		}
		moves = append(moves, &m)
	})
	queueTotals(writes, moves)
	queueBalances(writes, moves, facts)
	return nil
}

// costMove is the change of a row's cost in a batch.
type costMove struct {
	AccountID, Date, Currency, RateName, WorkspaceID string

	Before, After string // decimals
	At            time.Time
}

var costMoveColumns = columns.Of[costMove]()

// queueTotals queues the change of the sums. PostgreSQL adds exactly. It trims
// the scale, so that equal sums have equal bytes.
func queueTotals(writes *columns.Writes, moves []*costMove) {
	if len(moves) == 0 {
		return
	}
	writes.Queue(`
		INSERT INTO cost_totals AS t (account_id, period, currency, rate_name, workspace_id, total)
		SELECT account_id, period, currency, rate_name, workspace_id, trim_scale(sum(after::numeric - before::numeric))
		FROM `+costMoveColumns.From("m")+`, LATERAL (VALUES (date), (left(date, 9)), (left(date, 7))) AS of (period)
		GROUP BY account_id, period, currency, rate_name, workspace_id
		ON CONFLICT (account_id, period, currency, rate_name, workspace_id)
		DO UPDATE SET total = trim_scale(t.total + excluded.total)`,
		costMoveColumns.Arrays(moves)...)
}

// queueBalances queues the change of the balances by costs and credits.
func queueBalances(writes *columns.Writes, moves []*costMove, facts []events.Fact) {
	var entries []*balanceMove
	for _, m := range moves {
		entries = append(entries, &balanceMove{m.AccountID, m.Currency, "0", m.Before, m.After, m.At})
	}
	for i := range facts {
		if d, ok := facts[i].Data.(events.CreditGranted); ok {
			entries = append(entries, &balanceMove{facts[i].Stream, d.Currency, d.Amount, "0", "0", facts[i].Time})
		}
	}
	if len(entries) == 0 {
		return
	}
	writes.Queue(`
		INSERT INTO balances AS t (account_id, currency, credits, debits, updated_at)
		SELECT account_id, currency, trim_scale(sum(credit::numeric)),
		       trim_scale(sum(after::numeric - before::numeric)), max(at)
		FROM `+balanceMoveColumns.From("e")+`
		GROUP BY account_id, currency
		ON CONFLICT (account_id, currency) DO UPDATE
		SET credits = trim_scale(t.credits + excluded.credits), debits = trim_scale(t.debits + excluded.debits),
		    updated_at = greatest(t.updated_at, excluded.updated_at)`,
		balanceMoveColumns.Arrays(entries)...)
}

// balanceMove is the change of a balance by a grant or a cost. The amounts are
// decimals.
type balanceMove struct {
	AccountID, Currency, Credit, Before, After string

	At time.Time
}

var balanceMoveColumns = columns.Of[balanceMove]()
