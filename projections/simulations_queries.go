package projections

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"netsim/commands"
)

// FindSimulation reads a simulation, also one that is deleted. It returns
// NotFound for one that never was.
func FindSimulation(ctx context.Context, db Reader, id string) (Simulation, error) {
	return find(ctx, db, &NewSimulations().rows, "simulation", id)
}

// Order is one key of a list's order.
type Order struct {
	Key  string // created, name, status, started or completed
	Desc bool
}

// SimulationQuery asks for simulations that are not deleted, of workspaces
// that are live.
type SimulationQuery struct {
	Scope     Scope
	Workspace string   // "" for every one in the scope
	Statuses  []string // nil for every one
	Search    string   // in the name
	Created   Period
	Sort      []Order // at least one
	Page      Page
}

// ListSimulations returns one page, each row as JSON, and the position of the
// next page.
//
// What is listed is cut into places: an account, an account and a status, or a
// workspace, an account and a status. In each of them an index has the rows in
// the order of their creation, so that a page costs a walk of a page's length,
// wherever in the list it is. The order by name has an index by account; the
// other orders have none, since every index makes each change of a simulation
// dearer: PostgreSQL keeps the best of a page while it reads the rows of the
// places. A search is a filter on the way.
func ListSimulations(ctx context.Context, db Reader, q SimulationQuery) (items [][]byte, next []string, err error) {
	if none(q.Statuses) || none(members(q.Scope, q.Workspace)) {
		return nil, nil, nil
	}
	keys := simulationKeys(q.Sort)
	sql, args := q.merged(keys)
	if sql == "" {
		sql, args = q.gathered(keys)
	}
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return nil, nil, fmt.Errorf("list simulations: %w", err)
	}
	return readPage(rows, q.Page.Limit)
}

// maxMerged is how many places are merged; planning takes its time for each.
const maxMerged = 42

// merged is the page as a merge of the places' walks, each of which goes only
// as far as the merge asks. It is "" when the places are not known or too many.
func (q SimulationQuery) merged(keys []sortKey) (string, []any) {
	workspaces, statuses := members(q.Scope, q.Workspace), q.Statuses
	if statuses == nil && workspaces != nil {
		statuses = simulationStatuses() // the index of a workspace is by status
	}
	if q.Scope.AccountID == "" || len(workspaces)*len(statuses) > maxMerged {
		return "", nil
	}
	var c conditions
	c.add("deleted = ''")
	place{scope: Scope{AccountID: q.Scope.AccountID}}.add(&c)
	c.contains(q.Search, "name")
	c.within("created_at", q.Created)
	c.after(keys, q.Page.After)
	limit := strconv.Itoa(q.Page.Limit + 1) // in the text, because plans depend on it
	walks := []string{fmt.Sprintf("SELECT item, %s FROM simulations WHERE %s", columnsOf(keys), c.where())}
	walks = c.split(walks, "workspace_id", workspaces)
	walks = c.split(walks, "status", statuses)
	for i := range walks {
		walks[i] += fmt.Sprintf(" ORDER BY %s LIMIT %s", orderBy(keys), limit)
	}
	return fmt.Sprintf("SELECT * FROM ((%s)) AS page ORDER BY %s LIMIT %s",
		strings.Join(walks, ") UNION ALL ("), orderBy(named(keys)), limit), c.args
}

// split has each walk end in each of the column's values; as they are where
// there are none.
func (c *conditions) split(walks []string, column string, values []string) []string {
	if values == nil {
		return walks
	}
	var each []string
	for _, value := range values {
		is := fmt.Sprintf(" AND %s = %s", column, c.arg(value))
		for _, walk := range walks {
			each = append(each, walk+is)
		}
	}
	return each
}

// gathered is the page as the best of all places, which the read model counts.
func (q SimulationQuery) gathered(keys []sortKey) (string, []any) {
	var c conditions
	places := q.places(&c)
	c.contains(q.Search, "name")
	c.within("created_at", q.Created)
	c.after(keys, q.Page.After)
	limit := strconv.Itoa(q.Page.Limit + 1)
	return fmt.Sprintf(`
		SELECT s.item, page.* FROM (
			SELECT found.* FROM %s CROSS JOIN LATERAL (
				SELECT %s FROM simulations WHERE %s ORDER BY %s LIMIT %s) AS found
			ORDER BY %s LIMIT %s) AS page
		JOIN simulations AS s ON s.id = page.k%d ORDER BY %s`,
		places, columnsOf(keys), c.where(), orderBy(keys), limit,
		orderBy(named(keys)), limit, len(keys)-1, orderBy(named(keys))), c.args
}

// readPage reads rows of JSON and sort keys. A row beyond the limit only says
// that there are more.
func readPage(rows pgx.Rows, limit int) (items [][]byte, next []string, err error) {
	defer rows.Close()
	for rows.Next() {
		if len(items) == limit {
			return items, next, nil
		}
		items = append(items, append([]byte(nil), rows.RawValues()[0]...))
		if len(items) < limit {
			continue
		}
		values, err := rows.Values()
		if err != nil {
			return nil, nil, fmt.Errorf("list simulations: %w", err)
		}
		next = positionOf(values[1:])
	}
	if err := rows.Err(); err != nil {
		return nil, nil, fmt.Errorf("list simulations: %w", err)
	}
	return items, nil, nil
}

// places adds what is listed to the conditions, and returns the places that
// it is in as a FROM.
func (q SimulationQuery) places(c *conditions) string {
	c.add("deleted = ''")
	p := place{scope: q.Scope, workspace: q.Workspace, counts: "simulation_counts"}
	from := p.add(c)
	statuses := q.Statuses
	if statuses == nil && p.byWorkspace() {
		statuses = simulationStatuses() // the index of a workspace is by status
	}
	if statuses != nil {
		from = append(from, fmt.Sprintf("unnest(%s::text[]) AS wanted", c.arg(statuses)))
		c.add("status = wanted")
	}
	return strings.Join(from, " CROSS JOIN ")
}

// simulationKeys are the sort keys of an order; ties are broken by id, in the
// direction of the last key. What has not started or ended sorts as the latest.
func simulationKeys(sort []Order) []sortKey {
	var keys []sortKey
	seen := map[string]bool{}
	for _, o := range sort {
		if seen[o.Key] {
			continue // the first mention decides
		}
		seen[o.Key] = true
		switch o.Key {
		case "name":
			keys = append(keys, sortKey{`name COLLATE "C"`, "text", o.Desc})
		case "status":
			keys = append(keys, sortKey{"status", "text", o.Desc})
		case "started", "completed":
			keys = append(keys, sortKey{"coalesce(" + o.Key + "_at, 'infinity')", "timestamptz", o.Desc})
		default:
			keys = append(keys, sortKey{"created_at", "timestamptz", o.Desc})
		}
	}
	return append(keys, sortKey{"id", "text", keys[len(keys)-1].desc})
}

// columnsOf selects the keys as k0, k1 …
func columnsOf(keys []sortKey) string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = fmt.Sprintf("%s AS k%d", k.column, i)
	}
	return strings.Join(out, ", ")
}

// named are the keys as columnsOf selects them.
func named(keys []sortKey) []sortKey {
	out := make([]sortKey, len(keys))
	for i, k := range keys {
		out[i] = sortKey{column: "k" + strconv.Itoa(i), desc: k.desc}
	}
	return out
}

func simulationStatuses() []string {
	return []string{
		commands.Validating, commands.Provisioning, commands.Running,
		commands.Completed, commands.Failed, commands.Terminated, commands.Invalid,
	}
}
