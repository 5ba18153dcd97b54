package billing

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/projections"
)

// Counter is one of the counters that billing's integer ids come from. They
// stand outside the read model: an id is taken before its event is written, and
// one whose event is never written leaves a gap.
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

// RaiseCounters puts the counters above every id that the read model holds, so
// that a lost database repeats none. Call it at a start, when the read model
// has caught up with the log and before billing reacts.
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

// AccruedThrough returns the last day whose costs a night has booked, the zero
// time when none is known. It stands outside the read model, like the counters;
// without it nights are repeated, which changes nothing.
func AccruedThrough(ctx context.Context, db projections.Reader) (day time.Time, err error) {
	var through *time.Time
	if err := db.QueryRow(ctx, `SELECT max(through) FROM accrual`).Scan(&through); err != nil {
		return day, fmt.Errorf("find the last night: %w", err)
	}
	if through != nil {
		day = through.UTC()
	}
	return day, nil
}

// NoteAccrued writes down that the costs of the day, and of all before it, are
// booked.
func NoteAccrued(ctx context.Context, db projections.Reader, day time.Time) error {
	var through time.Time
	err := db.QueryRow(ctx, `
		INSERT INTO accrual AS a (through) VALUES ($1)
		ON CONFLICT (one) DO UPDATE SET through = greatest(a.through, excluded.through) RETURNING through`, day).Scan(&through)
	if err != nil {
		return fmt.Errorf("note the night of %s: %w", day.Format(time.DateOnly), err)
	}
	return nil
}
