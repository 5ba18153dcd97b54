//go:build faketime

package dst

import (
	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/infra/columns"
)

// views is the projection of the simulation: the name of each workspace, and how many
// facts were applied to it. The number is added to, so a fact that is applied twice or
// not at all shows.
type views struct{}

// A view is a row of views.
type view struct {
	Stream   string
	Sequence int64
	Name     string
	Changes  int64
}

var viewColumns = columns.Of[view]()

// Schema implements projector.Projection.
func (views) Schema() string {
	return `CREATE TABLE views (stream text PRIMARY KEY, sequence bigint NOT NULL, name text NOT NULL, changes bigint NOT NULL);`
}

// Load implements projector.Projection.
func (views) Load(*pgx.Batch, []events.Fact) {}

// Forget implements projector.Projection.
func (views) Forget() {}

// Apply implements projector.Projection.
func (views) Apply(writes *columns.Writes, facts []events.Fact) error {
	rows := map[string]*view{}
	var order []*view
	for i := range facts {
		f := &facts[i]
		name, ok := nameIn(f.Data)
		if !ok {
			continue
		}
		v := rows[f.Stream]
		if v == nil {
			v = &view{Stream: f.Stream}
			rows[f.Stream], order = v, append(order, v)
		}
		v.Sequence, v.Name = f.Sequence, name
		v.Changes++
	}
	viewColumns.Insert(writes, `"readmodel".views AS v`, order,
		`ON CONFLICT (stream) DO UPDATE SET sequence = excluded.sequence, name = excluded.name, changes = v.changes + excluded.changes`)
	return nil
}

func nameIn(d events.Data) (string, bool) {
	switch d := d.(type) {
	case events.WorkspaceCreated:
		return d.Name, true
	case events.WorkspaceUpdated:
		return d.Name, true
	}
	return "", false
}

// viewStatements are the statements of the projection and of its readers.
func viewStatements() []statement {
	return []statement{
		{"INSERT INTO views AS v", []uint32{texts, int8s, texts, int8s}, nil, "INSERT 0 %d", func(c *call) error {
			streams, sequences, names, changes := get[[]string](c, 0), get[[]int64](c, 1), get[[]string](c, 2), get[[]int64](c, 3)
			t := c.session.d.tables
			for i, id := range streams {
				put(c, t.views, id, viewRow{sequences[i], names[i], t.views[id].changes + changes[i]})
			}
			return nil
		}},
		{"SELECT sequence, name, changes FROM views WHERE stream = $1", []uint32{text}, []uint32{int8, text, int8}, "SELECT %d", func(c *call) error {
			if v, ok := c.session.d.tables.views[get[string](c, 0)]; ok {
				c.row(v.sequence, v.name, v.changes)
			}
			return nil
		}},
	}
}
