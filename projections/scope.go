package projections

import (
	"slices"
	"strings"
)

// Scope is the set of rows that meet all of its conditions. The zero Scope has
// every row.
type Scope struct {
	AccountID  string   // of this account; "" for every account
	Workspaces []string // in one of these workspaces, without duplicates; nil for every workspace
	Sharing    string   // with this value in the column scope (tracesets) or visibility (templates); "" for any
	Live       bool     // only in workspaces that are neither deleted nor being deleted
}

// Rule says which rows of a table a caller may see: the rows in any of its scopes.
// Package access makes the rules. Rule.Has applies a rule to one row; Rule.on
// applies it to the rows of a query.
type Rule []Scope

// Owner has the values of a row that a rule depends on.
type Owner struct {
	AccountID   string
	WorkspaceID string
	Sharing     string
	Live        bool // whether the workspace is neither deleted nor being deleted
}

// Has reports whether the row is in the scope.
func (s Scope) Has(row Owner) bool {
	return (s.AccountID == "" || s.AccountID == row.AccountID) &&
		(s.Workspaces == nil || slices.Contains(s.Workspaces, row.WorkspaceID)) &&
		(s.Sharing == "" || s.Sharing == row.Sharing) &&
		(!s.Live || row.Live)
}

// Has reports whether the caller of the rule sees the row.
func (r Rule) Has(row Owner) bool {
	return slices.ContainsFunc(r, func(s Scope) bool { return s.Has(row) })
}

// In narrows the scope to a workspace; "" leaves it as it is.
func (s Scope) In(workspace string) Scope {
	switch {
	case workspace == "":
	case s.Workspaces == nil || slices.Contains(s.Workspaces, workspace):
		s.Workspaces = []string{workspace}
	default:
		s.Workspaces = []string{}
	}
	return s
}

// In narrows every scope of the rule to a workspace; "" leaves them as they are.
func (r Rule) In(workspace string) Rule {
	narrowed := make(Rule, len(r))
	for i, s := range r {
		narrowed[i] = s.In(workspace)
	}
	return narrowed
}

// owners are the columns that a scope restricts.
type owners struct{ account, workspace, sharing string }

func ownersOf(table, sharing string) owners {
	return owners{table + ".account_id", table + ".workspace_id", table + "." + sharing}
}

// on returns the SQL condition that the row is in the scope.
func (s Scope) on(c *conditions, row owners) string {
	var all []string
	if s.AccountID != "" {
		all = append(all, row.account+" = "+c.arg(s.AccountID))
	}
	switch {
	case len(s.Workspaces) == 1: // an index has the rows of one workspace in order
		all = append(all, row.workspace+" = "+c.arg(s.Workspaces[0]))
	case s.Workspaces != nil:
		all = append(all, row.workspace+" = ANY("+c.arg(s.Workspaces)+")")
	}
	if s.Sharing != "" {
		all = append(all, row.sharing+" = "+c.arg(s.Sharing))
	}
	if s.Live {
		all = append(all, s.live(c, row.workspace))
	}
	return joined(all, " AND ", "true")
}

// on returns the SQL condition that the caller of the rule sees the row.
func (r Rule) on(c *conditions, row owners) string {
	scopes := make([]string, len(r))
	for i, s := range r {
		scopes[i] = s.on(c, row)
	}
	return "(" + joined(scopes, " OR ", "false") + ")"
}

// live returns the condition that a workspace is neither deleted nor being deleted.
// For an account it searches only the account's own workspaces: the account's rows
// in other workspaces are in built-in ones, which are never deleted. Without coalesce,
// PostgreSQL expects that a table with rows in one workspace has no row in live ones, and
// sorts all rows of the account for each page.
func (s Scope) live(c *conditions, workspace string) string {
	deleted := "SELECT id FROM workspaces WHERE state <> 'live'"
	if s.AccountID != "" {
		deleted += " AND account_id = " + c.arg(s.AccountID)
	}
	return "coalesce(" + workspace + " <> ALL (ARRAY(" + deleted + ")), true)"
}

func joined(parts []string, operator, none string) string {
	if len(parts) == 0 {
		return none
	}
	return strings.Join(parts, operator)
}

// segments adds the scope to the conditions on the rows of a table. It returns a
// FROM item to join the rows with. The item holds what has rows according to the
// table of counts: pairs of a workspace and an account if the scope names workspaces,
// else accounts. segments returns "" when the scope is all workspaces of one account.
func (s Scope) segments(c *conditions, table, counts string) string {
	switch row := ownersOf(table, ""); {
	case s.Workspaces != nil:
		c.add(row.workspace + " = segment.w AND " + row.account + " = segment.a")
		return "(SELECT workspace_id AS w, account_id AS a FROM " + counts + " WHERE total > 0 AND " +
			s.on(c, ownersOf(counts, "")) + ") AS segment"
	case s.AccountID == "":
		c.add(row.account + " = segment.a")
		c.add(s.on(c, row))
		return "(SELECT DISTINCT account_id AS a FROM " + counts + " WHERE total > 0) AS segment"
	default:
		c.add(s.on(c, row))
		return ""
	}
}
