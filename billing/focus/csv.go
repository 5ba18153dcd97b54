package focus

import (
	"encoding/csv"
	"io"
)

// writer writes the rows of a dataset, with values in the order of the columns.
type writer interface {
	write(row []string) error
	close() error
}

type csvWriter struct{ out *csv.Writer }

// newCSV returns a writer to a file, after writing its header. A null is an empty
// field.
func newCSV(to io.Writer, columns []Column) (*csvWriter, error) {
	w := &csvWriter{csv.NewWriter(to)}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return w, w.write(names)
}

func (w *csvWriter) write(row []string) error { return w.out.Write(row) }

func (w *csvWriter) close() error {
	w.out.Flush()
	return w.out.Error()
}
