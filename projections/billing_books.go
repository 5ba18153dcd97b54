package projections

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/events"
)

// LatestLibraryItem reads the newest billing item of an account's library; nil
// if there is none.
func LatestLibraryItem(ctx context.Context, db Reader, account, hash string) (*BillingItem, error) {
	t := &NewUsage().items
	rows, err := db.Query(ctx, fmt.Sprintf(`
		SELECT %s FROM (SELECT id FROM tracesets WHERE account_id = $1 AND library_hash = $2) AS t
		CROSS JOIN LATERAL (SELECT * FROM billing_items WHERE resource_id = t.id AND resource_type = 'traceset' ORDER BY id DESC LIMIT 1) AS i
		ORDER BY i.id DESC LIMIT 1`, t.columns.List("i.")), account, hash)
	found, err := collect(rows, err, t.columns.Scan)
	if err != nil {
		return nil, fmt.Errorf("read a billing item: %w", err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	return &found[0], nil
}

// FirstTraceset reads the oldest live traceset of an account's library; nil if
// there is none.
func FirstTraceset(ctx context.Context, db Reader, account, hash string) (*Traceset, error) {
	t := &NewTracesets().table
	rows, err := db.Query(ctx, fmt.Sprintf(`
		SELECT %s FROM tracesets WHERE account_id = $1 AND library_hash = $2 AND status <> 'deleted'
		ORDER BY created_at, id LIMIT 1`, t.columns.List("")), account, hash)
	found, err := collect(rows, err, t.columns.Scan)
	if err != nil {
		return nil, fmt.Errorf("read the first traceset of library %s: %w", hash, err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	return &found[0], nil
}

// FirstStart returns when the first billing item of all accounts was opened, the
// zero time if there is none.
func FirstStart(ctx context.Context, db Reader) (at time.Time, err error) {
	var first *time.Time
	if err := db.QueryRow(ctx, `SELECT min(started_at) FROM billing_items`).Scan(&first); err != nil {
		return at, fmt.Errorf("find the first item: %w", err)
	}
	if first != nil {
		at = *first
	}
	return at, nil
}

// Metered is an account and rate name, whose items are rated together.
type Metered struct{ AccountID, RateName string }

// MeteredBetween returns every account and rate name with an item that is
// active at some time between two instants.
func MeteredBetween(ctx context.Context, db Reader, from, to time.Time) ([]Metered, error) {
	rows, err := db.Query(ctx, `
		SELECT DISTINCT account_id, rate_name FROM billing_items
		WHERE started_at < $2 AND coalesce(ended_at, 'infinity') >= $1 ORDER BY account_id, rate_name`, from, to)
	found, err := collect(rows, err, pgx.RowToStructByName[Metered])
	if err != nil {
		return nil, fmt.Errorf("find the metered accounts: %w", err)
	}
	return found, nil
}

// ItemsBetween returns the ids, in order, of items that are active at some time
// between two instants.
func ItemsBetween(ctx context.Context, db Reader, m Metered, from, to time.Time) ([]int64, error) {
	rows, err := db.Query(ctx, `
		SELECT id FROM billing_items
		WHERE account_id = $1 AND rate_name = $2 AND started_at < $4 AND coalesce(ended_at, 'infinity') >= $3
		ORDER BY id`, m.AccountID, m.RateName, from, to)
	if err != nil {
		return nil, fmt.Errorf("find items: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("find items: %w", err)
	}
	return ids, nil
}

// UsageCausedBy returns the billing events whose cause is the fact with this id.
func UsageCausedBy(ctx context.Context, db Reader, fact string) ([]BillingEvent, error) {
	t := &NewUsage().events
	rows, err := db.Query(ctx, fmt.Sprintf(`SELECT %s FROM billing_events WHERE cause_id = $1 ORDER BY id`, t.columns.List("")), fact)
	found, err := collect(rows, err, t.columns.Scan)
	if err != nil {
		return nil, fmt.Errorf("read the usage that fact %s caused: %w", fact, err)
	}
	return found, nil
}

// UsageBetween returns the billing events, in the order of the log, of all items
// that are active at some time between two instants.
func UsageBetween(ctx context.Context, db Reader, m Metered, from, to time.Time) ([]events.UsageRecorded, error) {
	return usage(ctx, db, `billing_items i JOIN billing_events e ON e.item_id = i.id
		WHERE i.account_id = $1 AND i.rate_name = $2 AND i.started_at < $4 AND coalesce(i.ended_at, 'infinity') >= $3`,
		m.AccountID, m.RateName, from, to)
}

// UsageOf returns the billing events of items, in the order of the log.
func UsageOf(ctx context.Context, db Reader, items []int64) ([]events.UsageRecorded, error) {
	return usage(ctx, db, `billing_events e WHERE e.item_id = ANY($1)`, items)
}

// usage reads the columns of billing events that rating needs.
func usage(ctx context.Context, db Reader, from string, args ...any) ([]events.UsageRecorded, error) {
	rows, err := db.Query(ctx, `
		SELECT e.id AS billing_event_id, e.item_id AS billing_item_id, e.event_action AS action, e.item_name, e.current_count, e.billable_count,
		       e.workspace_id, e.sandbox_id, e.user_id, e.occurred_at
		FROM `+from+` ORDER BY e.sequence`, args...)
	found, err := collect(rows, err, pgx.RowToStructByNameLax[events.UsageRecorded])
	if err != nil {
		return nil, fmt.Errorf("read the usage: %w", err)
	}
	return found, nil
}

// RatesOf returns the rows of the price list that can apply to an account and
// rate name.
func RatesOf(ctx context.Context, db Reader, m Metered) ([]events.RateSet, error) {
	t := &NewRates().table
	rows, err := db.Query(ctx, fmt.Sprintf(`SELECT %s FROM rates WHERE rate_name = $1 AND account_id IN ('', $2) ORDER BY id`,
		t.columns.List("")), m.RateName, m.AccountID)
	found, err := collect(rows, err, t.columns.Scan)
	if err != nil {
		return nil, fmt.Errorf("read the rates: %w", err)
	}
	return found, nil
}

// BookedCost is a daily cost with the sum of its corrections.
type BookedCost struct {
	DailyCost
	Corrections int64
	Corrected   string // sum of the corrections, decimal
}

// BookedCosts returns the costs of items on a day, YYYY-MM-DD. Corrections appear
// only in the sums.
func BookedCosts(ctx context.Context, db Reader, date string, items []int64) ([]BookedCost, error) {
	t := &NewCosts().table
	// One lookup per item: an index by date would read the rows of all items.
	rows, err := db.Query(ctx, fmt.Sprintf(`
		SELECT %s, x.n, x.total FROM unnest($1::bigint[]) AS i (id), LATERAL (
			SELECT * FROM daily_costs WHERE item_id = i.id AND date = $2 AND correction_of = 0 OFFSET 0) AS d, LATERAL (
			SELECT count(*) AS n, coalesce(trim_scale(sum(cost::numeric)), 0)::text AS total
			FROM daily_costs WHERE correction_of = d.id AND correction_of <> 0) AS x
		ORDER BY d.item_id, d.rate_id`, t.columns.List("d.")), items, date)
	found, err := collect(rows, err, func(row pgx.CollectableRow) (b BookedCost, err error) {
		err = row.Scan(append(t.columns.Pointers(&b.DailyCost), &b.Corrections, &b.Corrected)...)
		return b, err
	})
	if err != nil {
		return nil, fmt.Errorf("read the costs: %w", err)
	}
	return found, nil
}

// LastHold reads the last hold of a simulation, open or released; nil if it never
// had one.
func LastHold(ctx context.Context, db Reader, simulation string) (*CreditHold, error) {
	holds, err := findHolds(ctx, db, `simulation_id = $1`, simulation)
	if err != nil || len(holds) == 0 {
		return nil, err
	}
	return &holds[0], nil
}

// HoldsOver returns at most limit open holds to release: those whose expiry is at
// or before now or, if their simulation was never requested, at or before
// unrequested.
func HoldsOver(ctx context.Context, db Reader, now, unrequested time.Time, limit int) ([]CreditHold, error) {
	return findHolds(ctx, db, `released_at IS NULL AND (expires_at <= $1 OR expires_at <= $2
		AND NOT EXISTS (SELECT FROM simulations s WHERE s.id = credit_holds.simulation_id))
		ORDER BY expires_at LIMIT $3`, now, unrequested, limit)
}

func findHolds(ctx context.Context, db Reader, where string, args ...any) ([]CreditHold, error) {
	t := &NewHolds().table
	rows, err := db.Query(ctx, fmt.Sprintf(`SELECT %s FROM credit_holds WHERE %s`, t.columns.List(""), where), args...)
	found, err := collect(rows, err, t.columns.Scan)
	if err != nil {
		return nil, fmt.Errorf("read the holds: %w", err)
	}
	return found, nil
}
