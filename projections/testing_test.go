package projections_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/infra/columns"
	"netsim/internal/teststack"
	"netsim/projections"
)

// readModel is a read model. It applies facts as the projector does.
type readModel struct {
	db          *pgx.Conn
	projections []projections.Projection
}

// connect returns a connection to a new database.
func connect(t *testing.T) *pgx.Conn {
	t.Helper()
	db, err := pgx.Connect(t.Context(), teststack.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close(context.WithoutCancel(t.Context())) })
	return db
}

// newReadModel creates the tables in a new schema, which becomes the first of the
// search path.
func newReadModel(ctx context.Context, db *pgx.Conn, schema string, parts ...projections.Projection) (*readModel, error) {
	m := &readModel{db, parts}
	name := pgx.Identifier{schema}.Sanitize()
	if _, err := db.Exec(ctx, fmt.Sprintf("CREATE SCHEMA %s; SET search_path = %s, netsim", name, name)); err != nil {
		return nil, err
	}
	for _, p := range parts {
		if _, err := db.Exec(ctx, p.Schema()); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// apply applies one batch in one transaction.
func (m *readModel) apply(ctx context.Context, facts ...events.Fact) error {
	reads, writes := &pgx.Batch{}, &columns.Writes{}
	for _, p := range m.projections {
		p.Load(reads, facts)
	}
	if err := m.db.SendBatch(ctx, reads).Close(); err != nil {
		return fmt.Errorf("load: %w", err)
	}
	for _, p := range m.projections {
		if err := p.Apply(writes, facts); err != nil {
			return err
		}
	}
	return writes.Send(ctx, m.db)
}

// forget drops the cached rows of the projections, as a restart does.
func (m *readModel) forget() {
	for _, p := range m.projections {
		p.Forget()
	}
}

// empty removes all rows and cached rows.
func (m *readModel) empty(ctx context.Context, tables ...string) error {
	m.forget()
	for _, table := range tables {
		if _, err := m.db.Exec(ctx, "DELETE FROM "+table); err != nil {
			return err
		}
	}
	return nil
}

// dump returns all rows of each table as sorted texts.
func (m *readModel) dump(ctx context.Context, tables ...string) (map[string][]string, error) {
	out := map[string][]string{}
	for _, table := range tables {
		rows, err := m.db.Query(ctx, fmt.Sprintf(`SELECT t::text FROM %s AS t ORDER BY t::text COLLATE "C"`, table))
		if err != nil {
			return nil, err
		}
		if out[table], err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
