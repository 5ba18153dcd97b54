package webhooks

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Counts are how many messages of a webhook wait for delivery, and how many of the
// attempts that are kept had which outcome.
type Counts struct{ Waiting, Delivered, Failed, Dropped int64 }

// ReadCounts returns the counts of a webhook. Read them and the Attempts in one
// transaction that sees one snapshot: else they may disagree.
func ReadCounts(ctx context.Context, db DB, webhook string) (c Counts, err error) {
	rows, err := db.Query(ctx, `
		SELECT (SELECT count(*) FROM webhooks.messages WHERE webhook = $1),
			count(*) FILTER (WHERE outcome = $2), count(*) FILTER (WHERE outcome = $3), count(*) FILTER (WHERE outcome = $4)
		FROM webhooks.attempts WHERE webhook = $1`, webhook, string(Delivered), string(Failed), string(Dropped))
	if err == nil {
		c, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Counts])
	}
	if err != nil {
		return c, fmt.Errorf("count the messages of a webhook: %w", err)
	}
	return c, nil
}
