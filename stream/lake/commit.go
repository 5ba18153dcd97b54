package lake

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/stream/tables"
)

// stats describes a finished file.
type stats = tables.Stats

// newName returns a name that no other file or folder has; later ones sort after earlier
// ones.
func newName() string { return events.NewID("facts") }

// commit commits the files in one snapshot together with the positions of all that was
// cut. Without files, as when there were only records that are not facts, it moves the
// positions and makes no snapshot.
func (w *writer) commit(ctx context.Context, cut, files []*newFile) error {
	slices.SortFunc(files, func(a, b *newFile) int { return int(a.table.id - b.table.id) })
	w.committing.Lock()
	defer w.committing.Unlock()
	var snapshot int64
	err := again(ctx, func() error {
		return pgx.BeginFunc(ctx, w.Pool, func(tx pgx.Tx) error {
			if err := tx.SendBatch(ctx, w.commitBatch(cut, files, &snapshot)).Close(); err != nil {
				return err
			}
			return w.hook("committing")
		})
	})
	if err != nil {
		return fmt.Errorf("commit a snapshot of the lake: %w", err)
	}
	if err := w.hook("committed"); err != nil {
		return err
	}
	var rows int64
	for _, f := range cut {
		rows += f.rows
		for s, m := range f.moved {
			w.anchors.move(s, m)
			w.report.move(s, m.to)
		}
	}
	if len(files) > 0 {
		w.report.commit(w.Now(), snapshot, rows, int64(len(files)))
	}
	return nil
}

// commitBatch returns the statements of a commit.
func (w *writer) commitBatch(cut, files []*newFile, snapshot *int64) *pgx.Batch {
	b := &pgx.Batch{}
	b.Queue(statement(commitSQL, "durable"))
	w.queuePositions(b, cut)
	if len(files) == 0 {
		return b
	}
	expect(b, 1, errNoSnapshot, statement(commitSQL, "snapshot"), len(files))
	var paths, names, changes []string
	var ids, rows, bytes, footers []int64
	for _, f := range files {
		paths, names, ids = append(paths, f.path()), append(names, f.name), append(ids, f.table.id)
		rows, bytes, footers = append(rows, f.stats.Rows), append(bytes, f.stats.Bytes), append(footers, f.stats.FooterBytes)
		changes = append(changes, fmt.Sprintf("inserted_into_table:%d", f.table.id))
	}
	expect(b, int64(len(files)), errRefused, statement(commitSQL, "uploaded"), paths)
	expect(b, int64(len(files)), errNoTable, statement(commitSQL, "files"), ids, names, rows, bytes, footers)
	queueColumns(b, files)
	b.Queue(statement(commitSQL, "changes"), strings.Join(changes, ","), positionsText(cut)).QueryRow(func(row pgx.Row) error {
		return row.Scan(snapshot)
	})
	return b
}

// What a commit can find besides errLost.
var (
	errNoSnapshot = fmt.Errorf("the catalogue of the lake has no snapshot")
	errRefused    = fmt.Errorf("a file of the lake was being uploaded for so long that it may be deleted")
	errNoTable    = fmt.Errorf("a file of the lake belongs to no table")
)

// queuePositions queues the compare-and-set of the positions.
func (w *writer) queuePositions(b *pgx.Batch, cut []*newFile) {
	var families []string
	var partitions []int32
	var from, to []int64
	var anchors []string
	for _, f := range cut {
		for s, m := range f.moved {
			families, partitions = append(families, string(s.family)), append(partitions, s.partition)
			from, to = append(from, m.from), append(to, m.to)
			anchors = append(anchors, w.anchors.after(s, m).String())
		}
	}
	expect(b, int64(len(families)), errLost, statement(commitSQL, "position"), families, partitions, from, to, anchors, Subscriber, w.epoch)
}

// positionsText says up to which offsets the snapshot has the log, as JSON:
// {"billing/0":17}, the first offset that it does not have. Partitions that have not
// moved are left out.
func positionsText(cut []*newFile) string {
	at := map[string]int64{}
	for _, f := range cut {
		for s, m := range f.moved {
			at[fmt.Sprintf("%s/%d", s.family, s.partition)] = m.to
		}
	}
	text, _ := json.Marshal(at) //nolint:errchkjson // strings and numbers always encode
	return string(text)
}

// queueColumns queues the statistics of the columns.
func queueColumns(b *pgx.Batch, cut []*newFile) {
	var table, column, bytes, values, nulls []int64
	var least, largest []*string
	var number []bool
	var of []int64
	for _, f := range cut {
		of = append(of, f.table.id)
		for i, c := range f.stats.Columns {
			table, column = append(table, f.table.id), append(column, int64(c.ID))
			bytes, values, nulls = append(bytes, c.Bytes), append(values, c.Values), append(nulls, c.Nulls)
			var low, high *string
			if c.HasMinMax {
				low, high = &c.Min, &c.Max
			}
			least, largest = append(least, low), append(largest, high)
			number = append(number, isNumber(f.table.Columns[i].Type))
		}
	}
	b.Queue(statement(commitSQL, "file_columns"), table, column, bytes, values, nulls, least, largest)
	b.Queue(statement(commitSQL, "table_columns"), table, column, nulls, least, largest, number, values)
	b.Queue(statement(commitSQL, "other_columns"), table, column, of)
}

// isNumber reports whether the bounds of a column are compared as numbers. The texts of
// the others sort like their values.
func isNumber(t tables.Type) bool { return t == tables.Integer || t == tables.Decimal }
