package projector

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"netsim/events"
)

// Sealings returns what each partition of the live read model demands of records.
func Sealings(ctx context.Context, db Querier) ([]events.Sealing, error) {
	rows, err := db.Query(ctx, `SELECT sealing FROM offsets`)
	if err != nil {
		return nil, fmt.Errorf("read which partitions are sealed: %w", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (events.Sealing, error) {
		var text string
		err := row.Scan(&text)
		return events.ParseSealing(text), err
	})
	if err != nil {
		return nil, fmt.Errorf("read which partitions are sealed: %w", err)
	}
	return all, nil
}
