package projections

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/fault"
)

// Reader runs queries: a pool, a connection or a transaction.
type Reader interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Page asks for at most Limit rows after a position. A position is the sort keys
// of a row as text. A nil position is the start of the list.
type Page struct {
	Limit int
	After []string
}

// fits refuses a position whose keys differ from the order's in number or type. The
// cursor may come from another release, which had another order.
func (p Page) fits(keys []sortKey) error {
	bad := fault.New(fault.Validation, "cursor is invalid or expired")
	if p.After == nil {
		return nil
	}
	if len(p.After) != len(keys) {
		return bad
	}
	for i, k := range keys {
		if !k.takes(p.After[i]) {
			return bad
		}
	}
	return nil
}

// takes reports whether the text parses as the key's type.
func (k sortKey) takes(text string) bool {
	var err error
	switch k.kind {
	case "timestamptz":
		if text != "infinity" {
			_, err = time.Parse(time.RFC3339Nano, text)
		}
	case "bigint":
		_, err = strconv.ParseInt(text, 10, 64)
	}
	return err == nil
}

// conditions collects the parts of a WHERE clause and their arguments.
type conditions struct {
	parts []string
	args  []any
	blind bool // whether to hide the arguments from the planner
}

// arg adds an argument and returns its placeholder. PostgreSQL plans a prepared
// statement on every execution while the values of the arguments seem to allow a
// better plan. Planning takes longer than reading a page. A blind statement soon
// gets a generic plan: its texts and times are in a SELECT, which the planner does
// not evaluate.
func (c *conditions) arg(value any) string {
	c.args = append(c.args, value)
	placeholder := "$" + strconv.Itoa(len(c.args))
	if !c.blind {
		return placeholder
	}
	switch value.(type) {
	case string:
		return "(SELECT " + placeholder + "::text)"
	case time.Time:
		return "(SELECT " + placeholder + "::timestamptz)"
	}
	return placeholder
}

// add adds a condition. Each ? in it stands for the next value.
func (c *conditions) add(condition string, values ...any) {
	for _, value := range values {
		condition = strings.Replace(condition, "?", c.arg(value), 1)
	}
	c.parts = append(c.parts, condition)
}

// within adds a span of time; from is inclusive, to is exclusive. A zero end is
// open.
func (c *conditions) within(column string, from, to time.Time) {
	if !from.IsZero() {
		c.add(column+" >= ?", from)
	}
	if !to.IsZero() {
		c.add(column+" < ?", to)
	}
}

// contains adds a case-insensitive search for text in any of the columns.
func (c *conditions) contains(text string, columns ...string) {
	if text == "" {
		return
	}
	pattern := c.arg("%" + likeEscaper.Replace(text) + "%")
	found := make([]string, len(columns))
	for i, column := range columns {
		found[i] = column + " ILIKE " + pattern
	}
	c.parts = append(c.parts, "("+strings.Join(found, " OR ")+")")
}

// likeEscaper escapes the wildcards in a search text. It is read only.
var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

func (c *conditions) where() string {
	if len(c.parts) == 0 {
		return "true"
	}
	return strings.Join(c.parts, " AND ")
}

// sortKey is one key of an order.
type sortKey struct {
	column string // SQL expression, the same as in the index
	kind   string // SQL type
	desc   bool
}

func orderBy(keys []sortKey) string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = k.column
		if k.desc {
			out[i] += " DESC"
		}
	}
	return strings.Join(out, ", ")
}

// after adds the condition that a row comes after the position.
func (c *conditions) after(keys []sortKey, position []string) {
	c.parts = append(c.parts, c.behind(keys, position))
}

// behind returns the condition that a row comes after the position in the order
// of the keys. Keys that all have the same direction are compared as a row, so
// that an index can seek to the position. Keys of mixed directions are compared
// one by one, and the first bounds the scan.
func (c *conditions) behind(keys []sortKey, position []string) string {
	if position == nil {
		return "true"
	}
	columns, values := make([]string, len(keys)), make([]string, len(keys))
	mixed := false
	for i, k := range keys {
		columns[i] = k.column
		values[i] = c.arg(position[i]) + "::text::" + k.kind
		mixed = mixed || k.desc != keys[0].desc
	}
	if !mixed {
		return fmt.Sprintf("(%s) %s (%s)", strings.Join(columns, ", "), keys[0].operator(), strings.Join(values, ", "))
	}
	var either []string
	equal := ""
	for i, k := range keys {
		either = append(either, fmt.Sprintf("(%s%s %s %s)", equal, columns[i], k.operator(), values[i]))
		equal += fmt.Sprintf("%s = %s AND ", columns[i], values[i])
	}
	return fmt.Sprintf("%s %s= %s AND (%s)", columns[0], keys[0].operator(), values[0], strings.Join(either, " OR "))
}

// operator returns the operator between a later row's key and the position's.
func (k sortKey) operator() string {
	if k.desc {
		return "<"
	}
	return ">"
}

// positionOf formats a row's sort keys for Page.After.
func positionOf(keys []any) []string {
	out := make([]string, len(keys))
	for i, key := range keys {
		switch k := key.(type) {
		case time.Time:
			out[i] = k.UTC().Format(time.RFC3339Nano)
		default:
			out[i] = fmt.Sprint(k)
		}
	}
	return out
}

// cut removes the row beyond the limit, which only shows that there is another
// page. It returns the position of the last remaining row, nil on the last page.
func cut[R any](rows []R, limit int, keys func(*R) []any) ([]R, []string) {
	if len(rows) <= limit {
		return rows, nil
	}
	rows = rows[:limit]
	return rows, positionOf(keys(&rows[limit-1]))
}

// find reads one row by its id. It returns NotFound for a missing one.
func find[R any](ctx context.Context, db Reader, t *table[R], what, id string) (R, error) {
	var row R
	err := db.QueryRow(ctx, fmt.Sprintf(`SELECT %s FROM %s WHERE %s = $1`,
		t.columns.List(""), t.name, t.columns.Key()), id).Scan(t.columns.Pointers(&row)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return row, fault.Missing(what, id)
	}
	if err != nil {
		return row, fmt.Errorf("read %s %s: %w", what, id, err)
	}
	return row, nil
}

// collect reads all rows of a query: by position with a table's columns.Scan,
// by name with pgx.RowToStructByNameLax, single values with pgx.RowTo.
func collect[R any](rows pgx.Rows, queryErr error, scan pgx.RowToFunc[R]) ([]R, error) {
	if queryErr != nil {
		return nil, queryErr
	}
	return pgx.CollectRows(rows, scan)
}

// none reports whether a list allows no value. A nil list allows every value.
func none(wanted []string) bool { return wanted != nil && len(wanted) == 0 }
