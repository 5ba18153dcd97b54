package projections

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// CostLine is a daily cost joined with its item, rate, account and workspace.
// Unknown texts are "".
type CostLine struct {
	DailyCost
	AccountName, WorkspaceName string
	EventType                  string // of the item: cluster, storage or workspace
	ResourceType, ResourceID   string
	RateType, MinimumPeriod    string
	UnitName, UnitSize         string
	LastEventHash              string // hex, of the newest billing event in the cost
	CorrectedDate              string // YYYY-MM-DD, the day whose cost a correction corrects
}

// CostSnapshot calls do with one snapshot of the database, in which all pages of
// ListCostLines can be read.
func CostSnapshot(ctx context.Context, db interface {
	BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error)
}, do func(Reader) error) error {
	return pgx.BeginTxFunc(ctx, db, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		// A page has a few thousand rows, so index lookups are the best plan for its joins.
		if _, err := tx.Exec(ctx, "SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off"); err != nil {
			return fmt.Errorf("open a snapshot: %w", err)
		}
		return do(tx)
	})
}

// MoreCosts reports whether a query, of all pages and by days only, has more daily costs
// than most.
func MoreCosts(ctx context.Context, db Reader, q DailyCostQuery, most int) (more bool, err error) {
	c := q.conditions()
	c.add("date BETWEEN ? AND ?", q.StartDate, q.EndDate)
	err = db.QueryRow(ctx, "SELECT count(*) > "+c.arg(most)+" FROM (SELECT FROM daily_costs WHERE "+c.where()+" LIMIT "+c.arg(most+1)+") AS r", c.args...).Scan(&more)
	if err != nil {
		return false, fmt.Errorf("count the daily costs: %w", err)
	}
	return more, nil
}

// ListCostLines returns one page of daily costs by date and id, and the
// position of the next one. To read all pages, a caller needs one CostSnapshot,
// because a newer version can replace a row between two pages.
func ListCostLines(ctx context.Context, db Reader, q DailyCostQuery) ([]CostLine, []string, error) {
	t := &NewCosts().table
	c := q.conditions()
	c.add("date BETWEEN ? AND ?", q.StartDate, q.EndDate)
	keys := []sortKey{{"date", "text", false}, {"id", "bigint", false}}
	if err := q.Page.fits(keys); err != nil {
		return nil, nil, err
	}
	c.after(keys, q.Page.After)
	rows, err := db.Query(ctx, fmt.Sprintf(`
		SELECT r.*, coalesce(a.name, ''), coalesce(w.name, ''),
		       coalesce(i.event_type, ''), coalesce(i.resource_type, ''), coalesce(i.resource_id, ''),
		       coalesce(p.rate_type, ''), coalesce(p.minimum_period, ''), coalesce(p.unit_name, ''), coalesce(p.unit_size, ''),
		       coalesce(e.hash, ''), coalesce(o.date, '')
		FROM (SELECT %s FROM %s WHERE %s ORDER BY %s LIMIT %s) AS r
		LEFT JOIN directory a ON a.kind = 'account' AND a.id = r.account_id
		LEFT JOIN workspaces w ON w.id = r.workspace_id
		LEFT JOIN billing_items i ON i.id = r.item_id
		LEFT JOIN rates p ON p.id = r.rate_id
		LEFT JOIN billing_events e ON e.id = r.last_event_id
		LEFT JOIN daily_costs o ON o.item_id = CASE WHEN r.correction_of <> 0 THEN r.item_id END AND o.id = r.correction_of
		ORDER BY %s`,
		t.columns.List(""), t.name, c.where(), orderBy(keys), c.arg(q.Page.Limit+1), orderBy(prefixed("r.", keys))), c.args...)
	found, err := collect(rows, err, func(row pgx.CollectableRow) (l CostLine, err error) {
		err = row.Scan(append(t.columns.Pointers(&l.DailyCost), &l.AccountName, &l.WorkspaceName, &l.EventType, &l.ResourceType, &l.ResourceID,
			&l.RateType, &l.MinimumPeriod, &l.UnitName, &l.UnitSize, &l.LastEventHash, &l.CorrectedDate)...)
		return l, err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("list the lines of %s: %w", t.name, err)
	}
	found, next := cut(found, q.Page.Limit, func(l *CostLine) []any { return []any{l.Date, l.DailyCostID} })
	return found, next, nil
}
