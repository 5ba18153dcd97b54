package projections

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"netsim/events"
	"netsim/infra/columns"
)

// accountQuotas is a row of the quotas.
type accountQuotas struct {
	AccountID string
	Quotas    string // JSON array of events.AccountQuota
}

var quotaColumns = columns.Of[accountQuotas]()

// Quotas is the projection of the quotas that an operator has set.
type Quotas struct{ table[accountQuotas] }

// NewQuotas returns the projection.
func NewQuotas() *Quotas {
	return &Quotas{table[accountQuotas]{
		name: "account_quotas", file: "quotas.sql", columns: quotaColumns,
		keyOf: func(f *events.Fact) string {
			if _, ok := f.Data.(events.AccountQuotasSet); ok {
				return f.Stream
			}
			return ""
		},
		first: func(*events.Fact) bool { return true }, // each event replaces the whole row
		fold: func(q *accountQuotas, f *events.Fact) {
			if d, ok := f.Data.(events.AccountQuotasSet); ok {
				*q = accountQuotas{f.Stream, textOf(d.Quotas)}
			}
		},
	}}
}

// AccountQuotas returns the limits that an operator has set, by account and
// quota name.
func AccountQuotas(ctx context.Context, db Reader) (map[string]map[string]int64, error) {
	rows, err := db.Query(ctx, `SELECT `+quotaColumns.List("")+` FROM account_quotas`)
	all, err := collect(rows, err, quotaColumns.Scan)
	if err != nil {
		return nil, fmt.Errorf("read the quotas: %w", err)
	}
	byAccount := make(map[string]map[string]int64, len(all))
	for _, q := range all {
		var quotas []events.AccountQuota
		if err := json.Unmarshal([]byte(q.Quotas), &quotas); err != nil {
			return nil, fmt.Errorf("read the quotas of %s: %w", q.AccountID, err)
		}
		limits := make(map[string]int64, len(quotas))
		for _, one := range quotas {
			limits[one.Name] = one.Limit
		}
		byAccount[q.AccountID] = limits
	}
	return byAccount, nil
}

// RunsOf returns the number of an account's unfinished runs, counting up to most,
// and the bytes of its billed storage.
func RunsOf(ctx context.Context, db Reader, account string, most int64) (unfinished, stored int64, err error) {
	err = db.QueryRow(ctx, `
		SELECT (SELECT count(*) FROM (
				SELECT FROM simulations
				WHERE account_id = $1 AND status IN ('validating', 'provisioning', 'running') AND deleted = ''
				LIMIT $2) AS unfinished),
			coalesce((SELECT bytes FROM account_storage WHERE account_id = $1), 0)`,
		account, most).Scan(&unfinished, &stored)
	if err != nil {
		return 0, 0, fmt.Errorf("count the runs of %s: %w", account, err)
	}
	return unfinished, stored, nil
}

// UploadsOf returns the number of an account's uploads that began since a time,
// and the bytes of its billed storage and of its open uploads. A traceset that was
// made without an upload session counts as an upload, except a synthesized one.
func UploadsOf(ctx context.Context, db Reader, account string, since time.Time) (begun, stored int64, err error) {
	err = db.QueryRow(ctx, `
		SELECT (SELECT count(*) FROM uploads WHERE account_id = $1 AND created_at >= $2)
			+ (SELECT count(*) FROM tracesets t
				WHERE account_id = $1 AND created_at >= $2 AND format <> 'simple_v1'
				AND NOT EXISTS (SELECT FROM uploads WHERE result_id = t.id AND kind = 'traceset')),
			coalesce((SELECT bytes FROM account_storage WHERE account_id = $1), 0)
			+ coalesce((SELECT sum((file ->> 'size')::bigint)
				FROM uploads, json_array_elements(files::json) AS file
				WHERE account_id = $1 AND status = 'open'), 0)::bigint`,
		account, since).Scan(&begun, &stored)
	if err != nil {
		return 0, 0, fmt.Errorf("count the uploads of %s: %w", account, err)
	}
	return begun, stored, nil
}
