// Package parquetfile has the one way to make a Parquet file: its schema from a list of
// columns, which of them have bounds, and a writer of rows whose values are texts.
package parquetfile

import (
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

// Type is the type of a column.
type Type int

// The types of columns.
const (
	Text Type = iota
	Integer
	Number // 64 bits, floating
	Boolean
	Timestamp // UTC, microseconds
	Date
	Decimal // of Precision digits
)

// Precision is the number of digits of a Decimal, which takes 16 bytes.
const Precision = 38

// Column is a column of a file. Its name is unique in the file.
type Column struct {
	Name     string
	Type     Type
	Nullable bool
	ID       int // the field id, 0 for none
	Scale    int // the digits of a Decimal after the point
	// Few says that the column has few different values, so that a dictionary helps.
	Few bool
	// Unbounded says that readers look for no range of the column, so that its pages have
	// no bounds.
	Unbounded bool
}

// Schema is the schema of a file.
type Schema struct {
	fields  parquet.Group // sorts its columns by name
	options []parquet.WriterOption
}

// NewSchema returns a schema with the columns, in the order of their names.
func NewSchema(columns []Column) *Schema {
	s := &Schema{fields: parquet.Group{}}
	for _, c := range columns {
		s.Add(c)
	}
	return s
}

// Keep returns a schema with the columns of another file as they are there. columns say
// only which of them have bounds.
func Keep(fields []parquet.Field, columns []Column) *Schema {
	s := &Schema{fields: parquet.Group{}}
	for _, f := range fields {
		s.fields[f.Name()] = f
	}
	for _, c := range columns {
		s.bound(c)
	}
	return s
}

// Add adds a column.
func (s *Schema) Add(c Column) {
	node := c.node()
	if c.Nullable {
		node = parquet.Optional(node)
	}
	if c.ID != 0 {
		node = parquet.FieldID(node, c.ID)
	}
	s.fields[c.Name] = node
	s.bound(c)
}

// bound leaves out the bounds of a column that has none. The library compares decimals as
// bytes, where a negative amount is the greatest, and readers would skip rows by such bounds.
func (s *Schema) bound(c Column) {
	if c.Unbounded || c.Type == Decimal {
		s.options = append(s.options, parquet.SkipPageBounds(c.Name))
	}
}

// Writer returns a writer of a file with the schema, which has a name.
func (s *Schema) Writer(to io.Writer, name string, codec compress.Codec, options ...parquet.WriterOption) *parquet.GenericWriter[any] {
	return parquet.NewGenericWriter[any](to, append(append([]parquet.WriterOption{
		parquet.NewSchema(name, s.fields), parquet.Compression(codec), parquet.CreatedBy("netsim", "", ""),
	}, s.options...), options...)...)
}

func (c *Column) node() parquet.Node {
	switch c.Type {
	case Text:
		if c.Few {
			return parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
		}
		return parquet.String()
	case Integer:
		return parquet.Leaf(parquet.Int64Type)
	case Number:
		return parquet.Leaf(parquet.DoubleType)
	case Boolean:
		return parquet.Leaf(parquet.BooleanType)
	case Timestamp:
		return parquet.Timestamp(parquet.Microsecond)
	case Date:
		return parquet.Date()
	case Decimal:
		return parquet.Decimal(c.Scale, Precision, parquet.FixedLenByteArrayType(16))
	}
	panic("parquetfile: no such type")
}
