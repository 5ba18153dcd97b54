package operate

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"netsim/billing/focus"
	"netsim/infra/telemetry"
)

// ExportCosts writes daily costs as a FOCUS dataset, from one snapshot of the
// live read model.
func (t *Tools) ExportCosts(ctx context.Context, r focus.Request) (focus.Report, error) {
	tx, err := t.conn.Pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return focus.Report{}, fmt.Errorf("open a snapshot: %w", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // nothing was written
	// A page has a few thousand rows, so index lookups are the best plan for its joins.
	if _, err := tx.Exec(ctx, "SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off"); err != nil {
		return focus.Report{}, fmt.Errorf("open a snapshot: %w", err)
	}
	r.Provider, r.Generator = t.conn.Config.Platform, telemetry.ReadBuild().Version
	return focus.Export(ctx, tx, r)
}
