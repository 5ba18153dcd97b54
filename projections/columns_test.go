package projections_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

	"netsim/projections"
)

// TestStructsMatchTheirTables: the .sql file and the struct of a row agree on the
// name and the type of each column and on whether it can be null.
func TestStructsMatchTheirTables(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	m, err := newReadModel(ctx, connect(t), "readmodel", projections.All()...)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := m.db.Query(ctx, `
		SELECT c.relname, format('%s %s%s', '"' || a.attname || '"', y.typname, CASE WHEN a.attnotnull THEN ' NOT NULL' END)
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND a.attgenerated = '' JOIN pg_type y ON y.oid = a.atttypid
		WHERE c.relkind = 'r' AND c.relnamespace = 'readmodel'::regnamespace`)
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string][]string{}
	var table, column string
	if _, err := pgx.ForEachRow(rows, []any{&table, &column}, func() error {
		tables[table] = append(tables[table], column)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	// PostgreSQL computes these sums; they have no row struct.
	delete(tables, "balances")
	delete(tables, "cost_totals")
	structs := projections.Definitions()
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		if diff := cmp.Diff(tables[table], structs[table], cmpopts.SortSlices(func(a, b string) bool { return a < b })); diff != "" {
			t.Errorf("table %s (-.sql +struct):\n%s", table, diff)
		}
	}
	for table := range structs {
		if tables[table] == nil {
			t.Errorf("a struct describes table %s, which does not exist", table)
		}
	}
}
