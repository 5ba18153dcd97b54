package projections

import (
	"slices"
	"strings"
)

// Scope is a set of rows: those that meet everything that it says. The zero
// Scope is every row.
type Scope struct {
	AccountID  string   // of this account; "" for every one
	Workspaces []string // in one of these workspaces, each once; nil for every one
	Sharing    string   // shared this far: a traceset's scope, a template's visibility; "" for however far
	Live       bool     // only in workspaces that are not deleted
}

// Rule is who may see the rows of a table: a caller sees the rows of any of
// the rule's scopes. Package access makes the rules. Has applies one to a row
// that was read. on applies it to the rows of a query.
type Rule []Scope

// Owner is what a rule asks of a row.
type Owner struct {
	AccountID   string
	WorkspaceID string
	Sharing     string
	Live        bool // whether the workspace is not deleted
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

// owners are the columns that a scope is about.
type owners struct{ account, workspace, sharing string }

func ownersOf(table, sharing string) owners {
	return owners{table + ".account_id", table + ".workspace_id", table + "." + sharing}
}

// on is Has as an SQL condition.
func (s Scope) on(c *conditions, row owners) string {
	var all []string
	if s.AccountID != "" {
		all = append(all, row.account+" = "+c.arg(s.AccountID))
	}
	switch {
	case len(s.Workspaces) == 1: // which an index has in order
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

// on is Has as an SQL condition.
func (r Rule) on(c *conditions, row owners) string {
	scopes := make([]string, len(r))
	for i, s := range r {
		scopes[i] = s.on(c, row)
	}
	return "(" + joined(scopes, " OR ", "false") + ")"
}

// live is the condition that a workspace is not deleted. A deleted one that
// holds rows of an account is the account's own: the built-in ones stay.
func (s Scope) live(c *conditions, workspace string) string {
	deleted := "SELECT id FROM workspaces WHERE state <> 'live'"
	if s.AccountID != "" {
		deleted += " AND account_id = " + c.arg(s.AccountID)
	}
	return workspace + " <> ALL (ARRAY(" + deleted + "))"
}

func joined(parts []string, operator, none string) string {
	if len(parts) == 0 {
		return none
	}
	return strings.Join(parts, operator)
}

// segments adds the scope to the conditions on the rows of a table, and returns
// the accounts, or the workspaces and accounts, to join the rows with: those for
// which the table of counts has any rows. It is "" when the scope is one account.
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
