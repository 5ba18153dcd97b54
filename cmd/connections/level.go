package connections

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/events"
	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/infra/sqlstate"
)

// Level is the level of the deployment, as this process last read it.
type Level struct {
	pool *pgxpool.Pool
	log  *slog.Logger
	last atomic.Int64 // 0 before it is read
}

// Read reads the level of the deployment, and refuses one that this release does not
// know. A database without the table is at the first level.
func (l *Level) Read(ctx context.Context) error {
	level, _, err := postgres.ReadLevel(ctx, l.pool)
	if sqlstate.IsMissing(err) {
		level, err = events.FirstLevel, nil
	}
	if err != nil {
		return err
	}
	l.last.Store(int64(level))
	return projector.RefuseLevel(level)
}

// Current returns the level, as this process last read it.
func (l *Level) Current() int { return max(int(l.last.Load()), events.FirstLevel) }

// Holds reports whether events of a type must not be written yet, because processes of an
// older release that does not know the type may run.
func (l *Level) Holds(eventType string) bool { return events.LevelOf(eventType) > l.Current() }

// raise stores in a transaction that the deployment is at a level, and marks the read models
// of the database with it. A database user who does not own them cannot mark them.
func (l *Level) raise(ctx context.Context, tx pgx.Tx, level int) error {
	if err := postgres.RaiseLevel(ctx, tx, level); err != nil {
		return err
	}
	err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error { return MarkReadModels(ctx, tx, level) })
	if sqlstate.IsForbidden(err) {
		l.log.WarnContext(ctx, "the read models are not marked with the level of the deployment; run netsim upgrade finish as their owner", "level", level, "error", err)
		err = nil
	}
	return err
}

// MarkReadModels marks all read models with the level.
func MarkReadModels(ctx context.Context, tx pgx.Tx, level int) error {
	schemas, err := projector.ReadModels(ctx, tx)
	if err != nil {
		return err
	}
	for _, schema := range schemas {
		var comment string
		err := tx.QueryRow(ctx, `SELECT coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace WHERE nspname = $1`, schema).Scan(&comment)
		if err != nil {
			return fmt.Errorf("read the mark of %s: %w", schema, err)
		}
		fingerprint, marked := projector.ReadMark(comment)
		if fingerprint == "" || marked >= level {
			continue
		}
		_, err = tx.Exec(ctx, fmt.Sprintf(`COMMENT ON SCHEMA %s IS '%s'`, pgx.Identifier{schema}.Sanitize(),
			strings.ReplaceAll(projector.Marked(fingerprint, level), "'", "''")))
		if err != nil {
			return fmt.Errorf("mark %s: %w", schema, err)
		}
	}
	return nil
}
