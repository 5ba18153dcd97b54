package tables

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"netsim/infra/facts"
	"netsim/infra/parquetfile"
)

const (
	groupRows = 122_880   // of a row group
	batchRows = 1024      // that are gathered before they are given to the columns
	pageBytes = 256 << 10 // of a column's page before compression
)

// Parquet writes facts of one family to a Parquet file: zstd, columns by name with the
// ids of the table as field ids. The same facts give the same bytes. Memory is bounded
// by one row group, compressed.
type Parquet struct {
	table           *Table
	out             *FooterWriter
	file            *parquet.GenericWriter[any]
	columns         []*parquet.ColumnWriter // by index in the table
	batches         []batch                 // likewise
	nulls           []parquet.Value
	row             Row
	memory          []byte // of the texts of a batch
	gathered, group int
	stats           Stats
}

// batch gathers the values of a column.
type batch struct {
	values  []parquet.Value
	kind    code
	level   int   // of a value that is not null
	column  int   // in the file
	present int64 // values that are not null, of the whole file
	bounds  bounds
}

// NewParquet returns a writer of a file of a table.
func NewParquet(w io.Writer, t *Table) *Parquet {
	p := &Parquet{table: t, out: &FooterWriter{To: w}, nulls: make([]parquet.Value, batchRows)}
	p.file = parquetfile.NewSchema(t.ParquetColumns()).Writer(p.out, t.Name, Compression(), parquet.PageBufferSize(pageBytes))
	byName := map[string]int{}
	for i, path := range p.file.Schema().Columns() {
		byName[path[0]] = i
	}
	writers := p.file.ColumnWriters()
	for _, c := range t.Columns {
		at := byName[c.Name]
		p.columns = append(p.columns, writers[at])
		b := batch{kind: c.Type.code(), column: at}
		if c.Nullable {
			b.level = 1
		}
		p.batches = append(p.batches, b)
		p.stats.Columns = append(p.stats.Columns, ColumnStats{ID: c.ID})
	}
	return p
}

// Compression returns the codec of all files, which keeps its encoders for the next ones.
var Compression = sync.OnceValue(func() *zstd.Codec { return &zstd.Codec{Level: zstd.SpeedFastest} })

// ParquetColumns returns the columns of the table as those of a file.
func (t *Table) ParquetColumns() []parquetfile.Column {
	columns := make([]parquetfile.Column, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = parquetfile.Column{
			Name: c.Name, Type: parquetType(c.Type), Nullable: c.Nullable, ID: int(c.ID), Scale: Scale,
			Few:       c.Type == Text && (c.Name == "type" || c.Name == "actor" || c.Name == "partition_key"),
			Unbounded: c.Type == JSON || c.Name == "event_hash",
		}
	}
	return columns
}

func parquetType(t Type) parquetfile.Type {
	switch t {
	case Text, JSON:
		return parquetfile.Text
	case Integer:
		return parquetfile.Integer
	case Boolean:
		return parquetfile.Boolean
	case Timestamp:
		return parquetfile.Timestamp
	case Date:
		return parquetfile.Date
	case Decimal:
		return parquetfile.Decimal
	}
	panic("tables: no such type: " + string(t))
}

// Append writes a fact. After an error the file is of no use.
func (p *Parquet) Append(f *facts.Fact) error {
	if err := p.table.Row(&p.row, f); err != nil {
		return err
	}
	return p.AppendRow(&p.row)
}

// AppendRow writes a row of the table.
func (p *Parquet) AppendRow(r *Row) error {
	for i := range frameColumns {
		if r.filled[i] {
			p.add(i, &r.values[i])
		}
	}
	for _, i := range r.used {
		if r.filled[i] {
			p.add(i, &r.values[i])
		}
	}
	p.gathered++
	p.stats.Rows++
	if p.gathered < batchRows {
		return nil
	}
	return p.write()
}

// add gathers a value of the row that is being added.
func (p *Parquet) add(i int, v *Value) {
	b := &p.batches[i]
	if n := len(b.values); n < p.gathered {
		b.values = append(b.values, p.nulls[n:p.gathered]...)
	}
	b.present++
	b.bounds.add(b.kind, v)
	b.values = append(b.values, p.value(b.kind, v).Level(0, b.level, b.column))
}

func (p *Parquet) value(t code, v *Value) parquet.Value {
	switch t {
	case text, nested:
		return parquet.ByteArrayValue(p.keep(v.Text))
	case integral, timestamps:
		return parquet.Int64Value(v.Int)
	case boolean:
		return parquet.BooleanValue(v.Int != 0)
	case date:
		return parquet.Int32Value(int32(v.Int))
	case decimal:
		var b [16]byte
		binary.BigEndian.PutUint64(b[:8], v.Amount.Hi)
		binary.BigEndian.PutUint64(b[8:], v.Amount.Lo)
		return parquet.FixedLenByteArrayValue(p.keep(b[:]))
	}
	panic("tables: no such type")
}

// keep copies a text to memory that lives until the batch is written.
func (p *Parquet) keep(value []byte) []byte {
	if cap(p.memory)-len(p.memory) < len(value) {
		p.memory = make([]byte, 0, max(2*cap(p.memory), len(value), 64<<10))
	}
	from := len(p.memory)
	p.memory = append(p.memory, value...)
	return p.memory[from:len(p.memory):len(p.memory)]
}

// write gives what was gathered to the columns.
func (p *Parquet) write() error {
	if p.gathered == 0 { // parquet-go computes the address of the first value
		return nil
	}
	for i := range p.columns {
		b := &p.batches[i]
		b.values = append(b.values, p.nulls[len(b.values):p.gathered]...)
		if _, err := p.columns[i].WriteRowValues(b.values); err != nil {
			return fmt.Errorf("write the column %s: %w", p.table.Columns[i].Name, err)
		}
		b.values = b.values[:0]
	}
	p.memory = p.memory[:0]
	p.group += p.gathered
	p.gathered = 0
	if p.group < groupRows {
		return nil
	}
	p.group = 0
	return p.file.Flush()
}

// Close ends the file. The writer below it stays open.
func (p *Parquet) Close() (Stats, error) {
	if err := p.write(); err != nil {
		return Stats{}, err
	}
	if err := p.file.Close(); err != nil {
		return Stats{}, err
	}
	p.stats.Bytes = p.out.Bytes
	p.stats.FooterBytes = p.out.FooterBytes()
	for _, group := range p.file.File().Metadata().RowGroups {
		for i := range p.columns {
			p.stats.Columns[i].Bytes += group.Columns[p.batches[i].column].MetaData.TotalCompressedSize
		}
	}
	for i := range p.columns {
		c := &p.stats.Columns[i]
		c.Values, c.Nulls = p.batches[i].present, p.stats.Rows-p.batches[i].present
		c.Min, c.Max, c.HasMinMax = p.batches[i].bounds.texts(p.table.Columns[i].Type)
	}
	return p.stats, nil
}

// Written returns how many bytes were written so far.
func (p *Parquet) Written() int64 { return p.out.Bytes }

// CountRows returns the number of rows that a file says it has.
func CountRows(r io.ReaderAt, size int64) (int64, error) {
	f, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return 0, err
	}
	return f.NumRows(), nil
}
