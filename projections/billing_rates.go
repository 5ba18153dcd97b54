package projections

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/infra/columns"
)

// Rates is the projection of the price list. A row is the last event of its rate
// id.
type Rates struct{ table[events.RateSet] }

// NewRates returns the projection.
func NewRates() *Rates {
	return &Rates{table[events.RateSet]{
		name: "rates", file: "billing_rates.sql", columns: rateColumns,
		keyOf: func(f *events.Fact) string {
			if d, ok := f.Data.(events.RateSet); ok {
				return strconv.FormatInt(d.RateID, 10)
			}
			return ""
		},
		first: func(*events.Fact) bool { return true }, // each event replaces the whole row
		fold: func(r *events.RateSet, f *events.Fact) {
			if d, ok := f.Data.(events.RateSet); ok {
				*r = d
			}
		},
	}}
}

var rateColumns = columns.Of[events.RateSet]("RateID", "id")

// RateQuery asks for rates by name, tier and start.
type RateQuery struct {
	AccountID string // the account's own rates and the platform's; "" for those of every account
	Date      string // only the rates valid on this day, YYYY-MM-DD; "" for any
	Page      Page
}

// NamedRate is a rate with its account's name.
type NamedRate struct {
	events.RateSet
	AccountName *string
}

// ListRates returns one page and the position of the next one.
func ListRates(ctx context.Context, db Reader, q RateQuery) ([]NamedRate, []string, error) {
	t := &NewRates().table
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
		ORDER BY %s`, t.columns.List(""), c.where(), orderBy(keys), c.arg(q.Page.Limit+1), orderBy(prefixed("r.", keys))), c.args...)
	found, err := collect(rows, err, func(row pgx.CollectableRow) (r NamedRate, err error) {
		err = row.Scan(append(t.columns.Pointers(&r.RateSet), &r.AccountName)...)
		return r, err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("list rates: %w", err)
	}
	found, next := cut(found, q.Page.Limit, func(r *NamedRate) []any {
		return []any{r.RateName, r.TierStart, r.StartDate, r.RateID}
	})
	return found, next, nil
}
