// Package postgres connects to PostgreSQL and keeps the tables that are not
// derived from events, in the schema netsim: the directory of names, simulation
// logs, cursor keys, sessions of the console, how far billing's accrual has come, and
// which start of PostgreSQL the read model has recovered from. Read models have schemas of their own
// and are never migrated (package projector). The leases of shards are in the schema
// facts (package facts), and river's tables in the schema jobs.
package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the schema of the tables that are not derived from events.
const Schema = "netsim"

// Open returns a pool like New's once PostgreSQL has answered.
func Open(ctx context.Context, url, readModel string, maxConns int32, options ...func(*pgxpool.Config)) (*pgxpool.Pool, error) {
	pool, err := New(ctx, url, readModel, maxConns, options...)
	if err != nil {
		return nil, err
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("no PostgreSQL answers: %w", err)
	}
	return pool, nil
}

// New returns a pool whose connections have the read model and then the
// service's own schema in their search path. The options change the pool's
// settings. New does not connect.
func New(ctx context.Context, url, readModel string, maxConns int32, options ...func(*pgxpool.Config)) (*pgxpool.Pool, error) {
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read the database's address: %w", err)
	}
	c.MaxConns = maxConns
	c.MaxConnIdleTime = 5 * time.Minute
	c.ConnConfig.ConnectTimeout = 5 * time.Second
	c.ConnConfig.DescriptionCacheCapacity = 0 // of a mode that nothing uses, and 20 kB a connection
	c.ConnConfig.RuntimeParams["application_name"] = "netsim"
	c.ConnConfig.RuntimeParams["search_path"] = pgx.Identifier{readModel}.Sanitize() + ", " + Schema
	c.ConnConfig.RuntimeParams["synchronous_commit"] = "off" // the log is durable; lost rows are rebuilt from it
	c.ConnConfig.RuntimeParams["timezone"] = "UTC"
	c.ConnConfig.RuntimeParams["jit"] = "off" // compiling takes longer than any query that a client waits for
	for _, option := range options {
		option(c)
	}
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	return pool, nil
}

// Migrate applies the migrations of the service's own schema. Processes that start
// at the same time migrate one after the other.
func Migrate(ctx context.Context, pool *pgxpool.Pool) error {
	if _, err := pool.Exec(ctx, `
		DO $$ BEGIN
			PERFORM pg_advisory_xact_lock(hashtext('create schema netsim'));
			CREATE SCHEMA IF NOT EXISTS netsim;
		END $$`); err != nil {
		return fmt.Errorf("create the schema: %w", err)
	}
	db := own(pool)
	defer db.Close() //nolint:errcheck // the migrations have ended
	return migrate(ctx, db)
}

// own opens the service's own schema with the settings of the pool.
func own(pool *pgxpool.Pool) *sql.DB {
	config := pool.Config().ConnConfig.Copy()
	config.RuntimeParams["search_path"] = Schema
	return stdlib.OpenDB(*config)
}

// ErrNotMigrated means that tables are missing, or older than this release needs.
var ErrNotMigrated = errors.New("is missing or older than this release needs")

// Migrated returns an error that wraps ErrNotMigrated unless every migration of the
// service's own schema is applied. It only reads.
func Migrated(ctx context.Context, pool *pgxpool.Pool) error {
	missing := fmt.Errorf("the schema %s of PostgreSQL %w", Schema, ErrNotMigrated)
	var exists bool // else goose would create its table
	err := pool.QueryRow(ctx, `SELECT to_regclass('netsim.goose_db_version') IS NOT NULL`).Scan(&exists)
	if err != nil {
		return fmt.Errorf("look for the tables: %w", err)
	}
	if !exists {
		return missing
	}
	db := own(pool)
	defer db.Close() //nolint:errcheck // it only read
	provider, err := migrationsOf(db)
	if err != nil {
		return err
	}
	pending, err := provider.HasPending(ctx)
	if err != nil {
		return fmt.Errorf("read which migrations are applied: %w", err)
	}
	if pending {
		return missing
	}
	return nil
}

// Check returns an error when the database cannot serve: when it is read-only, or
// when the service's own tables or those of its jobs are missing. Only a start of
// the service creates them.
func Check(ctx context.Context, pool *pgxpool.Pool) error {
	var own, jobs, readOnly bool // own and jobs: the tables exist
	err := pool.QueryRow(ctx, `SELECT to_regclass('netsim.cursor_keys') IS NOT NULL, to_regclass('jobs.river_job') IS NOT NULL,
		current_setting('transaction_read_only')::bool`).Scan(&own, &jobs, &readOnly)
	switch {
	case err != nil:
		return fmt.Errorf("check the database: %w", err)
	case !own || !jobs:
		return errors.New("the service's own tables are missing; restart the service to create them")
	case readOnly:
		return errors.New("the database is read-only")
	}
	return nil
}

func migrate(ctx context.Context, db *sql.DB) error {
	provider, err := migrationsOf(db)
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

func migrationsOf(db *sql.DB) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, fmt.Errorf("prepare the migration lock: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithSessionLocker(locker))
	if err != nil {
		return nil, fmt.Errorf("read the migrations: %w", err)
	}
	return provider, nil
}
