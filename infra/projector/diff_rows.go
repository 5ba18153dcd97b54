package projector

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// Difference is a table in which two read models are not equal.
type Difference struct {
	Table string
	OnlyA int64  // rows that only the live one has, in at most maxRanges of the ranges that differ
	OnlyB int64  // rows that only the other one has, in the same ranges
	Row   string // one of them, or which read model lacks the table
}

// Rows are compared by ranges of their hash: first a digest of each range, then the
// rows of the ranges that differ.
const (
	ranges    = 4096
	maxRanges = 256 // how many ranges have their rows compared
)

// digest summarises the rows in a range.
type digest struct {
	Range int32
	Rows  int64
	Sum   string // of the hashes of the rows, so their order does not matter
}

// compareModels compares all tables, each read model in its own transaction.
func compareModels(ctx context.Context, live, other pgx.Tx, schema string) ([]Difference, error) {
	liveTables, err := listTables(ctx, live, Live)
	if err != nil {
		return nil, err
	}
	otherTables, err := listTables(ctx, other, schema)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(liveTables, otherTables)
	slices.Sort(all)
	var found []Difference
	for _, table := range slices.Compact(all) {
		d := Difference{Table: table}
		switch {
		case !slices.Contains(otherTables, table):
			d.Row = "only the live one has the table"
		case !slices.Contains(liveTables, table):
			d.Row = "the live one does not have the table"
		default:
			if err := d.compare(ctx, live, other, schema); err != nil {
				return nil, fmt.Errorf("compare table %s: %w", table, err)
			}
		}
		if d.OnlyA+d.OnlyB > 0 || d.Row != "" {
			found = append(found, d)
		}
	}
	return found, nil
}

func listTables(ctx context.Context, tx pgx.Tx, schema string) ([]string, error) {
	rows, err := tx.Query(ctx, `SELECT tablename::text FROM pg_tables WHERE schemaname = $1 ORDER BY 1`, schema)
	if err != nil {
		return nil, fmt.Errorf("list the tables: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

func (d *Difference) compare(ctx context.Context, live, other pgx.Tx, schema string) error {
	differ, err := d.differingRanges(ctx, live, other, schema)
	if err != nil || len(differ) == 0 {
		return err
	}
	if len(differ) > maxRanges {
		differ = differ[:maxRanges]
	}
	a, b, err := both(ctx, live, other, schema, func(ctx context.Context, tx pgx.Tx, schema string) ([]string, error) {
		rows, err := tx.Query(ctx, fmt.Sprintf(
			`SELECT t::text FROM %s t WHERE hashtextextended(t::text, 0) & $1 = ANY($2::bigint[])`,
			pgx.Identifier{schema, d.Table}.Sanitize()), ranges-1, differ)
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, pgx.RowTo[string])
	})
	if err != nil {
		return err
	}
	counts := map[string]int64{}
	for _, row := range a {
		counts[row]++
	}
	for _, row := range b {
		counts[row]--
	}
	for row, n := range counts {
		d.OnlyA, d.OnlyB = d.OnlyA+max(0, n), d.OnlyB+max(0, -n)
		if n != 0 && (d.Row == "" || row < d.Row) {
			d.Row = row
		}
	}
	return nil
}

// differingRanges returns the ranges whose digests are not equal.
func (d *Difference) differingRanges(ctx context.Context, live, other pgx.Tx, schema string) ([]int64, error) {
	a, b, err := both(ctx, live, other, schema, func(ctx context.Context, tx pgx.Tx, schema string) ([]digest, error) {
		rows, err := tx.Query(ctx, fmt.Sprintf(`
			SELECT (hashtextextended(t::text, 0) & $1)::int, count(*), sum(hashtextextended(t::text, 1)::numeric)::text
			FROM %s t GROUP BY 1`, pgx.Identifier{schema, d.Table}.Sanitize()), ranges-1)
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, pgx.RowToStructByPos[digest])
	})
	if err != nil {
		return nil, err
	}
	found := map[digest]int{}
	for _, one := range slices.Concat(a, b) {
		found[one]++
	}
	var differ []int64
	for one, times := range found {
		if times == 1 {
			differ = append(differ, int64(one.Range))
		}
	}
	slices.Sort(differ)
	return slices.Compact(differ), nil
}

// both runs the query on both read models at the same time.
func both[T any](ctx context.Context, live, other pgx.Tx, schema string, ask func(context.Context, pgx.Tx, string) (T, error)) (a, b T, err error) {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		a, err = ask(ctx, live, Live)
		return err
	})
	group.Go(func() (err error) {
		b, err = ask(ctx, other, schema)
		return err
	})
	return a, b, group.Wait()
}
