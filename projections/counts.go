package projections

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"netsim/infra/columns"
)

// countKey is the key of the counts of an account in a workspace.
type countKey struct{ WorkspaceID, AccountID string }

var countKeyColumns = columns.Of[countKey]()

// countChange is the change of the counts in a batch.
type countChange struct {
	countKey

	Total, Active int64
}

var countChangeColumns = columns.Of[countChange]()

// workspaceCounts collects the changes of counts in a batch. The order of facts
// does not matter to the sums.
type workspaceCounts struct{ changes map[countKey]*countChange }

// add adds to the counts. They have a row once the account has had a resource in
// the workspace, even if the resource ended in the batch in which it began.
func (c *workspaceCounts) add(workspace, account string, total, active int64, begins bool) {
	if total == 0 && active == 0 && !begins {
		return
	}
	if c.changes == nil {
		c.changes = map[countKey]*countChange{}
	}
	key := countKey{workspace, account}
	change := c.changes[key]
	if change == nil {
		change = &countChange{countKey: key}
		c.changes[key] = change
	}
	change.Total += total
	change.Active += active
}

func (c *workspaceCounts) queue(writes *columns.Writes, table string) {
	changes := slices.SortedFunc(maps.Values(c.changes), func(a, b *countChange) int {
		return cmp.Or(strings.Compare(a.WorkspaceID, b.WorkspaceID), strings.Compare(a.AccountID, b.AccountID))
	})
	countChangeColumns.Insert(writes, table+" AS t", changes, `ON CONFLICT (workspace_id, account_id)
		DO UPDATE SET total = t.total + excluded.total, active = t.active + excluded.active`)
}

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }
