package tables

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"netsim/events"
	"netsim/infra/facts"
)

// Value is a value of a column that is not null. Which field holds it depends on the
// column's type.
type Value struct {
	Text   []byte // Text, JSON
	Int    int64  // Integer; Boolean, 0 or 1; Timestamp, µs since 1970; Date, days since 1970
	Amount Amount // Decimal
}

// Row is a fact as a row of its family's table. The zero Row can be filled by
// Table.Row, as often as wanted.
type Row struct {
	table  *Table
	values []Value
	filled []bool
	used   []int // the indexes of members that are filled

	scratch []byte // memory of values that are not in the record
}

// Get returns the value of a column, false when it is null. Its text shares memory
// with the fact and the row, and must not be changed.
func (r *Row) Get(index int) (Value, bool) {
	if !r.filled[index] {
		return Value{}, false
	}
	return r.values[index], true
}

// ValueError is an amount or a day in a fact that the column's type cannot hold.
type ValueError struct {
	Position events.Position
	Column   string
	Text     string
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("the fact at %s/%d offset %d: %q does not fit the column %s", e.Position.Family, e.Position.Partition, e.Position.Offset, e.Text, e.Column)
}

// Row fills a row with a fact of the table's family. It needs the fact's frame and
// record, and not its decoded data. The error is a *ValueError, or that of a fact whose
// frame cannot be read, which cannot be an accepted one.
func (t *Table) Row(r *Row, f *facts.Fact) error {
	if f.Family != t.Family || f.ID == "" {
		return fmt.Errorf("the record at %s/%d offset %d is no fact of the table %s", f.Family, f.Partition, f.Offset, t.Name)
	}
	r.reset(t)
	r.frame(f)
	m := t.members[f.Type]
	if m == nil {
		return nil
	}
	bad := -1
	if !r.read(f.Record.Value, m, &bad) {
		if bad >= 0 {
			return &ValueError{
				Position: events.Position{Family: f.Family, Partition: f.Partition, Offset: f.Offset},
				Column:   t.Columns[bad].Name, Text: string(r.values[bad].Text),
			}
		}
		r.clear()
	}
	return nil
}

func (r *Row) reset(t *Table) {
	if r.table != t {
		r.table, r.values, r.filled = t, make([]Value, len(t.Columns)), make([]bool, len(t.Columns))
		r.used = r.used[:0]
	}
	r.clear()
	r.scratch = r.scratch[:0]
}

// clear makes all members null.
func (r *Row) clear() {
	for _, i := range r.used {
		r.filled[i] = false
	}
	r.used = r.used[:0]
}

func (r *Row) frame(f *facts.Fact) {
	r.required(eventID, f.ID)
	r.required(eventType, f.Type)
	r.required(stream, f.Stream)
	r.integer(sequence, f.Sequence)
	r.integer(happened, f.Time.UnixMicro())
	r.integer(recorded, f.RecordedAt.UnixMicro())
	r.required(partitionKey, f.PartitionKey)
	r.optional(actor, f.Actor)
	r.optional(commandID, f.CommandID)
	r.optional(correlationID, f.CorrelationID)
	r.optional(causeID, f.CauseID)
	r.integer(dataVersion, int64(f.DataVersion))
	from := len(r.scratch)
	r.scratch = hex.AppendEncode(r.scratch, f.Hash[:])
	r.values[hash].Text, r.filled[hash] = r.scratch[from:], true
	r.integer(sourcePartition, int64(f.Partition))
	r.integer(sourceOffset, f.Offset)
	r.values[data].Text, r.filled[data] = valid(f.Record.Value), true
}

func (r *Row) required(i int, text string) { r.values[i].Text, r.filled[i] = r.keep(text), true }

func (r *Row) optional(i int, text string) {
	if r.filled[i] = text != ""; r.filled[i] {
		r.values[i].Text = r.keep(text)
	}
}

func (r *Row) integer(i int, n int64) { r.values[i].Int, r.filled[i] = n, true }

// keep returns a copy of a text in the row's memory.
func (r *Row) keep(text string) []byte {
	from := len(r.scratch)
	r.scratch = append(r.scratch, text...)
	return r.scratch[from:len(r.scratch):len(r.scratch)]
}

// fill marks a member's column as not null.
func (r *Row) fill(i int) {
	if !r.filled[i] {
		r.filled[i] = true
		r.used = append(r.used, i)
	}
}

// null makes a member null again, as its last value in the data says.
func (r *Row) null(i int) { r.filled[i] = false }

// valid returns a text in which bytes that are not UTF-8 are U+FFFD.
func valid(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	return []byte(string([]rune(string(text))))
}

// AppendText appends the value of a column as text, and nothing when it is null:
// integers in decimal, booleans as true and false, times in RFC 3339 with
// microseconds, days as YYYY-MM-DD, and amounts with 18 places.
func (r *Row) AppendText(dst []byte, index int) []byte {
	if !r.filled[index] {
		return dst
	}
	v := &r.values[index]
	switch r.table.Columns[index].Type {
	case Text, JSON:
		return append(dst, v.Text...)
	case Integer:
		return strconv.AppendInt(dst, v.Int, 10)
	case Boolean:
		return strconv.AppendBool(dst, v.Int != 0)
	case Timestamp:
		return time.UnixMicro(v.Int).UTC().AppendFormat(dst, "2006-01-02T15:04:05.000000Z")
	case Date:
		return time.Unix(v.Int*86400, 0).UTC().AppendFormat(dst, time.DateOnly)
	case Decimal:
		return v.Amount.append(dst)
	}
	panic("tables: no such type: " + string(r.table.Columns[index].Type))
}
