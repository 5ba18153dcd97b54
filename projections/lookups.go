package projections

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"netsim/fault"
	"netsim/infra/gather"
)

// Lookups reads single rows. It batches the reads of concurrent requests into few
// queries, because under load these reads were most of the database's work.
type Lookups struct {
	workspaces     gather.Gather[string, Workspace]
	counts         gather.Gather[countKey, WorkspaceStats]
	simulations    gather.Gather[string, owned[Simulation]]
	configurations gather.Gather[string, owned[Configuration]]

	route func(context.Context) *Lookups // of another database for a request; nil for none
}

// owned is a row of something that a workspace owns.
type owned[R any] struct {
	row  R
	live bool // whether the workspace is neither deleted nor being deleted
}

// NewLookups returns Lookups that read from db.
func NewLookups(db Reader) *Lookups {
	return &Lookups{
		workspaces:     gather.Gather[string, Workspace]{Query: rowsByID(db, &NewWorkspaces().table)},
		counts:         gather.Gather[countKey, WorkspaceStats]{Query: countsOf(db)},
		simulations:    gather.Gather[string, owned[Simulation]]{Query: ownedByID(db, &NewSimulations().table)},
		configurations: gather.Gather[string, owned[Configuration]]{Query: ownedByID(db, &NewConfigurations().table), MaxKeys: 16},
	}
}

// Routed makes l read a request's rows through the Lookups that route returns for it, if
// it returns one. It returns l.
func (l *Lookups) Routed(route func(context.Context) *Lookups) *Lookups {
	l.route = route
	return l
}

// of returns the Lookups for a request.
func (l *Lookups) of(ctx context.Context) *Lookups {
	if l.route != nil {
		if other := l.route(ctx); other != nil {
			return other
		}
	}
	return l
}

// Workspace reads a workspace in any state. It returns NotFound for a missing
// one.
func (l *Lookups) Workspace(ctx context.Context, id string) (Workspace, error) {
	return lookUp(ctx, &l.of(ctx).workspaces, "workspace", id)
}

// Simulation reads a simulation, deleted or not, and whether its workspace is
// live. It returns NotFound for a missing one.
func (l *Lookups) Simulation(ctx context.Context, id string) (s Simulation, live bool, err error) {
	found, err := lookUp(ctx, &l.of(ctx).simulations, "simulation", id)
	return found.row, found.live, err
}

// Configuration reads the current version of a configuration, deleted or not, and
// whether its workspace is live. It returns NotFound for a missing one.
func (l *Lookups) Configuration(ctx context.Context, id string) (c Configuration, live bool, err error) {
	found, err := lookUp(ctx, &l.of(ctx).configurations, "configuration", id)
	return found.row, found.live, err
}

// CountWorkspace counts the resources of an account in a workspace, of all
// accounts for "".
func (l *Lookups) CountWorkspace(ctx context.Context, id, account string) (WorkspaceStats, error) {
	stats, _, err := l.of(ctx).counts.Get(ctx, countKey{id, account})
	if err != nil {
		return stats, fmt.Errorf("count workspace %s: %w", id, err)
	}
	return stats, nil
}

func lookUp[R any](ctx context.Context, g *gather.Gather[string, R], what, id string) (R, error) {
	row, found, err := g.Get(ctx, id)
	switch {
	case err != nil:
		return row, fmt.Errorf("read %s %s: %w", what, id, err)
	case !found:
		return row, fault.Missing(what, id)
	}
	return row, nil
}

// rowsByID returns a query for a table's rows by their keys.
func rowsByID[R any](db Reader, t *table[R]) func(context.Context, []string) (map[string]R, error) {
	sql := fmt.Sprintf(`SELECT %s FROM %s WHERE %s = ANY($1)`, t.columns.List(""), t.name, t.columns.Key())
	return func(ctx context.Context, ids []string) (map[string]R, error) {
		rows, err := db.Query(ctx, sql, ids)
		found, err := collect(rows, err, t.columns.Scan)
		if err != nil {
			return nil, err
		}
		byID := make(map[string]R, len(found))
		for i := range found {
			byID[t.columns.KeyOf(&found[i])] = found[i]
		}
		return byID, nil
	}
}

// ownedByID is rowsByID for what workspaces own.
func ownedByID[R any](db Reader, t *table[R]) func(context.Context, []string) (map[string]owned[R], error) {
	sql := fmt.Sprintf(`SELECT %s, %s FROM %s AS t WHERE t.%s = ANY($1)`,
		t.columns.List("t."), liveWorkspace("t.workspace_id"), t.name, t.columns.Key())
	return func(ctx context.Context, ids []string) (map[string]owned[R], error) {
		rows, err := db.Query(ctx, sql, ids)
		found, err := collect(rows, err, func(row pgx.CollectableRow) (o owned[R], err error) {
			err = row.Scan(append(t.columns.Pointers(&o.row), &o.live)...)
			return o, err
		})
		if err != nil {
			return nil, err
		}
		byID := make(map[string]owned[R], len(found))
		for i := range found {
			byID[t.columns.KeyOf(&found[i].row)] = found[i]
		}
		return byID, nil
	}
}

// countsOf returns a query for the counts of workspaces.
func countsOf(db Reader) func(context.Context, []countKey) (map[countKey]WorkspaceStats, error) {
	return func(ctx context.Context, keys []countKey) (map[countKey]WorkspaceStats, error) {
		asked := make([]*countKey, len(keys))
		for i := range keys {
			asked[i] = &keys[i]
		}
		rows, err := db.Query(ctx, `
			SELECT `+countKeyColumns.List("k.")+`, coalesce(s.active, 0), coalesce(c.total, 0), coalesce(s.total, 0)
			FROM `+countKeyColumns.From("k")+`
			LEFT JOIN LATERAL (SELECT sum(active)::bigint AS active, sum(total)::bigint AS total FROM simulation_counts
				WHERE workspace_id = k.workspace_id AND account_id = coalesce(nullif(k.account_id, ''), account_id)) s ON true
			LEFT JOIN LATERAL (SELECT sum(total)::bigint AS total FROM configuration_counts
				WHERE workspace_id = k.workspace_id AND account_id = coalesce(nullif(k.account_id, ''), account_id)) c ON true`,
			countKeyColumns.Arrays(asked)...)
		if err != nil {
			return nil, err
		}
		counts := make(map[countKey]WorkspaceStats, len(keys))
		var key countKey
		var stats WorkspaceStats
		_, err = pgx.ForEachRow(rows,
			[]any{&key.WorkspaceID, &key.AccountID, &stats.ActiveSimulations, &stats.ConfigurationCount, &stats.SimulationCount},
			func() error {
				counts[key] = stats
				return nil
			})
		return counts, err
	}
}
