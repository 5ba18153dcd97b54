package projections

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// FindTraceset reads a traceset, deleted or not. It returns NotFound for a
// missing one.
func FindTraceset(ctx context.Context, db Reader, id string) (Traceset, error) {
	return find(ctx, db, &NewTracesets().table, "traceset", id)
}

// TracesetName returns the name of a traceset, deleted or not; "" for a missing
// one.
func TracesetName(ctx context.Context, db Reader, id string) (string, error) {
	var name string
	err := db.QueryRow(ctx, `SELECT name FROM tracesets WHERE id = $1`, id).Scan(&name)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return "", fmt.Errorf("read traceset %s: %w", id, err)
	}
	return name, nil
}
