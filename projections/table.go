package projections

import (
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/events"
)

// table is a read model whose rows are each a fold of facts. A batch of facts
// costs it one read of the rows that it does not have at hand, and one write.
type table[R any] struct {
	name    string // of the SQL table
	columns []column[R]
	keys    int                         // how many of the first columns are the primary key
	keyOf   func(f *events.Fact) string // the row that a fact belongs to; "" for none
	first   func(f *events.Fact) bool   // whether the fact begins its row, so that there is nothing to read
	key     func(r *R) string           // as keyOf, of a row
	fold    func(r *R, f *events.Fact)  // applies a fact to its row
	// born says that a row which is neither at hand nor in the table is new, so
	// that it is inserted without a look at what it might overwrite.
	born bool

	rows map[string]*R
}

// column is one column of a table: its name, its SQL type and where it lies in
// a row.
type column[R any] struct {
	name, kind string
	field      func(r *R) any // a pointer to the field
}

// maxCachedRows bounds the rows that a table keeps between batches.
const maxCachedRows = 20_000

func (t *table[R]) forget() { t.rows = nil }

// load queues the read of the rows that the facts belong to.
func (t *table[R]) load(reads *pgx.Batch, facts []events.Fact) {
	if t.rows == nil || len(t.rows) > maxCachedRows {
		t.rows = map[string]*R{}
	}
	var missing []string
	for i := range facts {
		f := &facts[i]
		key := t.keyOf(f)
		if key == "" {
			continue
		}
		if _, have := t.rows[key]; have {
			continue
		}
		t.rows[key] = nil
		if !t.first(f) {
			missing = append(missing, key)
		}
	}
	if len(missing) == 0 {
		return
	}
	reads.Queue(fmt.Sprintf(`SELECT %s FROM %s WHERE %s::text = ANY($1)`,
		t.list(""), t.name, t.columns[0].name), missing).
		Query(func(rows pgx.Rows) error {
			for rows.Next() {
				r := new(R)
				if err := rows.Scan(t.pointers(r)...); err != nil {
					return err
				}
				t.rows[t.key(r)] = r
			}
			return rows.Err()
		})
}

// apply folds the facts and queues the write of the rows that they touched.
// changed, when not nil, is told of every row as it was, nil for a new one,
// and as it is.
func (t *table[R]) apply(writes *pgx.Batch, facts []events.Fact, changed func(before, after *R)) error {
	before := map[string]*R{}
	var touched []string
	for i := range facts {
		f := &facts[i]
		key := t.keyOf(f)
		if key == "" {
			continue
		}
		r := t.rows[key]
		if _, seen := before[key]; !seen {
			touched = append(touched, key)
			before[key] = nil
			if r != nil {
				was := *r
				before[key] = &was
			}
		}
		if r == nil {
			r = new(R)
			t.rows[key] = r
		}
		t.fold(r, f)
	}
	var fresh, known []*R
	for _, key := range touched {
		was, is := before[key], t.rows[key]
		if changed != nil {
			changed(was, is)
		}
		if was == nil && t.born {
			fresh = append(fresh, is)
		} else {
			known = append(known, is)
		}
	}
	if err := t.save(writes, fresh, ""); err != nil {
		return err
	}
	return t.save(writes, known, t.overwrite())
}

// overwrite is what happens to a row that is there.
func (t *table[R]) overwrite() string {
	keys, sets := make([]string, 0, t.keys), make([]string, 0, len(t.columns))
	for i, c := range t.columns {
		if i < t.keys {
			keys = append(keys, c.name)
		} else {
			sets = append(sets, c.name+" = excluded."+c.name)
		}
	}
	if len(sets) == 0 {
		return fmt.Sprintf("ON CONFLICT (%s) DO NOTHING", strings.Join(keys, ", "))
	}
	return fmt.Sprintf("ON CONFLICT (%s) DO UPDATE SET %s", strings.Join(keys, ", "), strings.Join(sets, ", "))
}

// save queues one statement that writes the rows.
func (t *table[R]) save(writes *pgx.Batch, rows []*R, conflict string) error {
	if len(rows) == 0 {
		return nil
	}
	args := make([]any, len(t.columns))
	arrays := make([]string, len(t.columns))
	for i, c := range t.columns {
		array, err := c.array(rows)
		if err != nil {
			return fmt.Errorf("table %s: %w", t.name, err)
		}
		args[i] = array
		arrays[i] = fmt.Sprintf("$%d::%s[]", i+1, c.kind)
	}
	writes.Queue(fmt.Sprintf(`INSERT INTO %s (%s) SELECT * FROM unnest(%s) %s`,
		t.name, t.list(""), strings.Join(arrays, ", "), conflict), args...)
	return nil
}

func (t *table[R]) list(prefix string) string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = prefix + c.name
	}
	return strings.Join(names, ", ")
}

func (t *table[R]) pointers(r *R) []any {
	out := make([]any, len(t.columns))
	for i, c := range t.columns {
		out[i] = c.field(r)
	}
	return out
}

// array gathers the column of all rows.
func (c column[R]) array(rows []*R) (any, error) {
	switch c.field(rows[0]).(type) {
	case *string:
		return arrayOf[string](rows, c.field), nil
	case *int64:
		return arrayOf[int64](rows, c.field), nil
	case *bool:
		return arrayOf[bool](rows, c.field), nil
	case *time.Time:
		return arrayOf[time.Time](rows, c.field), nil
	case **time.Time:
		return arrayOf[*time.Time](rows, c.field), nil
	case **string:
		return arrayOf[*string](rows, c.field), nil
	case **int64:
		return arrayOf[*int64](rows, c.field), nil
	case *[]byte:
		return arrayOf[[]byte](rows, c.field), nil
	}
	return nil, fmt.Errorf("column %s has a type that no array is made of", c.name)
}

func arrayOf[T, R any](rows []*R, field func(*R) any) []T {
	out := make([]T, len(rows))
	for i, r := range rows {
		out[i] = *field(r).(*T)
	}
	return out
}
