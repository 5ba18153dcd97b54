package lake

import (
	_ "embed"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed catalog.sql
var catalogSQL string

//go:embed bootstrap.sql
var bootstrapSQL string

//go:embed grow.sql
var growSQL string

//go:embed commit.sql
var commitSQL string

//go:embed merge.sql
var mergeSQL string

// statement returns a statement of a file whose statements have names.
func statement(file, name string) string {
	_, rest, found := strings.Cut(file, "-- name: "+name+"\n")
	if !found {
		panic("lake: no such statement: " + name)
	}
	text, _, _ := strings.Cut(rest, "\n-- name: ")
	return text
}

// expect queues a statement that must touch so many rows, or the batch fails with err.
func expect(b *pgx.Batch, rows int64, err error, sql string, args ...any) {
	b.Queue(sql, args...).QueryRow(func(pgx.Row) error { return nil })
	b.QueuedQueries[len(b.QueuedQueries)-1].Fn = func(r pgx.BatchResults) error {
		tag, failed := r.Exec()
		if failed == nil && tag.RowsAffected() != rows {
			failed = err
		}
		return failed
	}
}
