package focus

import (
	"io"

	"netsim/infra/parquetfile"
)

type parquetWriter struct{ out *parquetfile.Rows }

// newParquet returns a writer to a file with the schema of the dataset. Nullable
// columns are optional.
func newParquet(to io.Writer, columns []Column) parquetWriter {
	fields := make([]parquetfile.Column, len(columns))
	for i, c := range columns {
		fields[i] = parquetfile.Column{Name: c.Name, Type: parquetType(c.Type), Nullable: c.Nullable, Scale: Scale}
	}
	return parquetWriter{parquetfile.NewRows(to, "cost_and_usage", fields, "FocusVersion", Version, "SchemaId", SchemaID(columns))}
}

func parquetType(t Type) parquetfile.Type {
	switch t {
	case Decimal:
		return parquetfile.Decimal
	case DateTime:
		return parquetfile.Timestamp
	case Integer:
		return parquetfile.Integer
	case String, JSON:
		return parquetfile.Text
	}
	panic("focus: no such type: " + string(t))
}

func (w parquetWriter) write(row []string) error { return w.out.Write(row) }

func (w parquetWriter) close() error { return w.out.Close() }
