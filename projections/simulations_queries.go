package projections

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// FindSimulation reads a simulation, deleted or not. It returns NotFound for a
// missing one.
func FindSimulation(ctx context.Context, db Reader, id string) (Simulation, error) {
	return find(ctx, db, &NewSimulations().table, "simulation", id)
}

// Order is one key of a list's order.
type Order struct {
	Key  string // created, name, status, started or completed
	Desc bool
}

// SimulationQuery asks for simulations that are not deleted.
type SimulationQuery struct {
	Scope    Scope
	Statuses []string // nil for every one
	Search   string   // in the name
	Where    []Filter
	Sort     []Order // at least one
	Page     Page
}

// ListSimulations returns one page, each row as JSON, and the position of the
// next page.
//
// A list is split into partitions: an account, or a workspace and an account,
// each with one status or with all. An index has the rows of each partition in
// the order of their creation, so a page reads as many rows as it has, wherever
// in the list it is. A list of several partitions merges their index scans. An
// index by name serves lists without a status. The other orders have no index,
// because every index makes each update of a simulation more expensive: for
// them PostgreSQL reads all rows of the partitions and keeps the first of the
// order. A search filters the rows of a scan, unless its matches are rare.
func ListSimulations(ctx context.Context, db Reader, q SimulationQuery) (items [][]byte, next []string, err error) {
	if none(q.Statuses) || none(q.Scope.Workspaces) {
		return nil, nil, nil
	}
	keys := simulationKeys(q.Sort)
	if err := q.Page.fits(keys); err != nil {
		return nil, nil, err
	}
	rare, err := q.isRare(ctx, db)
	if err != nil {
		return nil, nil, fmt.Errorf("sample simulations: %w", err)
	}
	sql, args := q.merged(keys)
	switch {
	case rare:
		sql, args = q.rare(keys)
	case sql == "":
		sql, args = q.gathered(keys)
	}
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return nil, nil, fmt.Errorf("list simulations: %w", err)
	}
	return readPage(rows, q.Page.Limit)
}

// The table of the orders that a change of status may change, and the table of
// the others.
const (
	changing = "simulations"
	staying  = "simulation_items"
)

// table is the table that has the order of the query.
func (q SimulationQuery) table() string {
	for _, o := range q.Sort {
		if o.Key != "created" && o.Key != "name" {
			return changing
		}
	}
	elsewhere := func(f Filter) bool { return f.column != "created_at" }
	if q.Statuses != nil || slices.ContainsFunc(q.Where, elsewhere) || q.Sort[0].Key == "name" && q.Scope.Workspaces == nil {
		return changing
	}
	return staying
}

// walked reports whether every scan has an index in its order, so that one plan
// fits all values.
func (q SimulationQuery) walked() bool {
	return len(q.Sort) == 1 && (q.Sort[0].Key == "created" || q.Sort[0].Key == "name" && q.Statuses == nil)
}

// filter adds the conditions on the rows of every partition.
func (q SimulationQuery) filter(c *conditions) {
	if q.table() == changing {
		c.add("deleted = ''")
		c.contains(q.Search, "name")
		return
	}
	c.find(q.Search)
}

// maxMerged is the most partitions that are merged. Planning time grows with
// each.
const maxMerged = 42

// merged is the query of the page as a merge of the partitions' scans. It is ""
// when the partitions are not known or too many.
func (q SimulationQuery) merged(keys []sortKey) (string, []any) {
	workspaces, statuses := q.Scope.Workspaces, q.Statuses
	if q.Scope.AccountID == "" || max(len(workspaces), 1)*max(len(statuses), 1) > maxMerged {
		return "", nil
	}
	c := conditions{blind: q.walked()}
	account := q.Scope
	account.Workspaces = nil // each has a scan of its own
	c.add(account.on(&c, ownersOf(q.table(), "")))
	q.filter(&c)
	c.filter(q.Where)
	c.after(keys, q.Page.After)
	limit := strconv.Itoa(q.Page.Limit + 1) // in the text, because plans depend on it
	walks := []string{fmt.Sprintf("SELECT item, %s FROM %s WHERE %s", columnsOf(keys), q.table(), c.where())}
	walks = c.split(walks, "workspace_id", workspaces)
	walks = c.split(walks, "status", statuses)
	for i := range walks {
		walks[i] += fmt.Sprintf(" ORDER BY %s LIMIT %s", orderBy(keys), limit)
	}
	if len(walks) == 1 {
		return walks[0], c.args
	}
	return fmt.Sprintf("SELECT * FROM ((%s)) AS page ORDER BY %s LIMIT %s",
		strings.Join(walks, ") UNION ALL ("), orderBy(named(keys)), limit), c.args
}

// split replaces each scan by one for each value of the column. nil leaves the
// scans as they are.
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

// gathered is the query of the page as the first rows of all partitions, which
// are read from the table that counts them.
func (q SimulationQuery) gathered(keys []sortKey) (string, []any) {
	var c conditions
	from := q.segments(&c)
	q.filter(&c)
	c.filter(q.Where)
	c.after(keys, q.Page.After)
	limit := strconv.Itoa(q.Page.Limit + 1)
	return fmt.Sprintf(`
		SELECT found.* FROM %s CROSS JOIN LATERAL (
			SELECT item, %s FROM %s WHERE %s ORDER BY %s LIMIT %s) AS found
		ORDER BY %s LIMIT %s`,
		from, columnsOf(keys), q.table(), c.where(), orderBy(keys), limit,
		orderBy(named(keys)), limit), c.args
}

// readPage reads rows of JSON and sort keys. A row beyond the limit only shows
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

// segments adds the rows of the list to the conditions, and returns the partitions
// as a FROM clause.
func (q SimulationQuery) segments(c *conditions) string {
	var from []string
	if segments := q.Scope.segments(c, q.table(), "simulation_counts"); segments != "" {
		from = append(from, segments)
	}
	if q.Statuses != nil {
		from = append(from, fmt.Sprintf("unnest(%s::text[]) AS wanted", c.arg(q.Statuses)))
		c.add("status = wanted")
	}
	return strings.Join(from, " CROSS JOIN ")
}

// simulationKeys are the sort keys of an order. The id breaks ties, in the
// direction of the last key. A simulation that has not started, or not ended,
// sorts as the latest.
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
