package projections

import (
	"context"
	"fmt"
	"regexp"
)

// The planner does not know how many names contain a text, because PostgreSQL's
// statistics are about whole values. A search therefore samples some names first.
// If enough of them match, a scan in the order of the list finds a page soon.
// Otherwise there are few matches, and the trigram index finds them all.
const (
	sampledNames = 500
	commonFrom   = 3 // matches in the sample
)

// trigram matches three letters or digits next to each other. A search without
// them cannot use the trigram index. It is read only.
var trigram = regexp.MustCompile(`[\pL\pN]{3}`)

// isRare reports whether few simulations of the account match the search.
func (q SimulationQuery) isRare(ctx context.Context, db Reader) (bool, error) {
	if q.Scope.AccountID == "" || !trigram.MatchString(q.Search) {
		return false, nil
	}
	c := conditions{blind: true}
	sample := fmt.Sprintf("SELECT folded FROM simulation_items WHERE account_id = %s ORDER BY created_at DESC, id DESC LIMIT %d",
		c.arg(q.Scope.AccountID), sampledNames)
	c.find(q.Search)
	var found int
	err := db.QueryRow(ctx, fmt.Sprintf("SELECT count(*) FROM (%s) AS sample WHERE %s", sample, c.where()), c.args...).Scan(&found)
	return found < commonFrom, err
}

// find adds a search that filters the rows of a scan, without the trigram index.
func (c *conditions) find(text string) {
	if text != "" {
		c.add("strpos(folded, (SELECT lower(?))) > 0", text)
	}
}

// rare returns the query of the page that finds the matches by the trigram index.
func (q SimulationQuery) rare(keys []sortKey) (string, []any) {
	var c conditions
	c.add("folded LIKE lower(?)", "%"+likeEscaper.Replace(q.Search)+"%")
	c.add(q.Scope.on(&c, ownersOf(itemsTable, "")))
	c.filter(q.Where)
	table := q.table()
	if table == fullTable {
		found := fmt.Sprintf("id = ANY(ARRAY(SELECT id FROM simulation_items WHERE %s))", c.where())
		c.parts = []string{"deleted = ''", found}
	}
	if q.Statuses != nil {
		c.add("status = ANY(?)", q.Statuses)
	}
	c.after(keys, q.Page.After)
	return fmt.Sprintf("SELECT item, %s FROM %s WHERE %s ORDER BY %s LIMIT %d",
		columnsOf(keys), table, c.where(), orderBy(keys), q.Page.Limit+1), c.args
}
