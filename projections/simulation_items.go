package projections

import (
	"time"

	"github.com/jackc/pgx/v5"
)

// simulationItems gathers the items that a batch changes, and those that it
// takes away. What they are ordered by never changes.
type simulationItems struct{ changed, removed []*Simulation }

func (i *simulationItems) add(before, after *Simulation) {
	listed := before != nil && before.Deleted == ""
	switch {
	case after.Deleted != "":
		if listed {
			i.removed = append(i.removed, after)
		}
	case !listed || before.Item != after.Item:
		i.changed = append(i.changed, after)
	}
}

func (i *simulationItems) queue(writes *pgx.Batch) {
	id := func(s *Simulation) string { return s.ID }
	account := func(s *Simulation) string { return s.AccountID }
	created := func(s *Simulation) time.Time { return s.CreatedAt }
	if len(i.changed) > 0 {
		writes.Queue(`
			INSERT INTO simulation_items (account_id, created_at, id, workspace_id, name, folded, item)
			SELECT account, created, id, workspace, name, lower(name), item
			FROM unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[])
				AS new (account, created, id, workspace, name, item)
			ON CONFLICT (account_id, created_at, id) DO UPDATE SET item = excluded.item`,
			each(i.changed, account), each(i.changed, created), each(i.changed, id),
			each(i.changed, func(s *Simulation) string { return s.WorkspaceID }),
			each(i.changed, func(s *Simulation) string { return s.Name }),
			each(i.changed, func(s *Simulation) string { return s.Item }))
	}
	if len(i.removed) > 0 {
		writes.Queue(`
			DELETE FROM simulation_items USING unnest($1::text[], $2::timestamptz[], $3::text[]) AS old (account, created, id)
			WHERE account_id = old.account AND created_at = old.created AND simulation_items.id = old.id`,
			each(i.removed, account), each(i.removed, created), each(i.removed, id))
	}
}
