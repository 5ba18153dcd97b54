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

// durable makes the commit of its statement wait for the disk: an id may soon be in
// the log, so PostgreSQL must not give it out again after a crash. Other commits do
// not wait, because what they write is rebuilt from the log. pg_current_xact_id gives
// the transaction an id, so that the commit flushes the WAL even if another
// transaction wrote the sequence's records.
const durable = `WITH durable AS MATERIALIZED (SELECT set_config('synchronous_commit', 'on', true), pg_current_xact_id()) `

// Next takes n ids.
func (c Counter) Next(ctx context.Context, db projections.Reader, n int) ([]int64, error) {
	rows, err := db.Query(ctx, durable+`SELECT nextval($1::text::regclass) FROM durable, generate_series(1, $2)`, string(c), n)
	if err != nil {
		return nil, fmt.Errorf("take ids of %s: %w", c, err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("take ids of %s: %w", c, err)
	}
	return ids, nil
}

// skipped is how many ids SkipCounters leaves out: more than can be taken at a
// time for events that are not in the log yet.
const skipped = 1_000_000

// SkipCounters leaves out the next ids of each counter that is in use. Call it after
// a crash of PostgreSQL that may have set the counters back, once the read model has
// caught up with the log and before an id is taken. Events that are still to be
// appended may have the ids that are left out.
func SkipCounters(ctx context.Context, db projections.Reader) error {
	return setCounters(ctx, db, fmt.Sprintf(`
		CASE WHEN held.id > 0 THEN setval('%%[1]s', greatest(held.id, c.last_value) + %d) ELSE c.last_value END`, skipped))
}

// RaiseCounters sets each counter to at least the largest id in the read model,
// so that no id is taken twice after the database was lost. Call it at start,
// when the read model has caught up with the log and before Metering reacts.
func RaiseCounters(ctx context.Context, db projections.Reader) error {
	return setCounters(ctx, db, `CASE WHEN held.id > c.last_value THEN setval('%[1]s', held.id) ELSE c.last_value END`)
}

// largestCost reads the last cost of each day. Costs have no index on their ids alone, and a
// late cost of an earlier day may have the largest.
const largestCost = `
	WITH RECURSIVE days AS (
		(SELECT date, id FROM daily_costs ORDER BY date DESC, id DESC LIMIT 1)
		UNION ALL
		SELECT earlier.* FROM days CROSS JOIN LATERAL (SELECT date, id FROM daily_costs WHERE date < days.date ORDER BY date DESC, id DESC LIMIT 1) AS earlier
	) SELECT max(id) FROM days`

// setCounters evaluates the expression for each counter c, where held.id is the
// largest id in the read model, 0 for none.
func setCounters(ctx context.Context, db projections.Reader, expression string) error {
	for counter, largest := range map[Counter]string{
		BillingItemIDs: "SELECT max(id) FROM billing_items", BillingEventIDs: "SELECT max(id) FROM billing_events", DailyCostIDs: largestCost,
	} {
		var at int64
		err := db.QueryRow(ctx, fmt.Sprintf(durable+`
			SELECT `+expression+`
			FROM durable, %[1]s AS c, (SELECT coalesce((%[2]s), 0) AS id) AS held`,
			counter, largest)).Scan(&at)
		if err != nil {
			return fmt.Errorf("raise %s: %w", counter, err)
		}
	}
	return nil
}
