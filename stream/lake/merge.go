package lake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"
)

// candidate is a file that can be merged with its neighbours.
type candidate struct {
	Table    string
	Group    string // files of the same table and group may be merged
	ID       int64
	Snapshot int64
	RowID    int64 // of its first row
	Rows     int64
	Path     string
}

// mergeAll merges the files of each past hour and table into one. Rows stay in their
// order and keep their ids and their snapshots, so what a reader of any snapshot sees
// does not change.
func (w *writer) mergeAll(ctx context.Context) error {
	until := w.Now().Add(-w.MergeAfter).Truncate(time.Hour)
	rows, _ := w.Pool.Query(ctx, statement(mergeSQL, "candidates"), until)
	files, err := pgx.CollectRows(rows, pgx.RowToStructByPos[candidate])
	if err != nil {
		return fmt.Errorf("list the files to merge: %w", err)
	}
	for len(files) > 0 {
		n := adjacent(files)
		if n > 1 {
			if err := w.merge(ctx, files[:n]); err != nil {
				return err
			}
		}
		files = files[n:]
	}
	return nil
}

// adjacent returns how many of the first files have consecutive rows of one group.
func adjacent(files []candidate) int {
	n := 1
	for n < len(files) {
		a, b := &files[n-1], &files[n]
		if a.Table != b.Table || a.Group != b.Group || a.RowID+a.Rows != b.RowID {
			break
		}
		n++
	}
	return n
}

// merge replaces files by one.
func (w *writer) merge(ctx context.Context, files []candidate) error {
	var t *tableEntry
	for _, each := range w.catalog.tables {
		if each.Name == files[0].Table {
			t = each
		}
	}
	if t == nil {
		return nil // of another release
	}
	name := newName() + ".parquet"
	path := t.folder() + name
	if err := w.intend(ctx, []string{path}); err != nil {
		return err
	}
	if err := w.hook("merge intended"); err != nil {
		return err
	}
	m, err := w.writeMerged(ctx, t, path, files)
	if errors.Is(err, errOtherColumns) {
		return nil // a release beside this one writes other columns; the upload is deleted
	}
	if err != nil {
		return fmt.Errorf("merge %d files of the table %s: %w", len(files), t.Name, err)
	}
	if err := w.hook("merge uploaded"); err != nil {
		return err
	}
	if err := w.commitMerged(ctx, t, m, path, name, files); err != nil {
		return fmt.Errorf("commit the merge of %d files of the table %s: %w", len(files), t.Name, err)
	}
	w.report.count(int64(len(files)), 0)
	return w.hook("merge committed")
}

// merged describes a merged file.
type merged struct {
	bytes, footer int64
	sizes         map[string]int64 // of its columns
}

// writeMerged writes the rows of the files to one in the object store.
func (w *writer) writeMerged(ctx context.Context, t *tableEntry, path string, files []candidate) (m merged, err error) {
	key, err := w.key(w.dataPath, path)
	if err != nil {
		return m, err
	}
	upload := w.Objects.Create(ctx, key, contentType)
	defer func() {
		if err != nil {
			err = errors.Join(err, upload.Abort())
		}
	}()
	var c *concat
	for i := range files {
		content, err := w.get(ctx, w.dataPath, t.folder()+files[i].Path)
		if err != nil {
			return m, err
		}
		file, err := openParquet(content)
		if err != nil {
			return m, err
		}
		if file.NumRows() != files[i].Rows {
			return m, fmt.Errorf("the file %s has %d rows, the catalogue says %d", files[i].Path, file.NumRows(), files[i].Rows)
		}
		if c == nil {
			c = newConcat(upload, t.Table, file)
		}
		if err := c.append(file, files[i].Snapshot); err != nil {
			return m, err
		}
	}
	if m.footer, m.sizes, err = c.close(); err != nil {
		return m, err
	}
	m.bytes = c.out.Bytes
	return m, upload.Close()
}

// get reads a file at a path relative to the data path.
func (l *Lake) get(ctx context.Context, dataPath, path string) ([]byte, error) {
	key, err := l.key(dataPath, path)
	if err != nil {
		return nil, err
	}
	body, _, err := l.Objects.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(body)
	return content, errors.Join(err, body.Close())
}

// errChanged means that another writer has replaced a file that was merged.
var errChanged = errors.New("another writer has changed the files")

// commitMerged replaces the files in one snapshot.
func (w *writer) commitMerged(ctx context.Context, t *tableEntry, m merged, path, name string, files []candidate) error {
	var ids, columns, sizes []int64
	var number []bool
	for i := range files {
		ids = append(ids, files[i].ID)
	}
	for _, c := range t.Columns {
		columns, sizes = append(columns, int64(c.ID)), append(sizes, m.sizes[c.Name])
		number = append(number, isNumber(c.Type))
	}
	w.committing.Lock()
	defer w.committing.Unlock()
	return again(ctx, func() error {
		return pgx.BeginFunc(ctx, w.Pool, func(tx pgx.Tx) error {
			b := &pgx.Batch{}
			b.Queue(statement(commitSQL, "durable"))
			expect(b, 1, errLost, statement(mergeSQL, "lease"), Subscriber, w.epoch)
			expect(b, 1, errNoSnapshot, statement(commitSQL, "snapshot"), 1)
			expect(b, 1, errRefused, statement(commitSQL, "uploaded"), []string{path})
			expect(b, int64(len(ids)), errChanged, statement(mergeSQL, "schedule"), ids)
			expect(b, 1, errChanged, statement(mergeSQL, "merged"), ids, name, m.bytes, m.footer)
			b.Queue(statement(mergeSQL, "merged_columns"), ids, columns, sizes, number)
			b.Queue(statement(mergeSQL, "forget_columns"), ids)
			expect(b, int64(len(ids)), errChanged, statement(mergeSQL, "forget"), ids)
			b.Queue(statement(commitSQL, "changes"), fmt.Sprintf("merge_adjacent:%d", t.id), nil)
			if err := tx.SendBatch(ctx, b).Close(); err != nil {
				return err
			}
			return w.hook("merging")
		})
	})
}
