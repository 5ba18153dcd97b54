package projections

import (
	"fmt"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/internal/columns"
)

// table is a projection in which each row is a fold of facts. A batch of facts
// costs one query for the rows that are not cached, and one or two writing
// statements.
type table[R any] struct {
	name    string                      // of the SQL table
	file    string                      // of its DDL
	columns columns.Columns[R]          // the first is the primary key
	keyOf   func(f *events.Fact) string // the key of the row that a fact belongs to; "" for none
	first   func(f *events.Fact) bool   // whether the fact begins its row, so that there is nothing to read
	fold    func(r *R, f *events.Fact)  // applies a fact to its row
	// insertsNew says that a row which is neither cached nor in the table is
	// inserted without an ON CONFLICT clause.
	insertsNew bool

	rows map[string]*R // cached, by key; nil for a row that does not exist
}

// maxCachedRows bounds the rows that a table keeps between batches.
const maxCachedRows = 20_000

// Schema implements Projection.
func (t *table[R]) Schema() string { return schema(t.file) }

// Load implements Projection.
func (t *table[R]) Load(reads *pgx.Batch, facts []events.Fact) {
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
		if _, cached := t.rows[key]; cached {
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
		t.columns.List(""), t.name, t.columns.Key()), missing).
		Query(func(rows pgx.Rows) error {
			for rows.Next() {
				r := new(R)
				if err := rows.Scan(t.columns.Pointers(r)...); err != nil {
					return err
				}
				t.rows[t.columns.KeyOf(r)] = r
			}
			return rows.Err()
		})
}

// Apply implements Projection.
func (t *table[R]) Apply(writes *pgx.Batch, facts []events.Fact) error {
	t.apply(writes, facts, nil)
	return nil
}

// Forget implements Projection.
func (t *table[R]) Forget() { t.rows = nil }

// apply folds the facts and queues the write of every touched row. If changed is
// not nil, it is called with each touched row before the batch, nil for a new
// row, and after it.
func (t *table[R]) apply(writes *pgx.Batch, facts []events.Fact, changed func(before, after *R)) {
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
	var inserted, upserted []*R
	for _, key := range touched {
		was, is := before[key], t.rows[key]
		if changed != nil {
			changed(was, is)
		}
		if was == nil && t.insertsNew {
			inserted = append(inserted, is)
		} else {
			upserted = append(upserted, is)
		}
	}
	t.columns.Insert(writes, t.name, inserted, "")
	t.columns.Insert(writes, t.name, upserted, t.columns.Overwrite(1))
}
