package webhooks

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// MaxAttempts is how often a message is attempted, over three days.
const MaxAttempts = 10

// DB is a pool or a transaction.
type DB interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Attempts returns the last attempts of a webhook, newest first, at most limit, and of
// those before a number unless that is 0. Of each webhook the last thousand are kept.
func Attempts(ctx context.Context, db DB, webhook string, before int64, limit int) ([]Attempt, error) {
	return nil, errors.ErrUnsupported
}
