package projections

import (
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/internal/columns"
)

// simulationItems collects the list items that a batch adds, changes or removes.
// Only the JSON of an item changes.
type simulationItems struct {
	changed []*simulationItem // or added
	removed []*simulationItemKey
}

// simulationItem is a row of simulation_items.
type simulationItem struct {
	simulationItemKey

	WorkspaceID, Name, Folded, Item string
	Grams                           string // an array as text; not computed for a change
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
	switch {
	case after.Deleted != "":
		if listed {
			i.removed = append(i.removed, &key)
		}
	case !listed:
		name := folded(after.Name)
		i.changed = append(i.changed, &simulationItem{
			key, after.WorkspaceID, after.Name, name, after.Item, grams(after.AccountID, name, after.CreatedAt),
		})
	case before.Item != after.Item:
		i.changed = append(i.changed, &simulationItem{key, after.WorkspaceID, after.Name, "", after.Item, "{}"})
	}
}

func (i *simulationItems) queue(writes *pgx.Batch) {
	if len(i.changed) > 0 {
		names := simulationItemColumns.List("")
		writes.Queue(`
			INSERT INTO simulation_items (`+names+`)
			SELECT `+strings.Replace(names, `"grams"`, "grams::int4[]", 1)+` FROM `+simulationItemColumns.From("new")+`
			ON CONFLICT (account_id, created_at, id) DO UPDATE SET item = excluded.item`,
			simulationItemColumns.Arrays(i.changed)...)
	}
	if len(i.removed) > 0 {
		writes.Queue(`
			DELETE FROM simulation_items i USING `+simulationItemKeyColumns.From("old")+`
			WHERE i.account_id = old.account_id AND i.created_at = old.created_at AND i.id = old.id`,
			simulationItemKeyColumns.Arrays(i.removed)...)
	}
}
