package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// ReadLevel returns the level of the deployment, and when it was raised; 1 and the zero
// time before it was.
func ReadLevel(ctx context.Context, db interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}) (level int, raised time.Time, err error) {
	err = db.QueryRow(ctx, `SELECT level, raised_at FROM netsim.release_level`).Scan(&level, &raised)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 1, time.Time{}, nil
	case err != nil:
		return 0, time.Time{}, fmt.Errorf("read the level of the deployment: %w", err)
	}
	return level, raised, nil
}

// RaiseLevel raises the level of the deployment in a transaction. It never lowers it.
func RaiseLevel(ctx context.Context, tx pgx.Tx, level int) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO netsim.release_level (level, raised_at) VALUES ($1, now())
		ON CONFLICT (one) DO UPDATE SET level = excluded.level, raised_at = excluded.raised_at
		WHERE release_level.level < excluded.level`, level)
	if err != nil {
		return fmt.Errorf("raise the level of the deployment: %w", err)
	}
	return nil
}
