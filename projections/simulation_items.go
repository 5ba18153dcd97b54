package projections

import (
	"time"

	"netsim/infra/columns"
)

// simulationItems collects the list items that a batch adds, changes or removes.
// Only the JSON of an item changes.
type simulationItems struct {
	begun   []*simulationItem
	changed []*simulationItem
	removed []*simulationItemKey
}

// simulationItem is a row of simulation_items without folded, which PostgreSQL
// computes.
type simulationItem struct {
	simulationItemKey

	WorkspaceID, Name, Item string
	Grams                   []int32 // of the folded name; not computed for a change
}

type simulationItemKey struct {
	AccountID string
	CreatedAt time.Time
	ID        string
}

var (
	simulationItemColumns    = columns.Of[simulationItem]()
	simulationItemKeyColumns = columns.Of[simulationItemKey]()
)

func (i *simulationItems) add(before, after *Simulation) {
	key := simulationItemKey{after.AccountID, after.CreatedAt, after.ID}
	listed := before != nil && before.Deleted == ""
	switch item := (&simulationItem{key, after.WorkspaceID, after.Name, after.Item, nil}); {
	case after.Deleted != "":
		if listed {
			i.removed = append(i.removed, &key)
		}
	case !listed:
		item.Grams = grams(after.AccountID, folded(after.Name), after.CreatedAt)
		i.begun = append(i.begun, item)
	case before.Item != after.Item:
		i.changed = append(i.changed, item)
	}
}

func (i *simulationItems) queue(writes *columns.Writes) {
	simulationItemColumns.Upsert(writes, "simulation_items", i.begun, i.changed,
		"ON CONFLICT (account_id, created_at, id) DO UPDATE SET item = excluded.item")
	if len(i.removed) > 0 {
		writes.Queue(`
			DELETE FROM simulation_items i USING `+simulationItemKeyColumns.From("old")+`
			WHERE i.account_id = old.account_id AND i.created_at = old.created_at AND i.id = old.id`,
			simulationItemKeyColumns.Arrays(i.removed)...)
	}
}
