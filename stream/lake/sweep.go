package lake

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/infra/sqlstate"
)

// tidyEvery is how often files are merged and deleted.
const tidyEvery = time.Minute

// keepTidy merges and deletes files until ctx ends. What fails is logged and tried
// again: it does not stop the commits.
func (w *writer) keepTidy(ctx context.Context) error {
	every := time.NewTicker(tidyEvery)
	defer every.Stop()
	for failing := false; ; {
		select {
		case <-every.C:
		case <-ctx.Done():
			return nil
		}
		err := w.tidy(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			w.Log.WarnContext(ctx, "files of the lake could not be merged or deleted; it is tried again", "error", err)
		}
		failing = err != nil
	}
}

// checkEvery is how often the writer looks whether the lake was dropped.
const checkEvery = 5 * time.Second

// errDropped means that the lake was dropped, and perhaps made again.
var errDropped = errors.New("the lake was dropped; it is made again")

// watchCatalog returns errDropped when the catalogue is not the one that was opened.
// Other failures of its query are those of the next commit.
func (w *writer) watchCatalog(ctx context.Context) error {
	every := time.NewTicker(checkEvery)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-ctx.Done():
			return nil
		}
		var path string
		err := w.Pool.QueryRow(ctx, `SELECT value FROM lake.ducklake_metadata WHERE key = 'data_path' AND scope IS NULL`).Scan(&path)
		if sqlstate.IsMissing(err) || errors.Is(err, pgx.ErrNoRows) || err == nil && path != w.dataPath {
			return errDropped
		}
	}
}

func (w *writer) tidy(ctx context.Context) error {
	if err := w.mergeAll(ctx); err != nil {
		return err
	}
	if err := w.publishIceberg(ctx); err != nil { // before what it does not name any more is deleted
		return err
	}
	if err := w.deleteUploads(ctx); err != nil {
		return err
	}
	if err := w.deleteEditions(ctx); err != nil {
		return err
	}
	return w.deleteReplaced(ctx)
}

// sweepFiles bounds how many files are deleted at a time.
const sweepFiles = 500

// deleteUploads deletes the files of attempts that did not commit. They are refused
// first: a writer that still uploads one cannot commit it.
func (w *writer) deleteUploads(ctx context.Context) error {
	_, err := w.Pool.Exec(ctx, `UPDATE lake.netsim_upload SET refused = true WHERE NOT refused AND begun_at < clock_timestamp() - $1::interval`, w.DeleteAfter)
	if err != nil {
		return fmt.Errorf("refuse uploads that did not end: %w", err)
	}
	if err := w.hook("refused"); err != nil {
		return err
	}
	rows, _ := w.Pool.Query(ctx, `SELECT path FROM lake.netsim_upload WHERE refused LIMIT $1`, sweepFiles)
	paths, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("list the uploads that did not end: %w", err)
	}
	if err := w.deleteFiles(ctx, paths); err != nil {
		return err
	}
	if _, err := w.Pool.Exec(ctx, `DELETE FROM lake.netsim_upload WHERE refused AND path = ANY ($1)`, paths); err != nil {
		return fmt.Errorf("forget the uploads that did not end: %w", err)
	}
	return nil
}

// deleteReplaced deletes the files that were replaced long enough ago.
func (w *writer) deleteReplaced(ctx context.Context) error {
	rows, _ := w.Pool.Query(ctx, `
		SELECT s.path FROM lake.ducklake_files_scheduled_for_deletion s
		WHERE s.path_is_relative AND s.schedule_start < clock_timestamp() - $1::interval
			AND NOT EXISTS (SELECT FROM lake.ducklake_data_file f JOIN lake.ducklake_table t USING (table_id)
				WHERE 'main/' || t.path || f.path = s.path)
		LIMIT $2`, w.DeleteAfter, sweepFiles)
	paths, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("list the replaced files: %w", err)
	}
	if err := w.deleteFiles(ctx, paths); err != nil {
		return err
	}
	_, err = w.Pool.Exec(ctx, `DELETE FROM lake.ducklake_files_scheduled_for_deletion WHERE path_is_relative AND path = ANY ($1)`, paths)
	if err != nil {
		return fmt.Errorf("forget the replaced files: %w", err)
	}
	return nil
}

func (w *writer) deleteFiles(ctx context.Context, paths []string) error {
	for _, path := range paths {
		key, err := w.key(w.dataPath, path)
		if err != nil {
			return err
		}
		if err := w.Objects.Delete(ctx, key); err != nil {
			return fmt.Errorf("delete a file of the lake: %w", err)
		}
		if err := w.hook("deleted"); err != nil {
			return err
		}
	}
	w.report.count(0, int64(len(paths)))
	return nil
}
