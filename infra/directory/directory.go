// Package directory stores the names of the users, accounts and sandboxes whose
// opaque ids are in events. The names come from tokens and are stored nowhere
// else, so that a person can be erased without breaking a hash chain.
package directory

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/infra/auth"
)

// Directory is the table of names.
type Directory struct {
	Pool *pgxpool.Pool
	Now  func() time.Time
}

// Remember stores the names in a caller's token. Repeating it changes nothing.
func (d *Directory) Remember(ctx context.Context, c auth.Caller) error {
	var kinds, ids, names []string
	add := func(kind, id, name string) {
		if id != "" && name != "" {
			kinds, ids, names = append(kinds, kind), append(ids, id), append(names, name)
		}
	}
	account := c.AccountID
	if c.Platformwide() {
		account = ""
	}
	add("user", c.UserID, c.UserName)
	add("account", c.AccountID, c.AccountName)
	add("sandbox", c.SandboxID, c.SandboxName)
	_, err := d.Pool.Exec(ctx, `
		INSERT INTO netsim.directory AS d (kind, id, name, account_id, updated_at)
		SELECT kind, id, name, $5, $4 FROM unnest($1::text[], $2::text[], $3::text[]) AS u (kind, id, name)
		ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, account_id = excluded.account_id, updated_at = excluded.updated_at
		WHERE (d.name, d.account_id) <> (excluded.name, excluded.account_id)`, kinds, ids, names, d.Now(), account)
	if err != nil {
		return fmt.Errorf("remember names: %w", err)
	}
	return nil
}

// Forget removes a user's name and reports whether there was one. userID is the id
// in events, which stay. The next request with a token of the user stores the name
// again.
func (d *Directory) Forget(ctx context.Context, userID string) (bool, error) {
	done, err := d.Pool.Exec(ctx, `DELETE FROM netsim.directory WHERE kind = 'user' AND id = $1`, userID)
	if err != nil {
		return false, fmt.Errorf("forget a user: %w", err)
	}
	return done.RowsAffected() > 0, nil
}
