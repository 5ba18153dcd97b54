package columns

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"
)

// Writes are the writes of one transaction: the queued statements, and rows that are
// copied. PostgreSQL takes far less time for a copied row than for an inserted one,
// but the COPY of a table costs a round trip of its own.
type Writes struct {
	pgx.Batch

	// CopyFrom is the least number of new rows of a table that are copied; fewer are
	// inserted. 0 means 256.
	CopyFrom int
	copies   []copied
}

// copied is a COPY and its rows in PostgreSQL's binary format.
type copied struct {
	statement string
	rows      []byte
}

// Begin adds rows that are not in the table. If one is, Send fails with a unique
// violation.
func (c Columns[R]) Begin(w *Writes, table string, rows []*R) {
	if w.copy(len(rows)) {
		w.copies = append(w.copies, copied{fmt.Sprintf("COPY %s (%s) FROM STDIN BINARY", table, c.List("")), c.binary(rows)})
	} else {
		c.Insert(w, table, rows, "")
	}
}

// Upsert inserts rows under the ON CONFLICT clause. The rows in begun should be new to
// the table. If there are enough of them, they are copied, without the clause: then Send
// fails with a unique violation if one of them is already in the table.
func (c Columns[R]) Upsert(w *Writes, table string, begun, changed []*R, conflict string) {
	if w.copy(len(begun)) {
		c.Begin(w, table, begun)
	} else {
		changed = append(begun, changed...)
	}
	c.Insert(w, table, changed, conflict)
}

func (w *Writes) copy(rows int) bool { return rows >= cmp.Or(w.CopyFrom, 256) }

// Send runs the writes as one transaction: the first statement, the copies, then
// the other statements.
func (w *Writes) Send(ctx context.Context, db interface {
	Begin(ctx context.Context) (pgx.Tx, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
},
) error {
	if len(w.copies) == 0 {
		return db.SendBatch(ctx, &w.Batch).Close()
	}
	err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		first := min(1, w.Len())
		if err := tx.SendBatch(ctx, &pgx.Batch{QueuedQueries: w.QueuedQueries[:first]}).Close(); err != nil {
			return err
		}
		for _, one := range w.copies {
			if _, err := tx.Conn().PgConn().CopyFrom(ctx, bytes.NewReader(one.rows), one.statement); err != nil {
				return fmt.Errorf("%s: %w", one.statement, err)
			}
		}
		return tx.SendBatch(ctx, &pgx.Batch{QueuedQueries: w.QueuedQueries[first:]}).Close()
	})
	if err == nil { // after an error, a connection may still be reading
		w.release()
	}
	return err
}

// binary returns the rows in the binary format of COPY (the manual of PostgreSQL
// 15, COPY, "Binary Format").
func (c Columns[R]) binary(rows []*R) []byte {
	var out []byte
	if used, ok := buffers.Get().(*[]byte); ok {
		out = *used
	}
	out = append(append(out, "PGCOPY\n\xff\r\n\x00"...), 0, 0, 0, 0, 0, 0, 0, 0)
	for i, r := range rows {
		before := len(out)
		out = binary.BigEndian.AppendUint16(out, uint16(len(c.all)))
		row := reflect.ValueOf(r).Elem()
		for n := range c.all {
			out = c.all[n].binary(out, row)
		}
		if i == 0 {
			out = slices.Grow(out, (len(out)-before)*len(rows)*5/4)
		}
	}
	return append(out, 0xff, 0xff)
}

// buffers are of rows that were copied. New memory for megabytes of rows in every batch
// costs the kernel more time than it takes to write them.
var buffers sync.Pool

// release makes the memory of the rows that were copied available.
func (w *Writes) release() {
	for i := range w.copies {
		out := w.copies[i].rows[:0]
		buffers.Put(&out)
	}
	w.copies = nil
}
