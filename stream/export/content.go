package export

import (
	"bufio"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"netsim/infra/facts"
	"netsim/stream/public"
	"netsim/stream/tables"
)

// content writes the facts of a file in a format.
type content interface {
	add(f *facts.Fact, r *tables.Row) error
	close() error
}

func newContent(format string, to io.Writer, t *tables.Table, topic string) content {
	switch format {
	case Parquet:
		return parquetContent{tables.NewParquet(to, t)}
	case CSV:
		return newCSV(to, t)
	}
	return &lines{to: to, topic: topic}
}

type parquetContent struct{ file *tables.Parquet }

func (c parquetContent) add(_ *facts.Fact, r *tables.Row) error { return c.file.AppendRow(r) }

func (c parquetContent) close() error {
	_, err := c.file.Close()
	return err
}

// lines writes CloudEvents as JSON, one a line.
type lines struct {
	to    io.Writer
	topic string
	line  []byte
}

func (c *lines) add(f *facts.Fact, _ *tables.Row) error {
	one := *f
	if !json.Valid(f.Record.Value) {
		one.Err = errors.New("the data is not JSON")
	}
	c.line = append(public.AppendJSON(c.line[:0], &one, c.topic), '\n')
	_, err := c.to.Write(c.line)
	return err
}

func (c *lines) close() error { return nil }

// sheet writes rows as CSV (RFC 4180) with a header. A null is an empty field, and an
// empty text is "".
type sheet struct {
	to    io.Writer
	table *tables.Table
	line  []byte
	value []byte
}

func newCSV(to io.Writer, t *tables.Table) *sheet {
	c := &sheet{to: to, table: t}
	for i, column := range t.Columns {
		if i > 0 {
			c.line = append(c.line, ',')
		}
		c.line = append(c.line, column.Name...)
	}
	c.line = append(c.line, "\r\n"...)
	return c
}

func (c *sheet) add(_ *facts.Fact, r *tables.Row) error {
	for i := range c.table.Columns {
		if i > 0 {
			c.line = append(c.line, ',')
		}
		if _, present := r.Get(i); !present {
			continue
		}
		c.value = r.AppendText(c.value[:0], i)
		switch c.table.Columns[i].Type {
		case tables.Text:
			c.quote(len(c.value) > 0 && strings.IndexByte("=+-@\t\r\n", c.value[0]) >= 0)
		case tables.JSON:
			c.quote(false)
		case tables.Integer, tables.Boolean, tables.Timestamp, tables.Date, tables.Decimal:
			c.line = append(c.line, c.value...)
		}
	}
	c.line = append(c.line, "\r\n"...)
	_, err := c.to.Write(c.line)
	c.line = c.line[:0]
	return err
}

// quote appends the value in quotes. A text that a spreadsheet would read as a formula
// gets an apostrophe in front: users choose names, and others open the file.
func (c *sheet) quote(formula bool) {
	c.line = append(c.line, '"')
	if formula {
		c.line = append(c.line, '\'')
	}
	for _, b := range c.value {
		if b == '"' {
			c.line = append(c.line, '"')
		}
		c.line = append(c.line, b)
	}
	c.line = append(c.line, '"')
}

// close writes the header of a file without rows.
func (c *sheet) close() error {
	_, err := c.to.Write(c.line)
	return err
}

// tally counts and hashes the bytes that it passes on.
type tally struct {
	to    io.Writer
	hash  hash.Hash
	bytes int64
}

func (t *tally) Write(p []byte) (int, error) {
	n, err := t.to.Write(p)
	t.hash.Write(p[:n])
	t.bytes += int64(n)
	return n, err
}

func (t *tally) sum() string { return hex.EncodeToString(t.hash.Sum(nil)) }

// newTally returns a tally of what is written to a file, with a buffer.
func newTally(to io.Writer) (*tally, *bufio.Writer) {
	t := &tally{to: to, hash: sha256.New()}
	return t, bufio.NewWriterSize(t, 256<<10)
}

// rowsOf counts the rows of a file's content.
func rowsOf(format string, f io.ReaderAt, size int64) (int64, error) {
	switch format {
	case Parquet:
		return tables.CountRows(f, size)
	case CSV:
		return csvRows(csv.NewReader(io.NewSectionReader(f, 0, size)))
	}
	in := bufio.NewReaderSize(io.NewSectionReader(f, 0, size), 1<<20)
	for n := int64(0); ; {
		part, err := in.ReadSlice('\n')
		switch {
		case err == nil:
			n++
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(part) == 0:
			return n, nil
		case errors.Is(err, io.EOF):
			return 0, errors.New("the last line has no end")
		default:
			return 0, err
		}
	}
}

func csvRows(in *csv.Reader) (n int64, err error) {
	in.ReuseRecord = true
	for n = -1; ; n++ { // the header is no row
		if _, err := in.Read(); errors.Is(err, io.EOF) {
			return n, nil
		} else if err != nil {
			return 0, fmt.Errorf("read the rows: %w", err)
		}
	}
}
