package focus

import (
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/snappy"
)

// groupRows bounds the rows in memory before they are written; a row has about
// 600 bytes.
const groupRows = 20_000

type parquetWriter struct {
	out     *parquet.GenericWriter[any]
	columns []Column
	row     parquet.Row
}

// newParquet returns a writer to a file with the schema of the dataset. Nullable
// columns are optional.
func newParquet(to io.Writer, columns []Column) *parquetWriter {
	root := parquet.Group{}
	options := []parquet.WriterOption{
		parquet.Compression(&snappy.Codec{}), parquet.MaxRowsPerRowGroup(groupRows),
		parquet.KeyValueMetadata("FocusVersion", Version), parquet.KeyValueMetadata("SchemaId", SchemaID(columns)),
	}
	for _, c := range columns {
		node := nodeOf(c.Type)
		if c.Nullable {
			node = parquet.Optional(node)
		}
		root[c.Name] = node
		if c.Type == Decimal {
			// The library compares bounds as bytes, where a negative amount is
			// the greatest, and readers would skip rows by such bounds.
			options = append(options, parquet.SkipPageBounds(c.Name))
		}
	}
	// A group sorts its columns by name, which is our order.
	options = append(options, parquet.NewSchema("cost_and_usage", root))
	return &parquetWriter{out: parquet.NewGenericWriter[any](to, options...), columns: columns}
}

func nodeOf(t Type) parquet.Node {
	switch t {
	case Decimal:
		return parquet.Decimal(Scale, Precision, parquet.FixedLenByteArrayType(16))
	case DateTime:
		return parquet.Timestamp(parquet.Microsecond)
	case Integer:
		return parquet.Leaf(parquet.Int64Type)
	case String, JSON:
		return parquet.String()
	}
	panic("focus: no such type: " + string(t))
}

func (w *parquetWriter) write(row []string) error {
	w.row = w.row[:0]
	for i, c := range w.columns {
		value, err := valueOf(c, row[i])
		if err != nil {
			return err
		}
		present := 0
		if c.Nullable && row[i] != "" {
			present = 1
		}
		w.row = append(w.row, value.Level(0, present, i))
	}
	_, err := w.out.WriteRows([]parquet.Row{w.row})
	return err
}

func (w *parquetWriter) close() error { return w.out.Close() }

func valueOf(c Column, text string) (parquet.Value, error) {
	if text == "" {
		return parquet.NullValue(), nil
	}
	switch c.Type {
	case Decimal:
		bytes, err := unscaled(text)
		if err != nil {
			return parquet.Value{}, fmt.Errorf("%s: %w", c.Name, err)
		}
		return parquet.FixedLenByteArrayValue(bytes), nil
	case DateTime:
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return parquet.Value{}, fmt.Errorf("%s: %w", c.Name, err)
		}
		return parquet.Int64Value(at.UnixMicro()), nil
	case Integer:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return parquet.Value{}, fmt.Errorf("%s: %w", c.Name, err)
		}
		return parquet.Int64Value(n), nil
	case String, JSON:
	}
	return parquet.ByteArrayValue([]byte(text)), nil
}

// unscaled returns a decimal as Parquet encodes it, in units of 10^-Scale: 16
// bytes, two's complement, big-endian.
func unscaled(text string) ([]byte, error) {
	digits, places, _ := strings.Cut(text, ".")
	if len(places) > Scale {
		return nil, fmt.Errorf("%s has more than %d decimals", text, Scale)
	}
	n, ok := new(big.Int).SetString(digits+places+strings.Repeat("0", Scale-len(places)), 10)
	if !ok {
		return nil, fmt.Errorf("%q is not a decimal", text)
	}
	if len(new(big.Int).Abs(n).String()) > Precision {
		return nil, fmt.Errorf("%s has more than %d digits before the point", text, Precision-Scale)
	}
	if n.Sign() < 0 {
		n.Add(n, new(big.Int).Lsh(big.NewInt(1), 128))
	}
	return n.FillBytes(make([]byte, 16)), nil
}
