package login

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/infra/wait"
)

// row is a row of netsim.console_sessions.
type row struct {
	Hash        []byte
	UserID      string
	Tokens      []byte // sealed
	Generation  int64
	RefreshAt   time.Time
	TokenEndsAt time.Time
	UsedAt      time.Time
	EndsAt      time.Time
	ExpiresAt   time.Time
	CreatedAt   time.Time
}

const columns = `hash, user_id, tokens, generation, refresh_at, token_ends_at, used_at, ends_at, expires_at, created_at`

// find returns the row of a session that has not expired. The error is Unauthorized if there
// is none.
func (s *sessions) find(ctx context.Context, hash []byte) (row, error) {
	rows, err := s.db.Query(ctx, `SELECT `+columns+` FROM netsim.console_sessions WHERE hash = $1 AND expires_at > $2`, hash, s.now())
	return one(rows, err, "find a session")
}

// one returns the row of a query. The error is Unauthorized if there is none.
func one(rows pgx.Rows, err error, doing string) (row, error) {
	if err != nil {
		return row{}, fmt.Errorf("%s: %w", doing, err)
	}
	found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[row])
	if errors.Is(err, pgx.ErrNoRows) {
		return row{}, errNoSession()
	}
	if err != nil {
		return row{}, fmt.Errorf("%s: %w", doing, err)
	}
	return found, nil
}

// insert stores a session, and deletes the former one of the browser and those of the user
// that are too many.
func (s *sessions) insert(ctx context.Context, r row, former []byte) error {
	err := pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		var b pgx.Batch
		b.Queue(`SELECT pg_advisory_xact_lock(hashtextextended('sessions of the console ' || $1, 0))`, r.UserID)
		b.Queue(`DELETE FROM netsim.console_sessions WHERE hash = $1`, former)
		b.Queue(`
			DELETE FROM netsim.console_sessions WHERE hash IN (
				SELECT hash FROM netsim.console_sessions WHERE user_id = $1 ORDER BY used_at DESC, hash OFFSET $2)`, r.UserID, s.perUser-1)
		b.Queue(`INSERT INTO netsim.console_sessions (`+columns+`) VALUES ($1, $2, $3, 1, $4, $5, $6, $7, $8, $9)`,
			r.Hash, r.UserID, r.Tokens, r.RefreshAt, r.TokenEndsAt, r.UsedAt, r.EndsAt, r.ExpiresAt, r.CreatedAt)
		return tx.SendBatch(ctx, &b).Close()
	})
	if err != nil {
		return fmt.Errorf("store a session: %w", err)
	}
	return nil
}

// touch stores when a session was used last.
func (s *sessions) touch(ctx context.Context, r row) error {
	_, err := s.db.Exec(ctx, `
		UPDATE netsim.console_sessions SET used_at = $2, expires_at = $3 WHERE hash = $1 AND used_at < $2`, r.Hash, r.UsedAt, r.ExpiresAt)
	if err != nil {
		return fmt.Errorf("note the use of a session: %w", err)
	}
	return nil
}

// lease takes the lease of a row that nobody has refreshed meanwhile, or returns errLeased.
// Its times are the database's, which all processes share.
func (s *sessions) lease(ctx context.Context, r row) error {
	done, err := s.db.Exec(ctx, `
		UPDATE netsim.console_sessions SET leased_until = clock_timestamp() + $3
		WHERE hash = $1 AND generation = $2 AND leased_until < clock_timestamp()`, r.Hash, r.Generation, leaseTime)
	if err != nil {
		return fmt.Errorf("lease a session: %w", err)
	}
	if done.RowsAffected() == 0 {
		return errLeased
	}
	return nil
}

// rest lets no process refresh a session for a moment.
func (s *sessions) rest(ctx context.Context, r row) error {
	_, err := s.db.Exec(ctx, `
		UPDATE netsim.console_sessions SET leased_until = clock_timestamp() + $3 WHERE hash = $1 AND generation = $2`, r.Hash, r.Generation, restTime)
	if err != nil {
		return fmt.Errorf("end the lease of a session: %w", err)
	}
	return nil
}

// replace stores the refreshed tokens of a session. The error is Unauthorized if it has ended
// meanwhile. A refresh token that was replaced is worth nothing any more, so the commit is
// durable.
func (s *sessions) replace(ctx context.Context, r row) error {
	var replaced bool
	err := pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SET LOCAL synchronous_commit = on`); err != nil {
			return err
		}
		done, err := tx.Exec(ctx, `
			UPDATE netsim.console_sessions SET tokens = $3, generation = $2, refresh_at = $4, token_ends_at = $5, leased_until = '-infinity'
			WHERE hash = $1 AND generation = $2 - 1`, r.Hash, r.Generation, r.Tokens, r.RefreshAt, r.TokenEndsAt)
		replaced = done.RowsAffected() > 0
		return err
	})
	if err != nil {
		return fmt.Errorf("store refreshed tokens: %w", err)
	}
	if !replaced {
		return errNoSession()
	}
	return nil
}

// remove deletes the row of a session unless it was refreshed meanwhile.
func (s *sessions) remove(ctx context.Context, r row) (bool, error) {
	done, err := s.db.Exec(ctx, `DELETE FROM netsim.console_sessions WHERE hash = $1 AND generation = $2`, r.Hash, r.Generation)
	if err != nil {
		return false, fmt.Errorf("end a session: %w", err)
	}
	return done.RowsAffected() > 0, nil
}

// logout deletes a session and returns its row.
func (s *sessions) logout(ctx context.Context, hash []byte) (row, error) {
	rows, err := s.db.Query(ctx, `DELETE FROM netsim.console_sessions WHERE hash = $1 RETURNING `+columns, hash)
	return one(rows, err, "end a session")
}

// The deletion of expired rows.
const (
	expireEvery = 5 * time.Minute
	expiryPage  = 1000 // rows of a transaction
)

// Run deletes the rows of sessions that have expired, until ctx ends. Several processes can
// do it at the same time.
func (l *Login) Run(ctx context.Context) error {
	for wait.For(ctx, expireEvery) == nil {
		if err := l.sessions.expire(ctx); err != nil && ctx.Err() == nil {
			l.Log.WarnContext(ctx, "expired sessions of the console were not deleted", "error", err)
		}
	}
	return nil
}

// expire deletes the rows of sessions that have expired.
func (s *sessions) expire(ctx context.Context) error {
	for {
		done, err := s.db.Exec(ctx, `
			DELETE FROM netsim.console_sessions WHERE hash IN (
				SELECT hash FROM netsim.console_sessions WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`, s.now(), expiryPage)
		if err != nil {
			return fmt.Errorf("delete expired sessions: %w", err)
		}
		if done.RowsAffected() < expiryPage {
			return nil
		}
	}
}
