package projector_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"netsim/infra/projector"
	"netsim/internal/teststack"
	"netsim/internal/testworld"
)

// twoModels returns two processes with a database each, on one log with data of every
// type. The second database has other settings, and got the facts one by one.
func twoModels(t *testing.T) (a, b stack) {
	t.Helper()
	a = newStack(t)
	a.appendCorpus(t, 0)
	at := a.Servers
	at.Database = teststack.Postgres(t)
	b = stack{at.Connect(t)}
	for _, setting := range []string{"timezone = 'Asia/Tokyo'", "datestyle = 'SQL, DMY'", "bytea_output = 'escape'", "extra_float_digits = 0", "intervalstyle = 'sql_standard'"} {
		if _, err := b.DB.Exec(t.Context(), `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET `+strings.ReplaceAll(setting, "'", "''")+`', current_database()); END $$`); err != nil {
			t.Fatal(err)
		}
	}
	b.projectUntil(t, a.position(t))
	return a, b
}

// position is the position of the live read model.
func (s stack) position(t *testing.T) projector.Position {
	t.Helper()
	at, err := projector.ReadPosition(t.Context(), s.DB)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestDigestsNameTheChangedValue: read models in two databases have equal digests at a
// position. When one value of one of them is changed, the comparison names its table and
// column, and nothing else. Values are drawn at random.
func TestDigestsNameTheChangedValue(t *testing.T) {
	t.Parallel()
	a, b := twoModels(t)
	at := a.position(t)
	mine, theirs := a.Projector(a.DB, projector.Live), b.Projector(b.DB, projector.Live)
	compare := func() []projector.Difference {
		c, err := theirs.DiffWith(t.Context(), a.DB)
		if err != nil {
			t.Fatal(err)
		}
		return c.Differences
	}
	digest := func(p *projector.Projector) projector.Digest {
		d, err := p.Digest(t.Context(), at, 16)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if diff := cmp.Diff(digest(mine).Ranges, digest(theirs).Ranges); diff != "" {
		t.Errorf("the digests differ:\n%s", diff)
	}
	if found := compare(); len(found) > 0 {
		t.Errorf("the read models differ: %+v", found)
	}
	columns := changeable(t, b)
	random := testworld.Random(t)
	random.Shuffle(len(columns), func(i, j int) { columns[i], columns[j] = columns[j], columns[i] })
	changed := 0
	for _, c := range columns {
		if changed == 10 {
			break
		}
		row := c.change(t, b, c.forward, "")
		if row == "" {
			continue // no row has a value, or a constraint refuses the other one
		}
		changed++
		found := compare()
		if len(found) != 1 || found[0].Table != c.table || found[0].OnlyA != 1 || found[0].OnlyB != 1 || !c.key && !strings.Contains(found[0].Row, " "+c.column+" ") {
			t.Errorf("%s.%s was changed, but the comparison finds %+v", c.table, c.column, found)
		}
		if cmp.Equal(digest(mine).Ranges, digest(theirs).Ranges) {
			t.Errorf("%s.%s was changed, but the digests are equal", c.table, c.column)
		}
		if c.change(t, b, c.back, row) == "" {
			t.Fatalf("%s.%s cannot be changed back", c.table, c.column)
		}
	}
	if changed < 10 {
		t.Errorf("%d values were changed, want 10", changed)
	}
}

// changeableColumn is a column whose values the test can change, and change back.
type changeableColumn struct {
	table, column string
	forward, back string // SQL expressions
	key           bool   // of the primary key, or of a table that has none: its whole rows are compared
}

// changeable returns the columns of the read model in one order.
func changeable(t *testing.T, s stack) []changeableColumn {
	t.Helper()
	rows, err := s.DB.Query(t.Context(), `
		SELECT t.relname::text, a.attname::text, format_type(a.atttypid, NULL),
			EXISTS (SELECT FROM pg_index i WHERE i.indrelid = t.oid AND i.indisprimary AND a.attnum = ANY(i.indkey)) OR
			NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = t.oid AND i.indisprimary)
		FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
		WHERE t.relnamespace = 'readmodel'::regnamespace AND t.relkind = 'r' AND t.relname NOT IN ('offsets', 'log')
		ORDER BY 1, 2`)
	if err != nil {
		t.Fatal(err)
	}
	var all []changeableColumn
	var c changeableColumn
	var kind string
	_, err = pgx.ForEachRow(rows, []any{&c.table, &c.column, &kind, &c.key}, func() error {
		quoted := pgx.Identifier{c.column}.Sanitize()
		switch kind {
		case "text":
			c.forward, c.back = quoted+` || 'x'`, `left(`+quoted+`, -1)`
		case "integer", "bigint", "numeric":
			c.forward, c.back = quoted+` + 1`, quoted+` - 1`
		case "boolean":
			c.forward, c.back = `NOT `+quoted, `NOT `+quoted
		case "timestamp with time zone":
			c.forward, c.back = quoted+` + interval '1 microsecond'`, quoted+` - interval '1 microsecond'`
		default:
			return nil
		}
		all = append(all, c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// change changes a value of the row at, the one that was written last when at is "". It
// returns where the row is now, "" if nothing was changed.
func (c changeableColumn) change(t *testing.T, s stack, to, at string) (now string) {
	t.Helper()
	table, column := pgx.Identifier{"readmodel", c.table}.Sanitize(), pgx.Identifier{c.column}.Sanitize()
	err := s.DB.QueryRow(t.Context(), fmt.Sprintf(
		`UPDATE %[1]s SET %[2]s = %[3]s WHERE ctid = coalesce(nullif($1, '')::tid, (SELECT max(ctid) FROM %[1]s WHERE %[2]s IS NOT NULL))
		RETURNING ctid::text`, table, column, to), at).Scan(&now)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		t.Logf("%s.%s is not changed: %v", c.table, c.column, err) // a constraint refuses it
	}
	return now
}

// projectUntil projects into the live read model, fact by fact, until it is at the
// position.
func (s stack) projectUntil(t *testing.T, to projector.Position) {
	t.Helper()
	testworld.Running(t, s.Projector(s.DB, projector.Live, func(c *projector.Config) { c.BatchSize = 1 }).Run)
	testworld.Await(t, func() bool { return s.position(t).Reaches(to) })
}
