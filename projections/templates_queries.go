package projections

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"netsim/events"
)

// TemplateQuery asks for the configurations of the template workspace that are
// not deleted: first the built-in ones, then those of the account, then those of
// other accounts. Each group is newest first.
type TemplateQuery struct {
	Seen    Rule
	Account string // its templates come before those of other accounts; "" for none
	Where   []Filter
	Page    Page
}

// ListTemplates returns one page, with only the columns that a list shows, and
// the position of the next one.
func ListTemplates(ctx context.Context, db Reader, q TemplateQuery) ([]Configuration, []string, error) {
	var c conditions
	account := c.arg(q.Account)
	class := "CASE account_id WHEN '' THEN 0 WHEN " + account + " THEN 1 ELSE 2 END"
	keys := []sortKey{{class, "bigint", false}, {"created_at", "timestamptz", true}, {"id", "text", true}}
	if err := q.Page.fits(keys); err != nil {
		return nil, nil, err
	}
	// A constant, not an argument, so that it matches the index of templates.
	c.add("NOT deleted AND workspace_id = '" + events.TemplateWorkspace + "'")
	c.add(q.Seen.on(&c, ownersOf("configurations", "visibility")))
	c.filter(q.Where)
	c.after(keys, q.Page.After)
	rows, err := db.Query(ctx, fmt.Sprintf(`SELECT id, account_id, name, description, category, visibility, created_at FROM configurations WHERE %s ORDER BY %s LIMIT %s`,
		c.where(), orderBy(keys), strconv.Itoa(q.Page.Limit+1)), c.args...)
	found, err := collect(rows, err, pgx.RowToStructByNameLax[Configuration])
	if err != nil {
		return nil, nil, fmt.Errorf("list templates: %w", err)
	}
	found, next := cut(found, q.Page.Limit, func(t *Configuration) []any { return []any{q.class(t), t.CreatedAt, t.ID} })
	return found, next, nil
}

// class returns the group of a template in the list.
func (q TemplateQuery) class(t *Configuration) int {
	switch t.AccountID {
	case "":
		return 0
	case q.Account:
		return 1
	}
	return 2
}

// ValidatedConfigurations returns which of the configurations have the status
// validated.
func ValidatedConfigurations(ctx context.Context, db Reader, ids []string) (map[string]bool, error) {
	rows, err := db.Query(ctx, `SELECT id FROM configurations WHERE id = ANY($1) AND status = 'validated'`, ids)
	found, err := collect(rows, err, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("find validated configurations: %w", err)
	}
	there := make(map[string]bool, len(found))
	for _, id := range found {
		there[id] = true
	}
	return there, nil
}
