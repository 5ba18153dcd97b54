package parquetfile

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/snappy"
)

// groupRows bounds the rows in memory before they are written.
const groupRows = 20_000

// Rows writes rows whose values are texts, with Snappy.
type Rows struct {
	out     *parquet.GenericWriter[any]
	columns []Column
	sorted  []int // the columns by name, as in the file
	row     parquet.Row
}

// NewRows returns a writer of a file. Metadata has names and values in turn.
func NewRows(to io.Writer, name string, columns []Column, metadata ...string) *Rows {
	options := []parquet.WriterOption{parquet.MaxRowsPerRowGroup(groupRows)}
	for pair := range slices.Chunk(metadata, 2) {
		options = append(options, parquet.KeyValueMetadata(pair[0], pair[1]))
	}
	w := &Rows{out: NewSchema(columns).Writer(to, name, &snappy.Codec{}, options...), columns: columns, sorted: make([]int, len(columns))}
	for i := range columns {
		w.sorted[i] = i
	}
	slices.SortFunc(w.sorted, func(a, b int) int { return strings.Compare(columns[a].Name, columns[b].Name) })
	return w
}

// Write writes a row: a text for each column, "" for null.
func (w *Rows) Write(row []string) error {
	w.row = w.row[:0]
	for at, i := range w.sorted {
		c := &w.columns[i]
		value, present := parquet.NullValue(), 0
		if row[i] != "" {
			var err error
			if value, err = c.value(row[i]); err != nil {
				return fmt.Errorf("the column %s: %w", c.Name, err)
			}
			if c.Nullable {
				present = 1
			}
		}
		w.row = append(w.row, value.Level(0, present, at))
	}
	_, err := w.out.WriteRows([]parquet.Row{w.row})
	return err
}

// Close ends the file. The writer below it stays open.
func (w *Rows) Close() error { return w.out.Close() }

// TypeOf returns the type of a column with these values, which are JSON texts: Text unless
// all values are integers of 64 bits, or all numbers, or all booleans.
func TypeOf(values []string) Type {
	for _, t := range []Type{Integer, Number, Boolean} {
		c := Column{Type: t}
		if !slices.ContainsFunc(values, func(v string) bool { _, err := c.value(v); return err != nil }) {
			return t
		}
	}
	return Text
}

// value returns the value of a text. A Timestamp is in the form of RFC 3339, and a Date in
// that of its day.
func (c *Column) value(text string) (parquet.Value, error) {
	switch c.Type {
	case Integer:
		n, err := strconv.ParseInt(text, 10, 64)
		return parquet.Int64Value(n), err
	case Number:
		x, err := strconv.ParseFloat(text, 64)
		return parquet.DoubleValue(x), err
	case Boolean:
		if text != "true" && text != "false" {
			return parquet.Value{}, fmt.Errorf("%q is not a boolean", text)
		}
		return parquet.BooleanValue(text == "true"), nil
	case Timestamp:
		at, err := time.Parse(time.RFC3339, text)
		return parquet.Int64Value(at.UnixMicro()), err
	case Date:
		day, err := time.Parse(time.DateOnly, text)
		return parquet.Int32Value(int32(day.Unix() / (24 * 60 * 60))), err
	case Decimal:
		bytes, err := unscaled(text, c.Scale)
		return parquet.FixedLenByteArrayValue(bytes), err
	case Text:
	}
	return parquet.ByteArrayValue([]byte(text)), nil
}

// unscaled returns a decimal as Parquet encodes it, in units of 10^-scale: 16 bytes, two's
// complement, big-endian.
func unscaled(text string, scale int) ([]byte, error) {
	digits, places, _ := strings.Cut(text, ".")
	if len(places) > scale {
		return nil, fmt.Errorf("%s has more than %d decimals", text, scale)
	}
	n, ok := new(big.Int).SetString(digits+places+strings.Repeat("0", scale-len(places)), 10)
	if !ok {
		return nil, fmt.Errorf("%q is not a decimal", text)
	}
	if len(new(big.Int).Abs(n).String()) > Precision {
		return nil, fmt.Errorf("%s has more than %d digits before the point", text, Precision-scale)
	}
	if n.Sign() < 0 {
		n.Add(n, new(big.Int).Lsh(big.NewInt(1), 128))
	}
	return n.FillBytes(make([]byte, 16)), nil
}
