package projections

import "fmt"

// place is what a list of a workspace's resources is cut into: accounts, or
// workspaces and accounts.
type place struct {
	scope     Scope
	workspace string // "" for every one in the scope
	counts    string // the table that knows which places have something
}

// byWorkspace reports whether the places are workspaces.
func (p place) byWorkspace() bool { return members(p.scope, p.workspace) != nil }

// add adds what is in the places to the conditions on a row, and returns the
// places to join it with; none when one account is all there is.
func (p place) add(c *conditions) []string {
	var from []string
	counted, gone := "total > 0", "state <> 'live'"
	if p.scope.AccountID != "" {
		own := "account_id = " + c.arg(p.scope.AccountID)
		counted += " AND " + own
		gone += " AND " + own
	}
	switch {
	case p.byWorkspace():
		from = append(from, fmt.Sprintf("(SELECT workspace_id AS w, account_id AS a FROM %s WHERE %s AND workspace_id = ANY(%s)) AS place",
			p.counts, counted, c.arg(members(p.scope, p.workspace))))
		c.add("workspace_id = place.w AND account_id = place.a")
	case p.scope.AccountID == "":
		from = append(from, fmt.Sprintf("(SELECT DISTINCT account_id AS a FROM %s WHERE total > 0) AS place", p.counts))
		c.add("account_id = place.a")
	default:
		c.add("account_id = ?", p.scope.AccountID)
	}
	// What a workspace owns is gone with it, before the cascade gets there.
	c.add("workspace_id <> ALL (ARRAY(SELECT id FROM workspaces WHERE " + gone + "))")
	return from
}
