package projections

import (
	"fmt"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/infra/columns"
	"netsim/infra/recent"
)

// table is a projection in which each row is a fold of facts. A batch of facts
// costs one query for the rows that are not cached, and one or two writing
// statements. Many new rows are written by COPY.
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
	// appends says that each row has one fact, so that no row is read again.
	appends bool

	rows  recent.Cache[string, *entry[R]] // by key
	bytes int                             // of the rows
}

// entry is a row in the cache.
type entry[R any] struct {
	row     *R   // nil when there is none
	touched bool // whether the current batch has touched it
	begins  bool // whether there was no row before the batch
	before  *R   // the row before the batch, if apply was asked for it
	size    int  // of the row when it was first touched, in bytes
}

// cachedRows bounds the rows in a generation of a table's cache.
const cachedRows = 10_000

// Schema implements Projection.
func (t *table[R]) Schema() string { return schema(t.file) }

// Load implements Projection. The rows of a batch stay in the cache at least until
// the end of the next batch, whose rows can be loaded before this one is committed.
func (t *table[R]) Load(reads *pgx.Batch, facts []events.Fact) {
	keep := cachedRows
	if t.appends {
		keep = 0
	}
	for _, dropped := range t.rows.Turn(keep) {
		t.bytes -= dropped.size
	}
	var missing []string
	for i := range facts {
		f := &facts[i]
		key := t.keyOf(f)
		if key == "" {
			continue
		}
		if _, cached := t.rows.Get(key); cached {
			continue
		}
		t.rows.Put(key, &entry[R]{})
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
				t.rows.Put(t.columns.KeyOf(r), &entry[R]{row: r})
			}
			return rows.Err()
		})
}

// Apply implements Projection.
func (t *table[R]) Apply(writes *columns.Writes, facts []events.Fact) error {
	t.apply(writes, facts, nil)
	return nil
}

// Forget implements Projection.
func (t *table[R]) Forget() { t.rows, t.bytes = recent.Cache[string, *entry[R]]{}, 0 }

// Cached implements projector.Cache.
func (t *table[R]) Cached() (rows, bytes int) { return t.rows.Len(), t.bytes }

// apply folds the facts and queues the write of every touched row. If changed is
// not nil, it is called with each touched row before and after the batch; before is
// nil for a new row.
func (t *table[R]) apply(writes *columns.Writes, facts []events.Fact, changed func(before, after *R)) {
	var touched []*entry[R]
	for i := range facts {
		f := &facts[i]
		key := t.keyOf(f)
		if key == "" {
			continue
		}
		e, _ := t.rows.Get(key) // present since Load
		if !e.touched {
			touched = append(touched, e)
			e.touched, e.begins = true, e.row == nil
			if e.begins {
				e.row = new(R)
			} else if changed != nil {
				was := *e.row
				e.before = &was
			}
		}
		t.fold(e.row, f)
	}
	if len(touched) == 0 {
		return
	}
	var begun, updated []*R
	for _, e := range touched {
		if e.begins {
			begun = append(begun, e.row)
		} else {
			updated = append(updated, e.row)
		}
		if changed != nil {
			changed(e.before, e.row)
		}
		e.touched, e.before = false, nil
		if e.size == 0 {
			e.size = t.columns.Size(e.row)
			t.bytes += e.size
		}
	}
	if t.insertsNew {
		t.columns.Begin(writes, t.name, begun)
		begun = nil
	}
	t.columns.Upsert(writes, t.name, begun, updated, t.columns.Overwrite(1))
}
