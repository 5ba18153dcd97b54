package lake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"netsim/events"
	"netsim/stream/tables"
)

// catalog is what a writer knows of the catalogue.
type catalog struct {
	dataPath string // with a slash at its end
	tables   map[events.Family]*tableEntry
	at       map[source]int64 // the first offset that is not in the lake
	anchors  anchors          // in which log
}

// tableEntry is a table in the catalogue.
type tableEntry struct {
	*tables.Table
	id int64
}

// folder is the table's folder below the data path.
func (t *tableEntry) folder() string { return "main/" + t.Name + "/" }

// source is a partition of the log.
type source struct {
	family    events.Family
	partition int32
}

// open creates what the catalogue lacks: its tables, those of the facts, their
// columns and views. It returns what the writer needs to go on.
func (l *Lake) open(ctx context.Context) (*catalog, error) {
	c := &catalog{tables: map[events.Family]*tableEntry{}, at: map[source]int64{}, anchors: anchors{of: map[source]events.Anchor{}}}
	err := again(ctx, func() error {
		return pgx.BeginFunc(ctx, l.Pool, func(tx pgx.Tx) error {
			if err := l.bootstrap(ctx, tx); err != nil {
				return err
			}
			if err := tx.QueryRow(ctx, `SELECT value FROM lake.ducklake_metadata WHERE key = 'data_path' AND scope IS NULL`).Scan(&c.dataPath); err != nil {
				return fmt.Errorf("read the path of the data: %w", err)
			}
			if _, err := l.key(c.dataPath, ""); err != nil {
				return err
			}
			if err := grow(ctx, tx, c, l.tables); err != nil {
				return err
			}
			return l.positions(ctx, tx, c)
		})
	})
	if err != nil {
		return nil, fmt.Errorf("open the catalogue of the lake: %w", err)
	}
	return c, c.anchors.open(ctx, l.EventLog)
}

// Create creates the catalogue unless it exists. Run does it too.
func (l *Lake) Create(ctx context.Context) error {
	err := again(ctx, func() error {
		return pgx.BeginFunc(ctx, l.Pool, func(tx pgx.Tx) error { return l.bootstrap(ctx, tx) })
	})
	if err != nil {
		return fmt.Errorf("create the catalogue of the lake: %w", err)
	}
	return nil
}

// bootstrap creates the catalogue unless it exists. Each new one has a folder of its
// own for its files.
func (l *Lake) bootstrap(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtext('create schema lake'))"); err != nil {
		return err
	}
	var exists, whole bool
	err := tx.QueryRow(ctx, `SELECT to_regclass('lake.netsim_upload') IS NOT NULL, to_regclass('lake.netsim_iceberg') IS NOT NULL AND EXISTS (
		SELECT FROM pg_attribute WHERE attrelid = to_regclass('lake.netsim_position') AND attname = 'anchor')`).Scan(&exists, &whole)
	if err != nil || exists && whole {
		return err
	}
	tables, _, _ := strings.Cut(icebergSQL, "\n-- name: ")
	if _, err := tx.Exec(ctx, catalogSQL+tables); err != nil || exists {
		return err
	}
	_, err = tx.Exec(ctx, bootstrapSQL, fmt.Sprintf("s3://%s/%s%s/", l.Bucket, Folder, newName()))
	return err
}

// growth is what the catalogue lacks.
type growth struct {
	snapshot    int64 // that adds it; 0 before there is one
	version     int64 // of the schema
	newTables   []*tableEntry
	tables      []int64 // the new and changed ones
	columnTable []int64
	columns     []int64
	names       []string
	types       []string
	endedViews  []int64
	views       []view
	created     []int64 // ids of new tables and views
	changes     []string
}

// grow adds what the catalogue lacks in one snapshot.
func grow(ctx context.Context, tx pgx.Tx, c *catalog, all []*tables.Table) error {
	g, err := compare(ctx, tx, c, all)
	if err == nil && len(g.tables)+len(g.views) > 0 {
		err = g.write(ctx, tx)
	}
	if err == nil {
		err = g.comment(ctx, tx, all)
	}
	if err != nil || g.snapshot == 0 {
		return err
	}
	_, err = tx.Exec(ctx, statement(growSQL, "changes"), g.snapshot, strings.Join(g.changes, ","))
	return err
}

// begin takes the snapshot with room for new entries, and returns the id of the first.
func (g *growth) begin(ctx context.Context, tx pgx.Tx, entries int) (first int64, err error) {
	err = tx.QueryRow(ctx, statement(growSQL, "snapshot"), entries).Scan(&g.snapshot, &g.version, &first)
	return first, err
}

// write adds tables, columns and views.
func (g *growth) write(ctx context.Context, tx pgx.Tx) error {
	first, err := g.begin(ctx, tx, len(g.newTables)+len(g.views))
	if err != nil {
		return err
	}
	var ids []int64
	var names []string
	for _, t := range g.newTables {
		t.id = first
		first++
		ids, names = append(ids, t.id), append(names, t.Name)
		g.tables = append(g.tables, t.id)
		g.changes = append(g.changes, fmt.Sprintf(`created_table:"main"."%s"`, t.Name))
		for _, column := range t.Columns {
			g.add(t, column)
		}
	}
	g.tables = slices.DeleteFunc(g.tables, func(id int64) bool { return id == 0 })
	b := &pgx.Batch{}
	b.Queue(statement(growSQL, "add_tables"), g.snapshot, ids, names)
	b.Queue(statement(growSQL, "add_columns"), g.snapshot, g.columnTable, g.columns, g.names, g.types)
	b.Queue(statement(growSQL, "empty_columns"), g.columnTable, g.columns)
	b.Queue(statement(growSQL, "versions"), g.snapshot, g.version, g.tables)
	b.Queue(statement(growSQL, "end_views"), g.snapshot, g.endedViews)
	b.Queue(statement(growSQL, "end_comments"), g.snapshot, g.endedViews)
	var viewIDs []int64
	var viewNames, queries []string
	for _, v := range g.views {
		viewIDs, viewNames, queries = append(viewIDs, first), append(viewNames, v.name), append(queries, v.sql)
		first++
		g.changes = append(g.changes, fmt.Sprintf(`created_view:"main"."%s"`, v.name))
	}
	b.Queue(statement(growSQL, "add_views"), g.snapshot, viewIDs, viewNames, queries)
	g.created = slices.Concat(ids, viewIDs)
	return tx.SendBatch(ctx, b).Close()
}

// add adds a column to a table.
func (g *growth) add(t *tableEntry, c tables.Column) {
	g.columnTable, g.columns = append(g.columnTable, t.id), append(g.columns, int64(c.ID))
	g.names, g.types = append(g.names, c.Name), append(g.types, typeOf(c.Type))
}

// compare finds what the catalogue lacks, and the ids of its tables.
func compare(ctx context.Context, tx pgx.Tx, c *catalog, all []*tables.Table) (*growth, error) {
	ids := map[string]int64{}
	columns := map[int64]map[int64]string{}
	type viewRow struct {
		ID   int64
		Name string
		SQL  string
	}
	views := map[string]viewRow{}
	b := &pgx.Batch{}
	b.Queue(statement(growSQL, "tables")).Query(func(rows pgx.Rows) error {
		var id int64
		var name string
		_, err := pgx.ForEachRow(rows, []any{&id, &name}, func() error { ids[name] = id; return nil })
		return err
	})
	b.Queue(statement(growSQL, "columns")).Query(func(rows pgx.Rows) error {
		var table, id int64
		var name string
		_, err := pgx.ForEachRow(rows, []any{&table, &id, &name}, func() error {
			if columns[table] == nil {
				columns[table] = map[int64]string{}
			}
			columns[table][id] = name
			return nil
		})
		return err
	})
	b.Queue(statement(growSQL, "views")).Query(func(rows pgx.Rows) error {
		var v viewRow
		_, err := pgx.ForEachRow(rows, []any{&v.ID, &v.Name, &v.SQL}, func() error { views[v.Name] = v; return nil })
		return err
	})
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return nil, err
	}
	g := &growth{}
	for _, t := range all {
		e := &tableEntry{Table: t, id: ids[t.Name]}
		c.tables[t.Family] = e
		if e.id == 0 {
			g.newTables, g.tables = append(g.newTables, e), append(g.tables, 0)
			continue
		}
		changed := false
		for _, column := range t.Columns {
			switch name, exists := columns[e.id][int64(column.ID)]; {
			case !exists:
				g.add(e, column)
				changed = true
			case name != column.Name:
				return nil, fmt.Errorf("the column %d of the table %s is %s in the catalogue and %s in this release", column.ID, t.Name, name, column.Name)
			}
		}
		if changed {
			g.tables = append(g.tables, e.id)
			g.changes = append(g.changes, fmt.Sprintf("altered_table:%d", e.id))
		}
	}
	for _, v := range allViews(all) {
		was, exists := views[v.name]
		if exists && was.SQL == v.sql {
			continue
		}
		if exists {
			g.endedViews = append(g.endedViews, was.ID)
			g.changes = append(g.changes, fmt.Sprintf("dropped_view:%d", was.ID))
		}
		g.views = append(g.views, v)
	}
	return g, nil
}

// positions reads the positions, and begins at offset 0 in new partitions.
func (l *Lake) positions(ctx context.Context, tx pgx.Tx, c *catalog) error {
	var families []string
	var partitions []int32
	for family, n := range l.Partitions {
		if c.tables[family] == nil {
			return fmt.Errorf("the family %s has no table", family)
		}
		for i := range n {
			families, partitions = append(families, string(family)), append(partitions, i)
		}
	}
	b := &pgx.Batch{}
	b.Queue(statement(growSQL, "positions"), families, partitions)
	b.Queue(`SELECT family, partition, next, anchor FROM lake.netsim_position`).Query(func(rows pgx.Rows) error {
		var s source
		var next int64
		var anchor string
		_, err := pgx.ForEachRow(rows, []any{&s.family, &s.partition, &next, &anchor}, func() (err error) {
			if s.partition < l.Partitions[s.family] {
				c.at[s] = next
				c.anchors.of[s], err = events.ParseAnchor(anchor)
			}
			return err
		})
		return err
	})
	return tx.SendBatch(ctx, b).Close()
}

// typeOf returns DuckLake's name of a type.
func typeOf(t tables.Type) string {
	switch t {
	case tables.Text, tables.JSON:
		return "varchar"
	case tables.Integer:
		return "int64"
	case tables.Boolean:
		return "boolean"
	case tables.Timestamp:
		return "timestamptz"
	case tables.Date:
		return "date"
	case tables.Decimal:
		return fmt.Sprintf("decimal(%d,%d)", tables.Precision, tables.Scale)
	}
	panic("lake: no such type: " + string(t))
}

// attempts bounds how often a transaction is repeated because another writer has
// taken its snapshot.
const attempts = 20

// again repeats a transaction while another writer takes its snapshot.
func again(ctx context.Context, commit func() error) error {
	var err error
	for range attempts {
		if err = commit(); !taken(err) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// taken reports whether the error says that another writer has taken the snapshot.
func taken(err error) bool {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (cmp.Compare(refused.Code, "23505") == 0 && refused.TableName == "ducklake_snapshot" || refused.Code == "40001")
}
