package results

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// shardSize is the default of Config.ShardSize, in bytes (completions.md 5.6).
const shardSize = 256 << 20

// table writes the rows of one record as CSV, in shards. The methods below add fields, and
// end completes a row. It keeps the first error.
type table struct {
	create  func(name string) (io.WriteCloser, error)
	prefix  string // <simulation>-<record>
	header  string
	limit   int
	shard   int
	file    io.WriteCloser
	out     *bufio.Writer
	written int
	row     []byte
	err     error
	resumed bool // its current shard was created before the run was resumed

	// The wall-clock time of the last row. Many consecutive rows have the same.
	utcOf   int64 // ps
	utcText []byte
}

func (t *table) text(s string) *table {
	t.row = append(append(t.row, s...), ',')
	return t
}

// quoted adds any text, quoted if CSV needs it.
func (t *table) quoted(s string) *table {
	if strings.ContainsAny(s, "\",\r\n") {
		s = `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return t.text(s)
}

func (t *table) int(v int64) *table {
	t.row = append(strconv.AppendInt(t.row, v, 10), ',')
	return t
}

// fixed adds v·10^-decimals with all its decimals, so that the text is exact.
func (t *table) fixed(v int64, decimals int) *table {
	t.row = append(appendFixed(t.row, v, decimals), ',')
	return t
}

func (t *table) bool(b bool) *table {
	if b {
		return t.text("1")
	}
	return t.text("0")
}

// utc adds the wall-clock time of a simulated time.
func (t *table) utc(start time.Time, ps int64) *table {
	if t.utcText == nil || t.utcOf != ps {
		t.utcOf = ps
		t.utcText = start.Add(time.Duration(ps/1000)).UTC().AppendFormat(t.utcText[:0], "2006-01-02T15:04:05.000000000Z,")
	}
	t.row = append(t.row, t.utcText...)
	return t
}

// end writes the row, into a new shard if the current one is full.
func (t *table) end() error {
	if t.err != nil {
		return t.err
	}
	t.row[len(t.row)-1] = '\n'
	if t.file == nil || t.written >= t.limit {
		t.next()
	}
	if t.err == nil {
		_, t.err = t.out.Write(t.row)
		t.written += len(t.row)
	}
	t.row = t.row[:0]
	return t.err
}

func (t *table) next() {
	if t.close(); t.err != nil {
		return
	}
	if t.file, t.err = t.create(t.name(t.shard)); t.err != nil {
		return
	}
	t.shard++
	t.buffer()
	t.written, _ = t.out.WriteString(t.header + "\n")
}

func (t *table) name(shard int) string { return fmt.Sprintf("%s-%d.csv", t.prefix, shard) }

// tableBuffer is the size of a record's buffer, in bytes. A run has some ten, most of small
// records; the file has a buffer of its own.
const tableBuffer = 16 << 10

// buffer makes out write to the current file.
func (t *table) buffer() {
	if t.out == nil {
		t.out = bufio.NewWriterSize(nil, tableBuffer)
	}
	t.out.Reset(t.file)
}

// close closes the current shard.
func (t *table) close() error {
	if t.file == nil {
		return t.err
	}
	if err := t.out.Flush(); t.err == nil {
		t.err = err
	}
	if err := t.file.Close(); t.err == nil {
		t.err = err
	}
	t.file = nil
	return t.err
}

// appendFixed appends v·10^-decimals.
func appendFixed(b []byte, v int64, decimals int) []byte {
	if v < 0 {
		b, v = append(b, '-'), -v
	}
	n := uint64(v)
	if decimals == 0 {
		return strconv.AppendUint(b, n, 10)
	}
	var digits [20]byte // the most of 64 bits; decimals is less
	point := len(digits) - decimals
	for i := len(digits) - 1; i >= point; i-- {
		digits[i] = byte('0' + n%10)
		n /= 10
	}
	b = append(strconv.AppendUint(b, n, 10), '.')
	return append(b, digits[point:]...)
}
