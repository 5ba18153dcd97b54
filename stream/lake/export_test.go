//go:build tools

package lake

import (
	"context"
	"slices"

	"netsim/stream/tables"
)

// SetHook makes the lake call f at each step of its protocol. An error ends the
// attempt there, as the end of the process would.
func (l *Lake) SetHook(f func(step string) error) { l.hook = f }

// Tidy merges and deletes once, as the holder of the lease with the epoch.
func (l *Lake) Tidy(ctx context.Context, epoch int64) error {
	c, err := l.open(ctx)
	if err != nil {
		return err
	}
	return (&writer{Lake: l, catalog: c, epoch: epoch}).tidy(ctx)
}

// LaterRelease makes the lake that of a release whose table of workspaces has another
// column, which no event has yet.
func (l *Lake) LaterRelease() {
	l.tables = slices.Clone(l.tables)
	for i, t := range l.tables {
		if t.Name == "workspaces" {
			later := *t
			later.Columns = append(slices.Clone(t.Columns), tables.Column{
				ID: int32(len(t.Columns) + 1), Name: "later", Type: tables.Integer, Nullable: true,
				Events: []string{"netsim.workspace.created.v1"},
			})
			l.tables[i] = &later
		}
	}
}

// ViewColumns returns the names of each view's columns, as its description lists them.
func ViewColumns() map[string][]string {
	all := map[string][]string{}
	for _, v := range allViews(tables.All()) {
		for _, c := range v.columns {
			all[v.name] = append(all[v.name], c.name)
		}
	}
	return all
}
