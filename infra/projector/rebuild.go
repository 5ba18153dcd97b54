package projector

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// Rebuild replays the log from offset 0 into a schema beside the live one, or
// continues an earlier rebuild. Once it has caught up with the log, it makes the
// indexes that only reads need. Then it returns; with follow it projects until the
// read model is promoted or ctx ends. It reports whether the read model was
// promoted.
func (p *Projector) Rebuild(ctx context.Context, follow bool) (promoted bool, err error) {
	if p.isLive() {
		return false, fmt.Errorf("%s is the live read model; rebuild beside it", Live)
	}
	if isName(p.Schema) {
		return false, fmt.Errorf("%s is the name of a read model that was live; rebuild another one", p.Schema)
	}
	if err := p.refuseLosses(ctx); err != nil {
		return false, err
	}
	model, err := p.complete(ctx)
	if err != nil {
		return false, err
	}
	if !follow {
		return false, nil
	}
	p.Yield = true
	err = p.runWhile(ctx, p.projectLocked, func(ctx context.Context) (err error) {
		promoted, err = p.awaitPromotion(ctx, model)
		return err
	})
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = nil // the caller stopped it
	}
	return promoted, err
}

// complete makes the read model's tables, catches up with the log and makes the
// indexes that are missing. It returns the oid of the schema. It takes the lock
// before it makes the schema, because other processes can take the lock once the
// schema exists.
func (p *Projector) complete(ctx context.Context) (model uint32, err error) {
	lock, err := p.tryLock(ctx)
	if err != nil {
		return 0, err
	}
	defer lock.release(ctx)
	tables, _ := p.ddl()
	if err := p.define(ctx, tables); err != nil {
		return 0, err
	}
	err = p.Pool.QueryRow(ctx, `SELECT oid FROM pg_namespace WHERE nspname = $1`, p.Schema).Scan(&model)
	if err != nil {
		return 0, fmt.Errorf("look for the schema: %w", err)
	}
	if err := p.CatchUp(ctx); err != nil {
		return 0, err
	}
	return model, p.index(ctx)
}

// index makes the indexes that are missing, and the planner's statistics. It makes
// the last index after the statistics, so that an interrupted rebuild makes them
// when it continues.
func (p *Projector) index(ctx context.Context) error {
	missing, err := p.MissingIndexes(ctx)
	if err != nil || len(missing) == 0 {
		return err
	}
	rows, err := p.Pool.Query(ctx, `SELECT format('ANALYZE %I', tablename) FROM pg_tables WHERE schemaname = $1`, p.Schema)
	if err != nil {
		return fmt.Errorf("list the tables of %s: %w", p.Schema, err)
	}
	statistics, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("list the tables of %s: %w", p.Schema, err)
	}
	p.stats.indexes(true)
	defer p.stats.indexes(false)
	last := len(missing) - 1
	for _, statements := range [][]string{missing[:last], statistics, missing[last:]} {
		if err := p.execute(ctx, statements); err != nil {
			return fmt.Errorf("make the indexes of %s: %w", p.Schema, err)
		}
	}
	return nil
}

// indexers is the number of sessions that make indexes at a time. PostgreSQL adds
// workers to each as its max_parallel_maintenance_workers permits.
const indexers = 2

// execute runs each statement in a transaction of its own.
func (p *Projector) execute(ctx context.Context, statements []string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(indexers)
	for _, statement := range statements {
		group.Go(func() error {
			return pgx.BeginFunc(ctx, p.Pool, func(tx pgx.Tx) error {
				_, err := tx.Exec(ctx, "SET LOCAL search_path = "+p.ident()+"; SET LOCAL maintenance_work_mem = '256MB'; "+statement)
				return err
			})
		})
	}
	return group.Wait()
}

// CatchUp projects up to where the log ends when it is called. The caller
// holds the lock.
func (p *Projector) CatchUp(ctx context.Context) error {
	log, err := p.Log.Describe(ctx)
	if err != nil {
		return fmt.Errorf("describe the log: %w", err)
	}
	end := endOf(log)
	p.stats.expect(end)
	return p.runWhile(ctx, p.session(), func(ctx context.Context) error { return p.await(ctx, end) })
}

// awaitPromotion waits until the schema with the oid is named Live.
func (p *Projector) awaitPromotion(ctx context.Context, model uint32) (promoted bool, err error) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		var name string
		err := p.Pool.QueryRow(ctx, `SELECT nspname FROM pg_namespace WHERE oid = $1`, model).Scan(&name)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return false, fmt.Errorf("%s was dropped", p.Schema)
		case err != nil: // PostgreSQL is out of reach
		case name == Live:
			return true, nil
		case name != p.Schema:
			return false, fmt.Errorf("%s was renamed to %s", p.Schema, name)
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-tick.C:
		}
	}
}

var secondaryIndex = regexp.MustCompile(`(?m)^CREATE INDEX (\w+) [^;]*;`)

// ddl returns the statements that make the tables, and those that make the
// indexes which only reads need.
func (p *Projector) ddl() (tables string, indexes []string) {
	all := p.statements()
	return secondaryIndex.ReplaceAllString(all, ""), secondaryIndex.FindAllString(all, -1)
}

// MissingIndexes returns the statements of the indexes that are not there.
func (p *Projector) MissingIndexes(ctx context.Context) (missing []string, err error) {
	rows, err := p.Pool.Query(ctx, `SELECT indexname::text FROM pg_indexes WHERE schemaname = coalesce(nullif($1, ''), current_schema())`, p.Schema)
	if err != nil {
		return nil, fmt.Errorf("list the indexes: %w", err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("list the indexes: %w", err)
	}
	there := map[string]bool{}
	for _, name := range names {
		there[name] = true
	}
	for _, found := range secondaryIndex.FindAllStringSubmatch(p.statements(), -1) {
		if !there[found[1]] {
			missing = append(missing, found[0])
		}
	}
	return missing, nil
}

// AddIndexes returns the statements that add the indexes that are not there to a read model
// in use: they name its schema, and writes go on meanwhile. None can run in a transaction.
func (p *Projector) AddIndexes(ctx context.Context) ([]string, error) {
	missing, err := p.MissingIndexes(ctx)
	if err != nil || len(missing) == 0 {
		return nil, err
	}
	var schema string
	if err := p.Pool.QueryRow(ctx, `SELECT coalesce(nullif($1, ''), current_schema())`, p.Schema).Scan(&schema); err != nil {
		return nil, fmt.Errorf("ask for the schema of the read model: %w", err)
	}
	for i, statement := range missing {
		missing[i] = secondaryIndexOn.ReplaceAllString(statement, "CREATE INDEX CONCURRENTLY $1 ON "+pgx.Identifier{schema}.Sanitize()+".")
	}
	return missing, nil
}

var secondaryIndexOn = regexp.MustCompile(`^CREATE INDEX (\w+)\s+ON `)

// statements make the whole read model.
func (p *Projector) statements() string {
	all := schemaSQL
	for _, projection := range p.Projections {
		all += "\n" + projection.Schema()
	}
	return all
}
