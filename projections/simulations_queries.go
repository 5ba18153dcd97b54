package projections

import (
	"context"
	"fmt"
	"strconv"
	"strings"
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
// What is listed is cut into places, each an account or a workspace of one,
// and, where it is asked for, a status. In each of them an index has the rows
// in the list's order, so that a page costs a walk of a page's length in each
// place, wherever in the list it is. Orders other than that of creation have
// an index by account at most, and filters beside them are applied on the way.
func ListSimulations(ctx context.Context, db Reader, q SimulationQuery) (items [][]byte, next []string, err error) {
	keys := simulationKeys(q.Sort)
	var c conditions
	places := q.places(&c)
	c.contains(q.Search, "name")
	c.within("created_at", q.Created)
	c.after(keys, q.Page.After)

	columns := []string{"item"}
	for i, k := range keys {
		columns = append(columns, fmt.Sprintf("%s AS k%d", k.column, i))
	}
	limit := strconv.Itoa(q.Page.Limit + 1) // in the text, because plans depend on it
	page := fmt.Sprintf(`SELECT %s FROM simulations WHERE %s ORDER BY %s LIMIT %s`,
		strings.Join(columns, ", "), c.where(), orderBy(keys), limit)
	if places != "" {
		page = fmt.Sprintf(`SELECT s.* FROM %s CROSS JOIN LATERAL (%s) AS s ORDER BY %s LIMIT %s`,
			places, page, orderBy(keyed(keys)), limit)
	}

	rows, err := db.Query(ctx, page, c.args...)
	if err != nil {
		return nil, nil, fmt.Errorf("list simulations: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		if len(items) == q.Page.Limit {
			return items, next, nil // the row beyond the page says that there are more
		}
		items = append(items, append([]byte(nil), rows.RawValues()[0]...))
		if len(items) < q.Page.Limit {
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
// it is in as a FROM; "" when one walk reaches everything.
func (q SimulationQuery) places(c *conditions) string {
	var from []string
	c.add("deleted = ''")
	counted, gone := "total > 0", "state <> 'live'"
	if q.Scope.AccountID != "" {
		own := "account_id = " + c.arg(q.Scope.AccountID)
		counted += " AND " + own
		gone += " AND " + own
	}
	switch workspaces := members(q.Scope, q.Workspace); {
	case workspaces != nil:
		from = append(from, fmt.Sprintf(`(SELECT workspace_id, account_id FROM simulation_counts
			WHERE %s AND workspace_id = ANY(%s)) AS place`, counted, c.arg(workspaces)))
		c.add("workspace_id = place.workspace_id AND account_id = place.account_id")
	case q.Scope.AccountID == "":
		from = append(from, "(SELECT DISTINCT account_id FROM simulation_counts WHERE total > 0) AS place")
		c.add("account_id = place.account_id")
	default:
		c.add("account_id = ?", q.Scope.AccountID)
	}
	if q.Statuses != nil {
		from = append(from, fmt.Sprintf("unnest(%s::text[]) AS wanted", c.arg(q.Statuses)))
		c.add("status = wanted")
	}
	// What a workspace owns is gone with it, before the cascade gets there.
	c.add("workspace_id <> ALL (ARRAY(SELECT id FROM workspaces WHERE " + gone + "))")
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

// keyed names the keys as the page's columns do.
func keyed(keys []sortKey) []sortKey {
	out := make([]sortKey, len(keys))
	for i, k := range keys {
		out[i] = sortKey{column: "k" + strconv.Itoa(i), desc: k.desc}
		if strings.HasSuffix(k.column, `COLLATE "C"`) {
			out[i].column += ` COLLATE "C"`
		}
	}
	return out
}
