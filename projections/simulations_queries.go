package projections

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"netsim/commands"
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
	Statuses []string // nil for every status
	Search   string   // in the name
	Where    []Filter
	Sort     []Order // at least one
	Page     Page
}

// Rows are rows of a list as JSON, with commas between them.
type Rows struct {
	JSON  []byte
	Count int
}

// ListSimulations appends the rows of one page to the JSON of into, and returns
// the position of the next page.
//
// A list is split into partitions. A partition is an account, or a workspace of
// an account, with one status or with all. An index has the rows of each
// partition in the order of their creation, so a scan reads at most a page of rows,
// at every position of the list. A list of several partitions merges their index
// scans. Each other order has an index of the rows of an account. PostgreSQL scans
// it, or sorts the rows of a small partition. In an order of several keys, the rows
// with the same first key are sorted, unless that key is the status. A search
// filters the rows of a scan, unless its matches are rare.
func ListSimulations(ctx context.Context, db Reader, q SimulationQuery, into []byte) (page Rows, next []string, err error) {
	page.JSON = into
	if none(q.Statuses) || none(q.Scope.Workspaces) {
		return page, nil, nil
	}
	keys := simulationKeys(q.Sort)
	if err := q.Page.fits(keys); err != nil {
		return page, nil, err
	}
	q.Search = folded(q.Search)
	grams, err := q.rareGrams(ctx, db)
	if err != nil {
		return page, nil, fmt.Errorf("sample simulations: %w", err)
	}
	sql, args := "", []any(nil)
	if grams != nil {
		sql, args = q.rare(keys, grams)
	} else if sql, args = q.merged(keys); sql == "" {
		sql, args = q.gathered(keys)
	}
	rows, err := db.Query(ctx, sql, args...)
	if err == nil {
		next, err = page.read(rows, q.Page.Limit)
	}
	if err != nil {
		return page, nil, fmt.Errorf("list simulations: %w", err)
	}
	return page, next, nil
}

// fullTable can serve every query. itemsTable serves only lists by creation or
// name, and its sort keys never change.
const (
	fullTable  = "simulations"
	itemsTable = "simulation_items"
)

// table returns the table that serves the query.
func (q SimulationQuery) table() string {
	for _, o := range q.Sort {
		if o.Key != "created" && o.Key != "name" {
			return fullTable
		}
	}
	elsewhere := func(f Filter) bool { return f.column != "created_at" }
	if q.Statuses != nil || slices.ContainsFunc(q.Where, elsewhere) || q.Sort[0].Key == "name" && q.Scope.Workspaces == nil {
		return fullTable
	}
	return itemsTable
}

// walked reports whether an index has the order of every scan, so that one plan
// fits all values.
func (q SimulationQuery) walked() bool {
	if len(q.Sort) > 1 {
		return false
	}
	switch q.Sort[0].Key {
	case "created":
		return true
	case "name":
		return q.Statuses == nil
	}
	var restricted conditions
	restricted.filter(q.Where)
	return q.Statuses == nil && q.Scope.Workspaces == nil && restricted.parts == nil
}

// filter adds the conditions on the rows of every partition.
func (q SimulationQuery) filter(c *conditions) {
	name := "folded"
	if q.table() == fullTable {
		c.add("deleted = ''")
		name = `lower(name COLLATE "C")`
	}
	if q.Search != "" {
		c.add("strpos("+name+", ?) > 0", q.Search)
	}
}

// maxMerged is the largest number of partitions to merge. Planning time grows
// with each partition.
const maxMerged = 42

// merged returns the query of the page as a merge of the partitions' scans. It
// returns "" when the partitions are unknown or too many.
func (q SimulationQuery) merged(keys []sortKey) (string, []any) {
	statuses, ordered := q.statuses()
	if q.Scope.AccountID == "" || max(len(q.Scope.Workspaces), 1)*max(len(statuses), 1) > maxMerged {
		return "", nil
	}
	c := conditions{blind: q.walked()}
	account := q.Scope
	account.Workspaces = nil // each workspace has a scan of its own
	c.add(account.on(&c, ownersOf(q.table(), "")))
	q.filter(&c)
	c.filter(q.Where)
	if !ordered {
		c.after(keys, q.Page.After)
	}
	limit := strconv.Itoa(q.Page.Limit + 1) // in the SQL text, because the plan depends on it
	walks := []string{fmt.Sprintf("SELECT item, %s FROM %s WHERE %s", columnsOf(keys), q.table(), c.where())}
	walks = c.split(walks, "workspace_id", q.Scope.Workspaces)
	after := len(walks) // walks of each status; those of the first status come first
	walks = c.split(walks, "status", statuses)
	for i := range walks {
		if ordered && q.Page.After != nil && i < after {
			walks[i] += " AND " + c.behind(keys[1:], q.Page.After[1:])
		}
		walks[i] += fmt.Sprintf(" ORDER BY %s LIMIT %s", orderBy(keys), limit)
	}
	if len(walks) == 1 {
		return walks[0], c.args
	}
	return fmt.Sprintf("SELECT * FROM ((%s)) AS page ORDER BY %s LIMIT %s",
		strings.Join(walks, ") UNION ALL ("), orderBy(named(keys)), limit), c.args
}

// statuses returns the statuses of the partitions, nil for one partition of all. In
// an order by status and another key, they are in the order of the list and begin
// with the position's status, and ordered is true.
func (q SimulationQuery) statuses() (statuses []string, ordered bool) {
	if q.Sort[0].Key != "status" || len(q.Sort) == 1 {
		return q.Statuses, false
	}
	statuses = slices.Clone(q.Statuses)
	if statuses == nil {
		statuses = []string{
			commands.Completed, commands.Failed, commands.Invalid, commands.Provisioning,
			commands.Running, commands.Terminated, commands.Validating,
		}
	}
	slices.Sort(statuses)
	if q.Sort[0].Desc {
		slices.Reverse(statuses)
	}
	if q.Page.After != nil {
		at := slices.Index(statuses, q.Page.After[0])
		if at < 0 {
			return q.Statuses, false
		}
		statuses = statuses[at:]
	}
	return statuses, true
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

// gathered returns the query of the page as a join of the partitions with their
// first rows. The partitions come from the table of counts.
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

// read appends the rows of a query, whose columns are the JSON and the sort keys. A
// row beyond the limit only shows that there is another page.
func (r *Rows) read(rows pgx.Rows, limit int) (next []string, err error) {
	defer rows.Close()
	for rows.Next() {
		if r.Count == limit {
			return next, nil
		}
		if r.Count > 0 {
			r.JSON = append(r.JSON, ',')
		}
		r.JSON = append(r.JSON, rows.RawValues()[0]...)
		if r.Count++; r.Count < limit {
			continue
		}
		values, err := rows.Values()
		if err != nil {
			return nil, err
		}
		next = positionOf(values[1:])
	}
	return nil, rows.Err()
}

// segments adds the conditions on the rows of each partition, and returns the
// partitions as a FROM clause.
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

// simulationKeys returns the sort keys of an order. The id breaks ties, in the
// direction of the last key. A simulation that has not started, or has not ended,
// sorts as the latest.
func simulationKeys(sort []Order) []sortKey {
	var keys []sortKey
	seen := map[string]bool{}
	for _, o := range sort {
		if seen[o.Key] {
			continue // the first direction of a key counts
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

// columnsOf returns the keys as the columns k0, k1, … of a SELECT.
func columnsOf(keys []sortKey) string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = fmt.Sprintf("%s AS k%d", k.column, i)
	}
	return strings.Join(out, ", ")
}

// named returns the keys with the column names that columnsOf gives them.
func named(keys []sortKey) []sortKey {
	out := make([]sortKey, len(keys))
	for i, k := range keys {
		out[i] = sortKey{column: "k" + strconv.Itoa(i), desc: k.desc}
	}
	return out
}
