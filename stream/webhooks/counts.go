package webhooks

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Counts are how many messages of a webhook wait for delivery, and how many of the
// attempts that are kept had which outcome.
type Counts struct{ Waiting, Delivered, Failed, Dropped int64 }

// History returns at most limit attempts of a webhook before a number, as Attempts does, and
// its counts at the same moment.
func (d *Deliverer) History(ctx context.Context, webhook string, before int64, limit int) (all []Attempt, c Counts, err error) {
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(ctx, d.Pool, snapshot, func(tx pgx.Tx) (err error) {
		if all, err = Attempts(ctx, tx, webhook, before, limit); err == nil {
			c, err = readCounts(ctx, tx, webhook)
		}
		return err
	})
	return all, c, err
}

func readCounts(ctx context.Context, db DB, webhook string) (c Counts, err error) {
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
