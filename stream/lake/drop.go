package lake

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/infra/objects"
)

// Dropper deletes folders. objects.Store implements it.
type Dropper interface {
	DeletePrefix(ctx context.Context, prefix string) error
}

var _ Dropper = (*objects.Store)(nil)

// Drop deletes the lake: its catalogue first, then its files. A process with the role
// lake makes it again from offset 0, in another folder.
func Drop(ctx context.Context, pool *pgxpool.Pool, store Dropper, bucket string) error {
	var path string
	var exists bool
	if err := pool.QueryRow(ctx, `SELECT to_regclass('lake.ducklake_metadata') IS NOT NULL`).Scan(&exists); err != nil {
		return err
	}
	if !exists {
		return ErrMissing
	}
	if err := pool.QueryRow(ctx, `SELECT value FROM lake.ducklake_metadata WHERE key = 'data_path' AND scope IS NULL`).Scan(&path); err != nil {
		return fmt.Errorf("read the path of the lake's files: %w", err)
	}
	folder, err := (&Lake{Config: Config{Bucket: bucket}}).key(path, "")
	if err != nil {
		return err
	}
	if _, err := pool.Exec(ctx, `DROP SCHEMA lake CASCADE`); err != nil {
		return fmt.Errorf("drop the catalogue of the lake: %w", err)
	}
	if err := store.DeletePrefix(ctx, folder); err != nil {
		return fmt.Errorf("delete the files of the dropped lake in %s: %w", folder, err)
	}
	return nil
}
