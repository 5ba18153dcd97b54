package billing

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"netsim/projections"
)

// Counter is a sequence of billing's integer ids. Counters are not part of the
// read model: an id is taken before its event is written, so an event that is
// never written leaves a gap.
type Counter string

// The counters.
const (
	BillingItemIDs  Counter = "billing_items_id"
	BillingEventIDs Counter = "billing_events_id"
	DailyCostIDs    Counter = "daily_costs_id"
)

// Next takes n ids.
func (c Counter) Next(ctx context.Context, db projections.Reader, n int) ([]int64, error) {
	rows, err := db.Query(ctx, `SELECT nextval($1::text::regclass) FROM generate_series(1, $2)`, string(c), n)
	if err != nil {
		return nil, fmt.Errorf("take ids of %s: %w", c, err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("take ids of %s: %w", c, err)
	}
	return ids, nil
}

// RaiseCounters sets each counter to at least the largest id in the read model,
// so that no id is taken twice after the database was lost. Call it at start,
// when the read model has caught up with the log and before Metering reacts.
func RaiseCounters(ctx context.Context, db projections.Reader) error {
	for counter, table := range map[Counter]string{
		BillingItemIDs: "billing_items", BillingEventIDs: "billing_events", DailyCostIDs: "daily_costs",
	} {
		var at int64
		err := db.QueryRow(ctx, fmt.Sprintf(`
			SELECT CASE WHEN held.id > c.last_value THEN setval('%[1]s', held.id) ELSE c.last_value END
			FROM %[1]s AS c, (SELECT coalesce(max(id), 0) AS id FROM %[2]s) AS held`,
			counter, table)).Scan(&at)
		if err != nil {
			return fmt.Errorf("raise %s: %w", counter, err)
		}
	}
	return nil
}
