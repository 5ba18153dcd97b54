package projector

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// RangeDigest summarises the rows of a table whose keys are in a range. It depends on the
// values alone, and neither on the order of rows, columns and inserts, nor on the
// database's collation, settings or release.
//
// A row is the text of its columns, in the order of their names, as ROW(…)::text writes it
// with the settings of canonicalSettings. Its range is the first 12 bits of the SHA-256 of
// the text of its primary key, modulo the number of ranges. Sum has the sums of the first
// and second 60 bits of the SHA-256 of the rows.
type RangeDigest struct {
	Table string
	Range int32
	Rows  int64
	Sum   string
}

// MaxDigestRanges is the largest number of ranges of a table; a number is a power of two.
const MaxDigestRanges = 4096

// canonicalSettings make values have the same text in every database.
const canonicalSettings = `SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO, YMD'; SET LOCAL intervalstyle = 'iso_8601';
	SET LOCAL extra_float_digits = 1; SET LOCAL bytea_output = 'hex'; SET LOCAL xmlbinary = 'base64'; SET LOCAL lc_monetary = 'C'`

// canonical is a table with its columns in the order of their names, and its key.
type canonical struct {
	table   string
	columns []string
	key     []string // of the primary key; all columns of a table that has none
}

func describeTable(ctx context.Context, tx pgx.Tx, schema, table string) (c canonical, err error) {
	c.table = table
	err = tx.QueryRow(ctx, `
		SELECT array_agg(a.attname::text ORDER BY a.attname COLLATE "C"),
			coalesce(array_agg(a.attname::text ORDER BY a.attname COLLATE "C") FILTER (WHERE a.attnum = ANY(i.indkey)), '{}')
		FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace
		JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
		LEFT JOIN pg_index i ON i.indrelid = t.oid AND i.indisprimary
		WHERE n.nspname = $1 AND t.relname = $2`, schema, table).Scan(&c.columns, &c.key)
	if err != nil {
		return c, fmt.Errorf("read the columns of %s: %w", table, err)
	}
	if len(c.key) == 0 {
		c.key = c.columns
	}
	return c, nil
}

// quoted returns the columns as a list of SQL expressions.
func quoted(columns []string, suffix string) string {
	out := make([]string, len(columns))
	for i, column := range columns {
		out[i] = pgx.Identifier{column}.Sanitize() + suffix
	}
	return strings.Join(out, ", ")
}

// keyText is the SQL expression of a row's key as a text.
func (c canonical) keyText() string { return "ROW(" + quoted(c.key, "") + ")::text" }

// keyRange is the SQL expression of a row's range, of MaxDigestRanges.
func (c canonical) keyRange() string {
	return "('x' || substr(encode(sha256(convert_to(" + c.keyText() + ", 'UTF8')), 'hex'), 1, 3))::bit(12)::int"
}

// digests returns the digest of each range that has rows.
func (c canonical) digests(ctx context.Context, s side, ranges int) ([]RangeDigest, error) {
	rows, err := s.tx.Query(ctx, fmt.Sprintf(`
		SELECT $1::text, range & $2, count(*),
			sum(('x' || substr(hash, 1, 15))::bit(60)::bigint::numeric)::text || '-' || sum(('x' || substr(hash, 16, 15))::bit(60)::bigint::numeric)::text
		FROM (SELECT %s AS range, encode(sha256(convert_to(ROW(%s)::text, 'UTF8')), 'hex') AS hash FROM %s) rows
		GROUP BY 2 ORDER BY 2`,
		c.keyRange(), quoted(c.columns, ""), pgx.Identifier{s.schema, c.table}.Sanitize()), c.table, ranges-1)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[RangeDigest])
}

// rows returns the values of the rows in some ranges, by their keys.
func (c canonical) rows(ctx context.Context, s side, in []int64) (map[string][][]*string, error) {
	rows, err := s.tx.Query(ctx, fmt.Sprintf(`SELECT %s, ARRAY[%s]::text[] FROM %s WHERE %s = ANY($1::bigint[])`,
		c.keyText(), quoted(c.columns, "::text"), pgx.Identifier{s.schema, c.table}.Sanitize(), c.keyRange()), in)
	if err != nil {
		return nil, err
	}
	found := map[string][][]*string{}
	var key string
	var values []*string
	_, err = pgx.ForEachRow(rows, []any{&key, &values}, func() error {
		found[key] = append(found[key], values)
		values = nil
		return nil
	})
	return found, err
}

// Digest is a read model at a position.
type Digest struct {
	Position Position
	Ranges   []RangeDigest // of all tables, those without rows left out
}

// Digest returns the digest of the read model, with a number of ranges for each table. It
// is that at a position if one is given: p projects a read model beside the live one up to
// there, and of the live one it waits until it is there.
func (p *Projector) Digest(ctx context.Context, at Position, ranges int) (d Digest, err error) {
	exists, err := p.check(ctx, p.Pool)
	if err == nil && !exists {
		err = fmt.Errorf("there is no read model %s", p.Schema)
	}
	if err != nil {
		return d, err
	}
	tx, reached, err := p.snapshotAt(ctx, at)
	if err != nil {
		return d, err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // it only reads
	d.Position = reached
	tables, err := listTables(ctx, tx, p.Schema)
	if err != nil {
		return d, err
	}
	for _, name := range tables {
		table, err := describeTable(ctx, tx, p.Schema, name)
		if err != nil {
			return d, err
		}
		digests, err := table.digests(ctx, side{tx, p.Schema}, ranges)
		if err != nil {
			return d, fmt.Errorf("digest table %s: %w", name, err)
		}
		d.Ranges = append(d.Ranges, digests...)
	}
	return d, nil
}

// snapshotAt returns a snapshot of the read model, at a position if one is given.
func (p *Projector) snapshotAt(ctx context.Context, at Position) (pgx.Tx, Position, error) {
	if at == nil {
		return p.snapshot(ctx, p.Pool, p.Schema)
	}
	if !p.isLive() {
		lock, err := p.waitLock(ctx)
		if err != nil {
			return nil, nil, err
		}
		defer lock.release(ctx)
		now, err := readPosition(ctx, p.Pool, p.Schema)
		if err != nil {
			return nil, nil, err
		}
		if !at.reaches(now) {
			return nil, nil, fmt.Errorf("%s is at %s, beyond %s", p.Schema, now, at)
		}
		if err := p.projectTo(ctx, at); err != nil {
			return nil, nil, err
		}
	}
	return p.awaitSnapshot(ctx, at)
}

// awaitSnapshot returns a snapshot of the read model at the position.
func (p *Projector) awaitSnapshot(ctx context.Context, at Position) (tx pgx.Tx, now Position, err error) {
	err = poll(ctx, func() (bool, error) {
		tx, now, err = p.snapshot(ctx, p.Pool, p.Schema)
		if err != nil {
			return false, err
		}
		if now.reaches(at) && at.reaches(now) {
			return true, nil
		}
		tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // it only read
		if !at.reaches(now) {
			return false, fmt.Errorf("%s is at %s, beyond %s: rebuild a read model and digest that", p.Schema, now, at)
		}
		return false, nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("wait for the position %s: %w", at, err)
	}
	return tx, now, nil
}
