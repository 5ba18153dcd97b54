package projections

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// WebhookReach is what a caller sees, and so which webhooks it may read and change: those
// of the account that send nothing else. Package access makes it.
type WebhookReach struct {
	AccountID  string   // "" for every account
	Workspaces []string // nil for all of the account
	Billing    bool
}

// Has reports whether the webhook sends nothing beyond the reach.
func (r WebhookReach) Has(w *Webhook) bool {
	within := r.Workspaces == nil
	if listed, err := w.Reach(); err == nil && !within && !w.AllWorkspaces {
		within = !slices.ContainsFunc(listed, func(id string) bool { return !slices.Contains(r.Workspaces, id) })
	}
	return (r.AccountID == "" || r.AccountID == w.AccountID) && within && (r.Billing || !w.Billing)
}

// on returns the SQL condition of Has.
func (r WebhookReach) on(c *conditions) string {
	all := []string{"true"}
	if r.AccountID != "" {
		all = append(all, "account_id = "+c.arg(r.AccountID))
	}
	if r.Workspaces != nil {
		all = append(all, "NOT all_workspaces AND workspaces::jsonb <@ to_jsonb("+c.arg(r.Workspaces)+"::text[])")
	}
	if !r.Billing {
		all = append(all, "NOT billing")
	}
	return strings.Join(all, " AND ")
}

// FindWebhook reads a webhook, deleted or not. It returns NotFound for a missing one.
func FindWebhook(ctx context.Context, db Reader, id string) (Webhook, error) {
	return find(ctx, db, &NewWebhooks().table, "webhook", id)
}

// WebhookQuery asks for webhooks that are not deleted, newest first.
type WebhookQuery struct {
	Seen WebhookReach
	Page Page
}

// ListWebhooks returns one page and the position of the next one.
func ListWebhooks(ctx context.Context, db Reader, q WebhookQuery) ([]Webhook, []string, error) {
	t := &NewWebhooks().table
	keys := []sortKey{{"created_at", "timestamptz", true}, {"id", "text", true}}
	if err := q.Page.fits(keys); err != nil {
		return nil, nil, err
	}
	var c conditions
	c.add("NOT deleted")
	c.add(q.Seen.on(&c))
	c.after(keys, q.Page.After)
	rows, err := db.Query(ctx, fmt.Sprintf(`SELECT %s FROM webhooks WHERE %s ORDER BY %s LIMIT %d`,
		t.columns.List(""), c.where(), orderBy(keys), q.Page.Limit+1), c.args...)
	found, err := collect(rows, err, t.columns.Scan)
	if err != nil {
		return nil, nil, fmt.Errorf("list webhooks: %w", err)
	}
	found, next := cut(found, q.Page.Limit, func(w *Webhook) []any { return []any{w.CreatedAt, w.ID} })
	return found, next, nil
}

// CountWebhooks counts the webhooks of an account that are not deleted.
func CountWebhooks(ctx context.Context, db Reader, account string) (count int, err error) {
	if err := db.QueryRow(ctx, `SELECT count(*) FROM webhooks WHERE account_id = $1 AND NOT deleted`, account).Scan(&count); err != nil {
		return 0, fmt.Errorf("count the webhooks of %s: %w", account, err)
	}
	return count, nil
}

// WebhookVersions returns the versions of the webhooks that are not deleted, by id.
func WebhookVersions(ctx context.Context, db Reader) (map[string]int64, error) {
	versions := map[string]int64{}
	rows, err := db.Query(ctx, `SELECT id, version FROM webhooks WHERE NOT deleted`)
	if err == nil {
		var id string
		var version int64
		_, err = pgx.ForEachRow(rows, []any{&id, &version}, func() error {
			versions[id] = version
			return nil
		})
	}
	if err != nil {
		return nil, fmt.Errorf("read the versions of the webhooks: %w", err)
	}
	return versions, nil
}

// FindWebhooks reads those of the webhooks that are not deleted.
func FindWebhooks(ctx context.Context, db Reader, ids []string) ([]Webhook, error) {
	t := &NewWebhooks().table
	rows, err := db.Query(ctx, `SELECT `+t.columns.List("")+` FROM webhooks WHERE id = ANY ($1) AND NOT deleted`, ids)
	found, err := collect(rows, err, t.columns.Scan)
	if err != nil {
		return nil, fmt.Errorf("read webhooks: %w", err)
	}
	return found, nil
}
