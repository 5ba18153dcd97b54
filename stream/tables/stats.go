package tables

import (
	"bytes"
	"strconv"
	"time"
)

// Stats describes a finished file.
type Stats struct {
	Rows, Bytes int64
	FooterBytes int64 // of the footer's metadata, without its length and the magic bytes
	Columns     []ColumnStats
}

// ColumnStats describes a column of a file.
type ColumnStats struct {
	ID            int32
	Values, Nulls int64 // Values does not count the nulls
	Bytes         int64 // compressed
	// The least and the greatest value as DuckLake writes them: 2026-11-22
	// 17:33:26.123456+00, 2026-11-22, true, 1.500000000000000000, the text itself.
	// There are none when all values are null, for JSON, and when a text is longer
	// than 128 bytes or has a NUL byte, which PostgreSQL cannot store.
	Min, Max  string
	HasMinMax bool
}

// maxBound is the length of the longest text that can be a bound. Readers answer
// min and max from bounds, so they are never cut short.
const maxBound = 128

// bounds are the least and the greatest value of a column so far.
type bounds struct {
	any, none bool // none: some value cannot be a bound
	min, max  Value
}

func (b *bounds) add(t code, v *Value) {
	switch {
	case b.none:
	case t == nested:
		b.none = true
	case t == text:
		b.text(v.Text)
	case !b.any:
		b.any, b.min, b.max = true, *v, *v
	case t == decimal:
		if v.Amount.Compare(b.min.Amount) < 0 {
			b.min.Amount = v.Amount
		}
		if v.Amount.Compare(b.max.Amount) > 0 {
			b.max.Amount = v.Amount
		}
	default:
		b.min.Int, b.max.Int = min(b.min.Int, v.Int), max(b.max.Int, v.Int)
	}
}

func (b *bounds) text(value []byte) {
	if len(value) > maxBound || bytes.IndexByte(value, 0) >= 0 {
		b.none = true
		return
	}
	if !b.any || bytes.Compare(value, b.min.Text) < 0 {
		b.min.Text = append(b.min.Text[:0], value...)
	}
	if !b.any || bytes.Compare(value, b.max.Text) > 0 {
		b.max.Text = append(b.max.Text[:0], value...)
	}
	b.any = true
}

// texts returns the bounds in DuckLake's form.
func (b *bounds) texts(t Type) (least, greatest string, ok bool) {
	if !b.any || b.none {
		return "", "", false
	}
	return boundText(t, &b.min), boundText(t, &b.max), true
}

func boundText(t Type, v *Value) string {
	switch t {
	case Text, JSON:
		return string(v.Text)
	case Integer:
		return strconv.FormatInt(v.Int, 10)
	case Boolean:
		return strconv.FormatBool(v.Int != 0)
	case Timestamp:
		return time.UnixMicro(v.Int).UTC().Format("2006-01-02 15:04:05.999999+00")
	case Date:
		return time.Unix(v.Int*86400, 0).UTC().Format(time.DateOnly)
	case Decimal:
		return v.Amount.String()
	}
	panic("tables: no such type: " + string(t))
}
