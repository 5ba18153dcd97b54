package projections

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// each returns the value of every row, as an array parameter.
func each[R, T any](rows []R, value func(R) T) []T {
	out := make([]T, len(rows))
	for i, r := range rows {
		out[i] = value(r)
	}
	return out
}

// workspaceCounts gathers how counts of a workspace and account change in a
// batch. Sums commute, so the order of facts does not matter.
type workspaceCounts struct {
	changes map[countKey]countChange
}

type countKey struct{ workspace, account string }

type countChange struct{ total, active int64 }

func (c *workspaceCounts) add(workspace, account string, total, active int64) {
	if total == 0 && active == 0 {
		return
	}
	if c.changes == nil {
		c.changes = map[countKey]countChange{}
	}
	key := countKey{workspace, account}
	sum := c.changes[key]
	c.changes[key] = countChange{sum.total + total, sum.active + active}
}

func (c *workspaceCounts) queue(writes *pgx.Batch, table string) {
	if len(c.changes) == 0 {
		return
	}
	keys := make([]countKey, 0, len(c.changes))
	for key := range c.changes {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b countKey) int {
		return strings.Compare(a.workspace+a.account, b.workspace+b.account)
	})
	writes.Queue(fmt.Sprintf(`
		INSERT INTO %[1]s AS t (workspace_id, account_id, total, active)
		SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[])
		ON CONFLICT (workspace_id, account_id)
		DO UPDATE SET total = t.total + excluded.total, active = t.active + excluded.active`, table),
		each(keys, func(k countKey) string { return k.workspace }),
		each(keys, func(k countKey) string { return k.account }),
		each(keys, func(k countKey) int64 { return c.changes[k].total }),
		each(keys, func(k countKey) int64 { return c.changes[k].active }))
}

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }
