package projections

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// Scope is the part of a table that a caller may see. The zero Scope is the
// whole platform.
type Scope struct {
	AccountID  string   // "" for every account
	Workspaces []string // only these; nil for every one
}

// Page asks for at most Limit rows behind a position. The position is the
// sort keys of a row as text, its id last; nil is the beginning.
type Page struct {
	Limit int
	After []string
}

// fits refuses a position that is none of this order's: another release gave
// it out, for an order that has changed since.
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

// takes reports whether a position's text is of the key's type.
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

// conditions gathers the parts of a WHERE and their arguments.
type conditions struct {
	parts []string
	args  []any
	blind bool // whether to plan without a look at the arguments
}

// arg adds an argument and returns its placeholder. PostgreSQL plans a prepared
// statement anew each time while a look at the arguments seems to make a better
// plan of it, and then plans for longer than it reads a page. It cannot look
// into a SELECT, so it soon keeps the plan of a blind statement.
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

// add adds a condition in which each ? stands for the next value.
func (c *conditions) add(condition string, values ...any) {
	for _, value := range values {
		condition = strings.Replace(condition, "?", c.arg(value), 1)
	}
	c.parts = append(c.parts, condition)
}

// within adds a span of time, from inclusive, to exclusive. A zero end is open.
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

// likeEscaper is read only: what a search text means is what it says.
var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

func (c *conditions) where() string {
	if len(c.parts) == 0 {
		return "true"
	}
	return strings.Join(c.parts, " AND ")
}

// sortKey is one key of an order, and how it is compared.
type sortKey struct {
	column string // expression, such as the one that an index has
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

// after adds that a row comes behind the position in the order of the keys.
// Keys of one direction compare as a row, which an index can seek. Otherwise
// the first key bounds the walk.
func (c *conditions) after(keys []sortKey, position []string) {
	if position == nil {
		return
	}
	columns, values := make([]string, len(keys)), make([]string, len(keys))
	mixed := false
	for i, k := range keys {
		columns[i] = k.column
		values[i] = c.arg(position[i]) + "::text::" + k.kind
		mixed = mixed || k.desc != keys[0].desc
	}
	if !mixed {
		c.parts = append(c.parts, fmt.Sprintf("(%s) %s (%s)",
			strings.Join(columns, ", "), behind(keys[0]), strings.Join(values, ", ")))
		return
	}
	var either []string
	equal := ""
	for i, k := range keys {
		either = append(either, fmt.Sprintf("(%s%s %s %s)", equal, columns[i], behind(k), values[i]))
		equal += fmt.Sprintf("%s = %s AND ", columns[i], values[i])
	}
	c.parts = append(c.parts,
		fmt.Sprintf("%s %s= %s", columns[0], behind(keys[0]), values[0]),
		"("+strings.Join(either, " OR ")+")")
}

func behind(k sortKey) string {
	if k.desc {
		return "<"
	}
	return ">"
}

// positionOf renders a row's sort keys for Page.After.
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

// cut takes the row beyond the limit, which only says that there are more, and
// returns the position of the last row that is left; nil on the last page.
func cut[R any](rows []R, limit int, keys func(*R) []any) ([]R, []string) {
	if len(rows) <= limit {
		return rows, nil
	}
	rows = rows[:limit]
	return rows, positionOf(keys(&rows[limit-1]))
}

// find reads one row by its id, or returns NotFound.
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

// members returns which of the workspaces a scope and a filter leave: nil for
// every one.
func members(s Scope, workspace string) []string {
	switch {
	case workspace == "":
		return s.Workspaces
	case s.Workspaces == nil || slices.Contains(s.Workspaces, workspace):
		return []string{workspace}
	}
	return []string{}
}

// none reports whether a list of what is wanted wants nothing; a nil one wants
// everything.
func none(wanted []string) bool { return wanted != nil && len(wanted) == 0 }
