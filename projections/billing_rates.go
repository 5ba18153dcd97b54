package projections

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"netsim/events"
)

// Rates is the projection of the price list. Its rows are the events: a later
// one of the same rate id takes the place of the earlier.
type Rates struct{ rows table[events.RateSet] }

// NewRates returns the projection.
func NewRates() *Rates {
	return &Rates{table[events.RateSet]{
		name: "rates", keys: 1, columns: rateColumns,
		keyOf: func(f *events.Fact) string {
			if d, ok := f.Data.(events.RateSet); ok {
				return strconv.FormatInt(d.RateID, 10)
			}
			return ""
		},
		first: func(*events.Fact) bool { return true }, // a row is all of its last event
		key:   func(r *events.RateSet) string { return strconv.FormatInt(r.RateID, 10) },
		fold: func(r *events.RateSet, f *events.Fact) {
			if d, ok := f.Data.(events.RateSet); ok {
				*r = d
			}
		},
	}}
}

var rateColumns = []column[events.RateSet]{
	{"id", "bigint", func(r *events.RateSet) any { return &r.RateID }},
	{"account_id", "text", func(r *events.RateSet) any { return &r.AccountID }},
	{"platform", "text", func(r *events.RateSet) any { return &r.Platform }},
	{"rate_name", "text", func(r *events.RateSet) any { return &r.RateName }},
	{"rate_type", "text", func(r *events.RateSet) any { return &r.RateType }},
	{"rate_type_raw", "text", func(r *events.RateSet) any { return &r.RateTypeRaw }},
	{"amount", "text", func(r *events.RateSet) any { return &r.Amount }},
	{"currency", "text", func(r *events.RateSet) any { return &r.Currency }},
	{"period", "text", func(r *events.RateSet) any { return &r.Period }},
	{"minimum_period", "text", func(r *events.RateSet) any { return &r.MinimumPeriod }},
	{"tier_start", "bigint", func(r *events.RateSet) any { return &r.TierStart }},
	{"tier_end", "bigint", func(r *events.RateSet) any { return &r.TierEnd }},
	{"package_size", "bigint", func(r *events.RateSet) any { return &r.PackageSize }},
	{"unit_name", "text", func(r *events.RateSet) any { return &r.UnitName }},
	{"unit_size", "text", func(r *events.RateSet) any { return &r.UnitSize }},
	{"note", "text", func(r *events.RateSet) any { return &r.Note }},
	{"start_date", "text", func(r *events.RateSet) any { return &r.StartDate }},
	{"end_date", "text", func(r *events.RateSet) any { return &r.EndDate }},
}

// Schema implements Projection.
func (p *Rates) Schema() string { return schema("billing_rates.sql") }

// Load implements Projection.
func (p *Rates) Load(reads *pgx.Batch, facts []events.Fact) { p.rows.load(reads, facts) }

// Apply implements Projection.
func (p *Rates) Apply(writes *pgx.Batch, facts []events.Fact) error {
	return p.rows.apply(writes, facts, nil)
}

// Forget implements Projection.
func (p *Rates) Forget() { p.rows.forget() }

// RateQuery asks for rates by name, tier and start.
type RateQuery struct {
	AccountID string // its own rates and the platform's; "" for those of every account
	Date      string // only those valid on it, YYYY-MM-DD; "" for any
	Page      Page
}

// NamedRate is a rate with its account's name.
type NamedRate struct {
	events.RateSet
	AccountName *string
}

// ListRates returns one page and the position of the next one.
func ListRates(ctx context.Context, db Reader, q RateQuery) ([]NamedRate, []string, error) {
	t := &NewRates().rows
	var c conditions
	if q.AccountID != "" {
		c.add("account_id IN ('', ?)", q.AccountID)
	}
	if q.Date != "" {
		c.add("start_date <= ? AND (end_date = '' OR end_date > ?)", q.Date, q.Date)
	}
	keys := []sortKey{
		{`rate_name`, "text", false}, {"tier_start", "bigint", false},
		{`start_date`, "text", false}, {"id", "bigint", false},
	}
	if err := q.Page.fits(keys); err != nil {
		return nil, nil, err
	}
	c.after(keys, q.Page.After)
	rows, err := db.Query(ctx, fmt.Sprintf(`
		SELECT r.*, a.name FROM (SELECT %s FROM rates WHERE %s ORDER BY %s LIMIT %s) AS r
		LEFT JOIN directory a ON a.kind = 'account' AND a.id = r.account_id
		ORDER BY %s`, t.list(""), c.where(), orderBy(keys), c.arg(q.Page.Limit+1), orderBy(prefixed("r.", keys))), c.args...)
	found, err := collect(rows, err, func(r *NamedRate) []any { return append(t.pointers(&r.RateSet), &r.AccountName) })
	if err != nil {
		return nil, nil, fmt.Errorf("list rates: %w", err)
	}
	found, next := cut(found, q.Page.Limit, func(r *NamedRate) []any {
		return []any{r.RateName, r.TierStart, r.StartDate, r.RateID}
	})
	return found, next, nil
}
