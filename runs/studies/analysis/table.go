package analysis

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/snappy"
)

// ColumnType is the type of a column.
type ColumnType int

// The types of columns.
const (
	TextColumn ColumnType = iota
	IntegerColumn
	NumberColumn
	BooleanColumn
)

// Column is a column of a table. Its name is unique in the table.
type Column struct {
	Name string
	Type ColumnType
}

// ColumnTypeOf returns the type of a column with these values, which are JSON texts:
// TextColumn unless all values are integers of 64 bits, or all numbers, or all booleans.
func ColumnTypeOf(values []string) ColumnType {
	for _, t := range []ColumnType{IntegerColumn, NumberColumn, BooleanColumn} {
		if !slices.ContainsFunc(values, func(v string) bool { _, err := valueOf(t, v); return err != nil }) {
			return t
		}
	}
	return TextColumn
}

// rowsAtOnce bounds the rows in the memory of the writer.
const rowsAtOnce = 1000

// WriteParquet writes a table. A row has a text for each column; an empty one is null.
func WriteParquet(to io.Writer, columns []Column, rows [][]string) error {
	root := parquet.Group{}
	sorted := make([]int, len(columns)) // by name, as a group sorts its columns
	for i, c := range columns {
		root[c.Name], sorted[i] = parquet.Optional(nodeOf(c.Type)), i
	}
	slices.SortFunc(sorted, func(a, b int) int { return strings.Compare(columns[a].Name, columns[b].Name) })
	w := parquet.NewGenericWriter[any](to, parquet.NewSchema("results", root),
		parquet.Compression(&snappy.Codec{}), parquet.CreatedBy("netsim", "", ""))
	for part := range slices.Chunk(rows, rowsAtOnce) {
		written := make([]parquet.Row, len(part))
		for i, texts := range part {
			for at, c := range sorted {
				v, err := valueOf(columns[c].Type, texts[c])
				switch {
				case texts[c] == "":
					written[i] = append(written[i], parquet.NullValue().Level(0, 0, at))
				case err != nil:
					return fmt.Errorf("write the column %s: %w", columns[c].Name, err)
				default:
					written[i] = append(written[i], v.Level(0, 1, at))
				}
			}
		}
		if _, err := w.WriteRows(written); err != nil {
			return fmt.Errorf("write the rows: %w", err)
		}
	}
	return w.Close()
}

func nodeOf(t ColumnType) parquet.Node {
	switch t {
	case IntegerColumn:
		return parquet.Leaf(parquet.Int64Type)
	case NumberColumn:
		return parquet.Leaf(parquet.DoubleType)
	case BooleanColumn:
		return parquet.Leaf(parquet.BooleanType)
	case TextColumn:
	}
	return parquet.String()
}

func valueOf(t ColumnType, text string) (parquet.Value, error) {
	switch t {
	case IntegerColumn:
		n, err := strconv.ParseInt(text, 10, 64)
		return parquet.Int64Value(n), err
	case NumberColumn:
		x, err := strconv.ParseFloat(text, 64)
		return parquet.DoubleValue(x), err
	case BooleanColumn:
		if text != "true" && text != "false" {
			return parquet.Value{}, fmt.Errorf("%q is not a boolean", text)
		}
		return parquet.BooleanValue(text == "true"), nil
	case TextColumn:
	}
	return parquet.ByteArrayValue([]byte(text)), nil
}
