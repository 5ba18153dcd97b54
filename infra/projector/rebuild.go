package projector

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Rebuild makes the read model anew from offset 0, up to where the log ends
// now, in a schema that must not exist. Indexes that only reads need are made
// at the end.
func (p *Projector) Rebuild(ctx context.Context) error {
	var exists bool
	err := p.Pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", p.Schema).Scan(&exists)
	if err != nil {
		return fmt.Errorf("look for the schema: %w", err)
	}
	if exists {
		return fmt.Errorf("schema %s exists; drop it first", p.Schema)
	}
	tables, indexes := p.ddl()
	if err := p.define(ctx, tables); err != nil {
		return err
	}
	if err := p.CatchUp(ctx); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, p.Pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "SET LOCAL search_path = "+p.ident()+";"+strings.Join(indexes, "\n")+"; ANALYZE")
		return err
	})
}

// CatchUp projects up to where the log ends when it is called.
func (p *Projector) CatchUp(ctx context.Context) error {
	log, err := p.Log.Describe(ctx)
	if err != nil {
		return fmt.Errorf("describe the log: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return errors.Join(err, ctx.Err())
		case <-tick.C:
		}
		reached := true
		for _, topic := range log.Topics {
			for i, part := range topic.Partitions {
				reached = reached && p.stats.at(partitionKey{topic.Family, int32(i)}) >= part.End
			}
		}
		if reached {
			stop()
			return <-done
		}
	}
}

var secondaryIndex = regexp.MustCompile(`(?ms)^CREATE INDEX .*?;$`)

// ddl returns the statements that make the tables, and those that make the
// indexes which only reads need.
func (p *Projector) ddl() (tables string, indexes []string) {
	all := p.statements()
	return secondaryIndex.ReplaceAllString(all, ""), secondaryIndex.FindAllString(all, -1)
}

// statements make the whole read model.
func (p *Projector) statements() string {
	all := schemaSQL
	for _, projection := range p.Projections {
		all += "\n" + projection.Schema()
	}
	return all
}

// Promote puts the read model in schema in the place of the live one, which is
// kept as <live>_before. It is one transaction; readers see either.
func Promote(ctx context.Context, pool *pgxpool.Pool, schema string) error {
	next, before := pgx.Identifier{schema}.Sanitize(), pgx.Identifier{Live + "_before"}.Sanitize()
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, fmt.Sprintf(
			"DROP SCHEMA IF EXISTS %[2]s CASCADE; ALTER SCHEMA %[3]s RENAME TO %[2]s; ALTER SCHEMA %[1]s RENAME TO %[3]s",
			next, before, Live))
		if err != nil {
			return fmt.Errorf("promote %s: %w", schema, err)
		}
		return nil
	})
}

// Difference is a table in which two read models are not equal.
type Difference struct {
	Table string
	OnlyA int64 // rows that only the first has
	OnlyB int64
	Row   string // one of them
}

// Diff compares two read models row by row, the offsets included.
func Diff(ctx context.Context, pool *pgxpool.Pool, a, b string) ([]Difference, error) {
	rows, err := pool.Query(ctx, `SELECT table_name FROM information_schema.tables WHERE table_schema = $1 OR table_schema = $2 ORDER BY 1`, a, b)
	if err != nil {
		return nil, fmt.Errorf("list the tables: %w", err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("list the tables: %w", err)
	}
	var found []Difference
	for _, table := range slices.Compact(tables) {
		d := Difference{Table: table}
		name := pgx.Identifier{table}.Sanitize()
		err := pool.QueryRow(ctx, fmt.Sprintf(`
			WITH a AS (SELECT t::text AS r FROM %[1]s.%[3]s t), b AS (SELECT t::text AS r FROM %[2]s.%[3]s t),
			onlya AS (SELECT r FROM a EXCEPT ALL SELECT r FROM b), onlyb AS (SELECT r FROM b EXCEPT ALL SELECT r FROM a)
			SELECT (SELECT count(*) FROM onlya), (SELECT count(*) FROM onlyb),
			       coalesce((SELECT r FROM onlya LIMIT 1), (SELECT r FROM onlyb LIMIT 1), '')`,
			pgx.Identifier{a}.Sanitize(), pgx.Identifier{b}.Sanitize(), name)).Scan(&d.OnlyA, &d.OnlyB, &d.Row)
		if err != nil {
			return nil, fmt.Errorf("compare table %s: %w", table, err)
		}
		if d.OnlyA+d.OnlyB > 0 {
			found = append(found, d)
		}
	}
	return found, nil
}

func (s *Stats) at(key partitionKey) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next[key]
}
