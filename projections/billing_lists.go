package projections

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/fault"
)

// Names are the names of the ids in a billing row. A name is nil if the row has
// no such id, or if the directory has no name for it.
type Names struct{ Account, Workspace, User, Sandbox *string }

// Named is a row with its names.
type Named[R any] struct {
	Row   R
	Names Names
}

// BillingFilter restricts billing lists. Names match exactly; an unknown name
// matches nothing.
type BillingFilter struct {
	AccountID     string // "" for the whole platform
	WorkspaceName string
	UserName      string
	EventType     string
	Page          Page
}

func (f BillingFilter) conditions() conditions {
	var c conditions
	if f.AccountID != "" {
		c.add("account_id = ?", f.AccountID)
	}
	if f.WorkspaceName != "" {
		// The built-in workspaces have no account.
		c.add(`workspace_id = ANY(ARRAY(SELECT id FROM workspaces
			WHERE name = ? AND (? = '' OR account_id IN ('', ?))))`, f.WorkspaceName, f.AccountID, f.AccountID)
	}
	if f.UserName != "" {
		// The first condition makes the search for an unknown name return at once.
		c.add("EXISTS (SELECT FROM directory WHERE kind = 'user' AND name = ?)", f.UserName)
		c.add("user_id = ANY("+usersNamed("?")+")", f.UserName)
	}
	if f.EventType != "" {
		c.add("event_type = ?", f.EventType)
	}
	return c
}

func usersNamed(name string) string {
	return "ARRAY(SELECT id FROM directory WHERE kind = 'user' AND name = " + name + ")"
}

// BillingItemQuery asks for billing items, newest first.
type BillingItemQuery struct {
	BillingFilter
	Status string // active, closed or ""
}

// ListBillingItems returns one page and the position of the next one.
func ListBillingItems(ctx context.Context, db Reader, q BillingItemQuery) ([]Named[BillingItem], []string, error) {
	c := q.conditions()
	switch q.Status {
	case "active":
		c.add("ended_at IS NULL")
	case "closed":
		c.add("ended_at IS NOT NULL")
	}
	keys := []sortKey{{"started_at", "timestamptz", true}, {"id", "bigint", true}}
	return listNamed(ctx, db, &NewUsage().items, c, keys, q.Page,
		func(i *BillingItem) []any { return []any{i.StartedAt, i.ID} })
}

// FindBillingItem reads a billing item of the account, or of any account for "".
// It returns NotFound if there is no such item.
func FindBillingItem(ctx context.Context, db Reader, account string, id int64) (Named[BillingItem], error) {
	c := BillingFilter{AccountID: account}.conditions()
	c.add("id = ?", id)
	found, _, err := listNamed(ctx, db, &NewUsage().items, c, []sortKey{{"id", "bigint", true}}, Page{Limit: 1}, nil)
	if err == nil && len(found) == 0 {
		return Named[BillingItem]{}, fault.Missing("billing item", id)
	}
	if err != nil {
		return Named[BillingItem]{}, err
	}
	return found[0], nil
}

// BillingEventQuery asks for billing events, newest first.
type BillingEventQuery struct {
	BillingFilter
	From, To time.Time // when the event occurred: From inclusive, To exclusive; zero is open
}

// ListBillingEvents returns one page and the position of the next one.
func ListBillingEvents(ctx context.Context, db Reader, q BillingEventQuery) ([]Named[BillingEvent], []string, error) {
	c := q.conditions()
	c.within("occurred_at", q.From, q.To)
	keys := []sortKey{{"occurred_at", "timestamptz", true}, {"id", "bigint", true}}
	return listNamed(ctx, db, &NewUsage().events, c, keys, q.Page,
		func(e *BillingEvent) []any { return []any{e.OccurredAt, e.BillingEventID} })
}

// DailyCostQuery asks for daily costs by date and id. Both days, YYYY-MM-DD,
// are inclusive.
type DailyCostQuery struct {
	BillingFilter
	StartDate, EndDate string
}

// ListDailyCosts returns one page and the position of the next one.
func ListDailyCosts(ctx context.Context, db Reader, q DailyCostQuery) ([]Named[DailyCost], []string, error) {
	c := q.conditions()
	c.add("date BETWEEN ? AND ?", q.StartDate, q.EndDate)
	keys := []sortKey{{"date", "text", false}, {"id", "bigint", false}}
	return listNamed(ctx, db, &NewCosts().table, c, keys, q.Page,
		func(d *DailyCost) []any { return []any{d.Date, d.DailyCostID} })
}

// listNamed reads a page of a billing table and then the names of its rows.
func listNamed[R any](ctx context.Context, db Reader, t *table[R], c conditions, keys []sortKey,
	page Page, keysOf func(*R) []any,
) ([]Named[R], []string, error) {
	if err := page.fits(keys); err != nil {
		return nil, nil, err
	}
	c.after(keys, page.After)
	rows, err := db.Query(ctx, fmt.Sprintf(`
		SELECT r.*, a.name, w.name, u.name, s.name
		FROM (SELECT %s FROM %s WHERE %s ORDER BY %s LIMIT %s) AS r
		LEFT JOIN directory a ON a.kind = 'account' AND a.id = r.account_id
		LEFT JOIN workspaces w ON w.id = r.workspace_id
		LEFT JOIN directory u ON u.kind = 'user' AND u.id = r.user_id
		LEFT JOIN directory s ON s.kind = 'sandbox' AND s.id = r.sandbox_id
		ORDER BY %s`,
		t.columns.List(""), t.name, c.where(), orderBy(keys), c.arg(page.Limit+1), orderBy(prefixed("r.", keys))), c.args...)
	found, err := collect(rows, err, func(row pgx.CollectableRow) (n Named[R], err error) {
		err = row.Scan(append(t.columns.Pointers(&n.Row), &n.Names.Account, &n.Names.Workspace, &n.Names.User, &n.Names.Sandbox)...)
		return n, err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("list %s: %w", t.name, err)
	}
	found, next := cut(found, page.Limit, func(n *Named[R]) []any { return keysOf(&n.Row) })
	return found, next, nil
}

func prefixed(prefix string, keys []sortKey) []sortKey {
	out := make([]sortKey, len(keys))
	for i, k := range keys {
		k.column = prefix + k.column
		out[i] = k
	}
	return out
}

// Balance is the balance of an account in a currency. The amounts are decimals.
type Balance struct {
	AccountID   string
	AccountName *string
	Currency    string
	Credits     string
	Debits      string
	Current     string
	UpdatedAt   time.Time
}

// ListBalances returns one page of an account's balances, or of all accounts for
// "", by account and currency, and the position of the next one.
func ListBalances(ctx context.Context, db Reader, account string, page Page) ([]Balance, []string, error) {
	c := BillingFilter{AccountID: account}.conditions()
	keys := []sortKey{{"account_id", "text", false}, {"currency", "text", false}}
	if err := page.fits(keys); err != nil {
		return nil, nil, err
	}
	c.after(keys, page.After)
	rows, err := db.Query(ctx, fmt.Sprintf(`
		SELECT b.account_id, a.name AS account_name, b.currency, b.credits::text, b.debits::text,
		       trim_scale(b.credits - b.debits)::text AS current, b.updated_at
		FROM (SELECT * FROM balances WHERE %s ORDER BY %s LIMIT %s) AS b
		LEFT JOIN directory a ON a.kind = 'account' AND a.id = b.account_id
		ORDER BY b.account_id, b.currency`, c.where(), orderBy(keys), c.arg(page.Limit+1)), c.args...)
	found, err := collect(rows, err, pgx.RowToStructByName[Balance])
	if err != nil {
		return nil, nil, fmt.Errorf("list balances: %w", err)
	}
	found, next := cut(found, page.Limit, func(b *Balance) []any { return []any{b.AccountID, b.Currency} })
	return found, next, nil
}

// CostSum is a sum of costs in a currency: of a rate name, of a workspace, or of
// all costs if both are nil.
type CostSum struct {
	Currency    string
	RateName    *string
	WorkspaceID *string
	Total       string // decimal
}

// SumCosts sums the costs of an account, or of all accounts for "". Both days are
// inclusive.
func SumCosts(ctx context.Context, db Reader, account string, start, end time.Time) ([]CostSum, error) {
	c := BillingFilter{AccountID: account}.conditions()
	c.add("period = ANY(?)", periods(start, end))
	rows, err := db.Query(ctx, `
		WITH t AS MATERIALIZED (
			SELECT currency, rate_name, workspace_id, sum(total) AS total FROM cost_totals
			WHERE `+c.where()+` GROUP BY currency, rate_name, workspace_id)
		SELECT currency, rate_name, workspace_id, trim_scale(sum(total))::text AS total FROM t
		GROUP BY GROUPING SETS ((currency), (currency, rate_name), (currency, workspace_id))`, c.args...)
	sums, err := collect(rows, err, pgx.RowToStructByName[CostSum])
	if err != nil {
		return nil, fmt.Errorf("sum the costs: %w", err)
	}
	return sums, nil
}

// periods splits the days from start to end, both inclusive, into the periods that
// have sums: months, the days of a month with the same first digit, and single days.
func periods(start, end time.Time) []string {
	var out []string
	for day := start; !day.After(end); {
		date, month := day.Format(time.DateOnly), day.AddDate(0, 1, 1-day.Day())
		next, length := day.AddDate(0, 0, 1), len(date)
		if ten := day.AddDate(0, 0, 10-day.Day()%10); day.Day()%10 == 0 || day.Day() == 1 {
			if ten.After(month) {
				ten = month
			}
			if ten.AddDate(0, 0, -1).Compare(end) <= 0 {
				next, length = ten, 9
			}
		}
		if day.Day() == 1 && month.AddDate(0, 0, -1).Compare(end) <= 0 {
			next, length = month, 7
		}
		out = append(out, date[:length])
		day = next
	}
	return out
}

// FindUser returns the id of the user with that name in the account or in no
// account, or in any account for "". It returns "" unless there is exactly one.
func FindUser(ctx context.Context, db Reader, account, name string) (string, error) {
	rows, err := db.Query(ctx, `SELECT id FROM directory WHERE kind = 'user' AND name = $1 AND ($2 = '' OR account_id IN ('', $2)) LIMIT 2`, name, account)
	if err != nil {
		return "", fmt.Errorf("find a user: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", fmt.Errorf("find a user: %w", err)
	}
	if len(ids) != 1 {
		return "", nil
	}
	return ids[0], nil
}
