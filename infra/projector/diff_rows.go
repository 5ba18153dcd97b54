package projector

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// Difference is a table in which two read models are not equal.
type Difference struct {
	Table string
	OnlyA int64  // rows that only the live one has, or has with other values, in at most maxRanges of the ranges that differ
	OnlyB int64  // rows that only the other one has, or has with other values, in the same ranges
	Row   string // one of them with its key and the values that differ, or which read model lacks the table
}

// maxRanges is how many ranges have their rows compared.
const maxRanges = 256

// side is one of the two read models, in a transaction of its own.
type side struct {
	tx     pgx.Tx
	schema string
}

// compareModels compares all tables: first a digest of each range of rows, then the rows
// of the ranges that differ.
func compareModels(ctx context.Context, live, other side) ([]Difference, error) {
	liveTables, err := listTables(ctx, live.tx, live.schema)
	if err != nil {
		return nil, err
	}
	otherTables, err := listTables(ctx, other.tx, other.schema)
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
			if err := d.compare(ctx, live, other); err != nil {
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
	rows, err := tx.Query(ctx, `SELECT tablename::text FROM pg_tables WHERE schemaname = $1 ORDER BY tablename COLLATE "C"`, schema)
	if err != nil {
		return nil, fmt.Errorf("list the tables: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

func (d *Difference) compare(ctx context.Context, live, other side) error {
	a, b, err := both(ctx, live, other, func(ctx context.Context, s side) (canonical, error) {
		return describeTable(ctx, s.tx, s.schema, d.Table)
	})
	if err != nil {
		return err
	}
	if !slices.Equal(a.columns, b.columns) {
		d.Row = fmt.Sprintf("the columns are %s and %s", strings.Join(a.columns, " "), strings.Join(b.columns, " "))
		return nil
	}
	differ, err := d.differingRanges(ctx, live, other, a)
	if err != nil || len(differ) == 0 {
		return err
	}
	if len(differ) > maxRanges {
		differ = differ[:maxRanges]
	}
	mine, theirs, err := both(ctx, live, other, func(ctx context.Context, s side) (map[string][][]*string, error) {
		return a.rows(ctx, s, differ)
	})
	if err != nil {
		return err
	}
	for key, rows := range mine {
		d.count(a, key, rows, theirs[key])
	}
	for key, rows := range theirs {
		if mine[key] == nil {
			d.count(a, key, nil, rows)
		}
	}
	return nil
}

// count counts the rows of a key that only one side has.
func (d *Difference) count(t canonical, key string, a, b [][]*string) {
	equal := func(rows [][]*string) func([]*string) bool {
		return func(row []*string) bool {
			return slices.ContainsFunc(rows, func(other []*string) bool { return slices.EqualFunc(row, other, sameText) })
		}
	}
	onlyA, onlyB := slices.DeleteFunc(slices.Clone(a), equal(b)), slices.DeleteFunc(slices.Clone(b), equal(a))
	n, m := int64(len(onlyA)), int64(len(onlyB))
	if n == 0 && m == 0 && len(a) != len(b) { // the same row, more often
		n, m = max(0, int64(len(a)-len(b))), max(0, int64(len(b)-len(a)))
	}
	d.OnlyA, d.OnlyB = d.OnlyA+n, d.OnlyB+m
	text := key
	if len(onlyA) > 0 && len(onlyB) > 0 {
		for i, column := range t.columns {
			if x, y := onlyA[0][i], onlyB[0][i]; !sameText(x, y) {
				text += fmt.Sprintf(" %s %s, %s", column, shown(x), shown(y))
			}
		}
	}
	if n+m > 0 && (d.Row == "" || text < d.Row) {
		d.Row = text
	}
}

func sameText(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// shown returns a value for a message.
func shown(text *string) string {
	const most = 200
	if text == nil {
		return "NULL"
	}
	if len(*text) > most {
		return fmt.Sprintf("%q…", (*text)[:most])
	}
	return fmt.Sprintf("%q", *text)
}

// differingRanges returns the ranges whose digests are not equal.
func (d *Difference) differingRanges(ctx context.Context, live, other side, t canonical) ([]int64, error) {
	a, b, err := both(ctx, live, other, func(ctx context.Context, s side) ([]RangeDigest, error) {
		return t.digests(ctx, s, MaxDigestRanges)
	})
	if err != nil {
		return nil, err
	}
	found := map[RangeDigest]int{}
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

// both asks both read models at the same time.
func both[T any](ctx context.Context, live, other side, ask func(context.Context, side) (T, error)) (a, b T, err error) {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		a, err = ask(ctx, live)
		return err
	})
	group.Go(func() (err error) {
		b, err = ask(ctx, other)
		return err
	})
	return a, b, group.Wait()
}
