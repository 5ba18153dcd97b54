package projections

import (
	"context"
	"fmt"
	"regexp"
)

// PostgreSQL cannot know how rare the middle of a name is: its statistics are
// of whole values. So a search looks at some names first. Where it finds what
// it looks for, a page is not far, and it walks there; otherwise it has the
// trigrams name all that there is, which is little.
const (
	sampledNames = 500
	commonFrom   = 3 // of the sampled
)

// trigram is read only: a search without one has to walk. Trigrams are of
// letters and digits next to each other.
var trigram = regexp.MustCompile(`[\pL\pN]{3}`)

// isRare reports whether a page of what the search finds in an account is far.
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

// find adds a search that no index serves, for the names on a walk.
func (c *conditions) find(text string) {
	if text != "" {
		c.add("strpos(folded, (SELECT lower(?))) > 0", text)
	}
}

// rare is the page as the best of what the trigrams find.
func (q SimulationQuery) rare(keys []sortKey) (string, []any) {
	var c conditions
	c.add("folded LIKE lower(?)", "%"+likeEscaper.Replace(q.Search)+"%")
	c.add(q.Scope.on(&c, ownersOf(staying, "")))
	c.filter(q.Where)
	table := q.table()
	if table == changing {
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
