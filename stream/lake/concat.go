package lake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"

	"netsim/infra/parquetfile"
	"netsim/stream/tables"
)

// The column of a merged file that says in which snapshot each row was added. Name and
// id are DuckDB's.
const (
	snapshotColumn   = "_ducklake_internal_snapshot_id"
	snapshotColumnID = 2147483539
)

// groupRows is the least number of rows of a row group, but the last.
const groupRows = 100_000

// concat writes the rows of Parquet files to one, in their order, column by column, with
// the snapshot in which each row was added. Memory is bounded by a row group.
type concat struct {
	out      *tables.FooterWriter
	writer   *parquet.GenericWriter[any]
	columns  []*parquet.ColumnWriter
	at       map[string]int // the index of a column by name
	levels   []int          // the definition level of a value by column; that of DuckDB's files is 1 for every column
	values   []parquet.Value
	gathered int64 // rows of the row group
	rows     int64
}

// newConcat begins a file of a table. The columns are those of the table and those of
// the first file.
func newConcat(w io.Writer, t *tables.Table, first *parquet.File) *concat {
	fields := slices.DeleteFunc(slices.Clone(first.Schema().Fields()), func(f parquet.Field) bool { return f.Name() == snapshotColumn })
	schema := parquetfile.Keep(fields, t.ParquetColumns())
	schema.Add(parquetfile.Column{Name: snapshotColumn, Type: parquetfile.Integer, Nullable: true, ID: snapshotColumnID})
	c := &concat{out: &tables.FooterWriter{To: w}, at: map[string]int{}, values: make([]parquet.Value, 1024)}
	c.writer = schema.Writer(c.out, t.Name, tables.Compression())
	c.columns = c.writer.ColumnWriters()
	for i, path := range c.writer.Schema().Columns() {
		c.at[path[0]] = i
		leaf, _ := c.writer.Schema().Lookup(path...)
		c.levels = append(c.levels, leaf.MaxDefinitionLevel)
	}
	return c
}

// errOtherColumns means that files have different columns.
var errOtherColumns = errors.New("the files have different columns")

// append adds the rows of a file that was added in a snapshot.
func (c *concat) append(file *parquet.File, snapshot int64) error {
	paths := file.Schema().Columns()
	from := make([]int, len(c.columns)) // the column in the file
	for i := range from {
		from[i] = -1
	}
	for i, path := range paths {
		at, exists := c.at[path[0]]
		if !exists {
			return fmt.Errorf("%w: only one has %s", errOtherColumns, path[0])
		}
		from[at] = i
	}
	for at, i := range from {
		if i < 0 && at != c.at[snapshotColumn] {
			return fmt.Errorf("%w: one has too few", errOtherColumns)
		}
	}
	for _, group := range file.RowGroups() {
		chunks := group.ColumnChunks()
		for at, i := range from {
			var err error
			if i < 0 {
				err = c.fill(at, parquet.Int64Value(snapshot).Level(0, 1, at), group.NumRows())
			} else {
				err = c.copy(at, chunks[i])
			}
			if err != nil {
				return fmt.Errorf("copy a column: %w", err)
			}
		}
		c.gathered += group.NumRows()
		c.rows += group.NumRows()
		if c.gathered >= groupRows {
			c.gathered = 0
			if err := c.writer.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// fill writes a value n times.
func (c *concat) fill(at int, v parquet.Value, n int64) error {
	for n > 0 {
		some := c.values[:min(n, int64(len(c.values)))]
		for i := range some {
			some[i] = v
		}
		if _, err := c.columns[at].WriteRowValues(some); err != nil {
			return err
		}
		n -= int64(len(some))
	}
	return nil
}

// copy writes the values of a column of a row group.
func (c *concat) copy(at int, chunk parquet.ColumnChunk) (err error) {
	pages := chunk.Pages()
	defer func() { err = errors.Join(err, pages.Close()) }()
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := c.copyPage(at, page.Values()); err != nil {
			return err
		}
		parquet.Release(page)
	}
}

func (c *concat) copyPage(at int, values parquet.ValueReader) error {
	for {
		n, err := values.ReadValues(c.values)
		some := c.values[:n]
		for i := range some {
			level := c.levels[at]
			if some[i].IsNull() {
				if level == 0 {
					return fmt.Errorf("%w: one has nulls in a column that has none in another", errOtherColumns)
				}
				level = 0
			}
			some[i] = some[i].Level(0, level, at)
		}
		if _, failed := c.columns[at].WriteRowValues(some); failed != nil {
			return failed
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// close ends the file. The sizes of its columns are by name, in bytes.
func (c *concat) close() (footer int64, sizes map[string]int64, err error) {
	if err := c.writer.Close(); err != nil {
		return 0, nil, err
	}
	sizes = map[string]int64{}
	for _, group := range c.writer.File().Metadata().RowGroups {
		for _, column := range group.Columns {
			sizes[column.MetaData.PathInSchema[0]] += column.MetaData.TotalCompressedSize
		}
	}
	return c.out.FooterBytes(), sizes, nil
}

// openParquet opens a file in memory.
func openParquet(content []byte) (*parquet.File, error) {
	return parquet.OpenFile(bytes.NewReader(content), int64(len(content)), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
}
