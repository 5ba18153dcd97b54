package projections

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/events"
)

// DailyCost is a row of the daily costs.
type DailyCost struct {
	events.DailyCostRated
	Slot         string // what the row is about: item/date/rate, or correction/id
	AccountID    string
	SegmentsJSON string
	RatedAt      time.Time
}

// Costs is the projection of daily costs, of their sums, and of the balances
// that they and the credits make.
type Costs struct{ rows table[DailyCost] }

// NewCosts returns the projection.
func NewCosts() *Costs {
	return &Costs{table[DailyCost]{
		name: "daily_costs", keys: 1, columns: dailyCostColumns,
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
		key:  func(c *DailyCost) string { return c.Slot },
		fold: foldDailyCost,
	}}
}

// costSlot names what a row is about. A new version takes the place of the one
// before it; a correction stands beside what it corrects.
func costSlot(d events.DailyCostRated) string {
	if d.CorrectionOf != 0 {
		return fmt.Sprintf("correction/%d", d.DailyCostID)
	}
	return fmt.Sprintf("%d/%s/%d", d.BillingItemID, d.Date, d.RateID)
}

var dailyCostColumns = []column[DailyCost]{
	{"slot", "text", func(c *DailyCost) any { return &c.Slot }},
	{"id", "bigint", func(c *DailyCost) any { return &c.DailyCostID }},
	{"account_id", "text", func(c *DailyCost) any { return &c.AccountID }},
	{"item_id", "bigint", func(c *DailyCost) any { return &c.BillingItemID }},
	{"item_name", "text", func(c *DailyCost) any { return &c.ItemName }},
	{"date", "text", func(c *DailyCost) any { return &c.Date }},
	{"rate_id", "bigint", func(c *DailyCost) any { return &c.RateID }},
	{"rate_name", "text", func(c *DailyCost) any { return &c.RateName }},
	{"rate_amount", "text", func(c *DailyCost) any { return &c.RateAmount }},
	{"cost", "text", func(c *DailyCost) any { return &c.Cost }},
	{"currency", "text", func(c *DailyCost) any { return &c.Currency }},
	{"quantity", "bigint", func(c *DailyCost) any { return &c.Quantity }},
	{"workspace_id", "text", func(c *DailyCost) any { return &c.WorkspaceID }},
	{"sandbox_id", "text", func(c *DailyCost) any { return &c.SandboxID }},
	{"user_id", "text", func(c *DailyCost) any { return &c.UserID }},
	{"segments", "text", func(c *DailyCost) any { return &c.SegmentsJSON }},
	{"day_price", "text", func(c *DailyCost) any { return &c.DayPrice }},
	{"unit_days", "text", func(c *DailyCost) any { return &c.UnitDays }},
	{"period", "text", func(c *DailyCost) any { return &c.Period }},
	{"tier_start", "bigint", func(c *DailyCost) any { return &c.TierStart }},
	{"tier_end", "bigint", func(c *DailyCost) any { return &c.TierEnd }},
	{"engine_version", "text", func(c *DailyCost) any { return &c.EngineVersion }},
	{"first_event_id", "bigint", func(c *DailyCost) any { return &c.FirstEventID }},
	{"last_event_id", "bigint", func(c *DailyCost) any { return &c.LastEventID }},
	{"version", "bigint", func(c *DailyCost) any { return &c.Version }},
	{"supersedes", "bigint", func(c *DailyCost) any { return &c.Supersedes }},
	{"correction_of", "bigint", func(c *DailyCost) any { return &c.CorrectionOf }},
	{"rated_at", "timestamptz", func(c *DailyCost) any { return &c.RatedAt }},
}

func foldDailyCost(c *DailyCost, f *events.Fact) {
	d, ok := f.Data.(events.DailyCostRated)
	if !ok {
		return
	}
	segments, _ := json.Marshal(d.Segments) //nolint:errchkjson // strings, numbers and times always encode
	rated := f.Time
	if c.RatedAt.After(rated) {
		rated = c.RatedAt // clocks differ; the batches must not show
	}
	*c = DailyCost{DailyCostRated: d, Slot: costSlot(d), AccountID: f.Stream, SegmentsJSON: string(segments), RatedAt: rated}
}

// Schema implements Projection.
func (p *Costs) Schema() string { return schema("billing_costs.sql") }

// Load implements Projection.
func (p *Costs) Load(reads *pgx.Batch, facts []events.Fact) { p.rows.load(reads, facts) }

// Apply implements Projection.
func (p *Costs) Apply(writes *pgx.Batch, facts []events.Fact) error {
	var moves []costMove
	err := p.rows.apply(writes, facts, func(before, after *DailyCost) {
		m := costMove{row: after, before: "0", after: after.Cost, at: after.RatedAt}
		if before != nil {
			m.before = before.Cost
		}
		moves = append(moves, m)
	})
	queueTotals(writes, moves)
	queueBalances(writes, moves, facts)
	return err
}

// costMove is how a row's cost changes in a batch; both are decimals.
type costMove struct {
	row           *DailyCost
	before, after string
	at            time.Time
}

// queueTotals queues the change of the sums. PostgreSQL adds, exactly, and
// trims the scale, so that equal sums are equal bytes.
func queueTotals(writes *pgx.Batch, moves []costMove) {
	if len(moves) == 0 {
		return
	}
	writes.Queue(`
		INSERT INTO cost_totals AS t (account_id, period, currency, rate_name, workspace_id, total)
		SELECT account_id, period, currency, rate_name, workspace_id, trim_scale(sum(after::numeric - before::numeric))
		FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
			AS m (account_id, date, currency, rate_name, workspace_id, before, after),
			LATERAL (VALUES (date), (left(date, 9)), (left(date, 7))) AS of (period)
		GROUP BY account_id, period, currency, rate_name, workspace_id
		ON CONFLICT (account_id, period, currency, rate_name, workspace_id)
		DO UPDATE SET total = trim_scale(t.total + excluded.total)`,
		each(moves, func(m costMove) string { return m.row.AccountID }),
		each(moves, func(m costMove) string { return m.row.Date }),
		each(moves, func(m costMove) string { return m.row.Currency }),
		each(moves, func(m costMove) string { return m.row.RateName }),
		each(moves, func(m costMove) string { return m.row.WorkspaceID }),
		each(moves, func(m costMove) string { return m.before }),
		each(moves, func(m costMove) string { return m.after }))
}

// queueBalances queues the change of the balances, by costs and by credits.
func queueBalances(writes *pgx.Batch, moves []costMove, facts []events.Fact) {
	type entry struct {
		account, currency, credit, before, after string
		at                                       time.Time
	}
	var entries []entry
	for _, m := range moves {
		entries = append(entries, entry{m.row.AccountID, m.row.Currency, "0", m.before, m.after, m.at})
	}
	for i := range facts {
		if d, ok := facts[i].Data.(events.CreditGranted); ok {
			entries = append(entries, entry{facts[i].Stream, d.Currency, d.Amount, "0", "0", facts[i].Time})
		}
	}
	if len(entries) == 0 {
		return
	}
	writes.Queue(`
		INSERT INTO balances AS t (account_id, currency, credits, debits, updated_at)
		SELECT account_id, currency, trim_scale(sum(credit::numeric)),
		       trim_scale(sum(after::numeric - before::numeric)), max(at)
		FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])
			AS e (account_id, currency, credit, before, after, at)
		GROUP BY account_id, currency
		ON CONFLICT (account_id, currency) DO UPDATE
		SET credits = trim_scale(t.credits + excluded.credits), debits = trim_scale(t.debits + excluded.debits),
		    updated_at = greatest(t.updated_at, excluded.updated_at)`,
		each(entries, func(e entry) string { return e.account }), each(entries, func(e entry) string { return e.currency }),
		each(entries, func(e entry) string { return e.credit }), each(entries, func(e entry) string { return e.before }),
		each(entries, func(e entry) string { return e.after }), each(entries, func(e entry) time.Time { return e.at }))
}

// Forget implements Projection.
func (p *Costs) Forget() { p.rows.forget() }
