package service

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/cmd/settings"
	"netsim/infra/replicas"
)

// cursorKeys returns the keys that seal cursors and tokens, newest first. They derive from
// the writer keys, which all processes have, also those of another region. Cursors of
// releases before that can be opened, too. Without writer keys, which only development
// does, the keys are in the database.
func (s *base) cursorKeys(ctx context.Context) ([][]byte, error) {
	secrets, err := s.secrets()
	if err != nil {
		return nil, err
	}
	derived, err := replicas.Keys(secrets)
	if err != nil {
		return nil, err
	}
	stored, err := storedKeys(ctx, s.verified)
	return append(derived, stored...), err
}

// secrets returns the writer keys, from which other keys derive, newest first.
func (s *base) secrets() (secrets [][]byte, err error) {
	for _, text := range settings.SplitWriterKeys(s.config.WriterKeys) {
		secret, err := hex.DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("NETSIM_WRITER_KEYS: %w", err)
		}
		secrets = append(secrets, secret)
	}
	return secrets, nil
}

// storedKeys returns the keys in the database, newest first. It creates a key when the
// newest key is older than a day.
func storedKeys(ctx context.Context, pool *pgxpool.Pool) ([][]byte, error) {
	var keys [][]byte
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		fresh := make([]byte, 32)
		rand.Read(fresh) //nolint:errcheck // never fails
		_, err := tx.Exec(ctx, `LOCK TABLE netsim.cursor_keys IN SHARE ROW EXCLUSIVE MODE`)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			INSERT INTO netsim.cursor_keys (key, created_at) SELECT $1, now()
			WHERE NOT EXISTS (SELECT FROM netsim.cursor_keys WHERE created_at > now() - interval '1 day')`, fresh)
		if err != nil {
			return err
		}
		if _, err = tx.Exec(ctx, `DELETE FROM netsim.cursor_keys WHERE created_at < now() - interval '3 days'`); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT key FROM netsim.cursor_keys ORDER BY id DESC`)
		if err != nil {
			return err
		}
		keys, err = pgx.CollectRows(rows, pgx.RowTo[[]byte])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load the keys of cursors: %w", err)
	}
	return keys, nil
}
