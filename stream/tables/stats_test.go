package tables_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"netsim/events"
	"netsim/stream/tables"
)

// TestManyRows: the facts of several batches are all read back, in their order, and the
// statistics are those of the values.
func TestManyRows(t *testing.T) {
	t.Parallel()
	const count = 3000
	records := mixture(t, 3*count)[events.Billing]
	if len(records) < count {
		t.Fatalf("the mixture has %d facts of billing", len(records))
	}
	records = records[:count]
	table := tables.For(events.Billing)
	var out bytes.Buffer
	p := tables.NewParquet(&out, table)
	for i := range records {
		f := undecoded(t, events.Billing, &records[i])
		if err := p.Append(&f); err != nil {
			t.Fatal(err)
		}
	}
	stats, err := p.Close()
	if err != nil {
		t.Fatal(err)
	}
	file := out.Bytes()
	opened, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if opened.NumRows() != count {
		t.Errorf("the file has %d rows, want %d", opened.NumRows(), count)
	}
	footer := int64(binary.LittleEndian.Uint32(file[len(file)-8:]))
	if stats.Rows != count || stats.Bytes != int64(len(file)) || stats.FooterBytes != footer {
		t.Errorf("%d rows, %d bytes, footer of %d; want %d, %d, %d", stats.Rows, stats.Bytes, stats.FooterBytes, count, len(file), footer)
	}
	rows := readBack(t, file)
	for i, row := range rows {
		f := undecoded(t, events.Billing, &records[i])
		if row["event_id"] != f.ID || row["type"] != f.Type || row["data"] != string(f.Record.Value) || row["event_hash"] != f.Hash.String() {
			t.Fatalf("row %d is %v", i, row)
		}
		if i%100 < 5 {
			for name, want := range expected(t, table, &f) {
				if row[name] != want {
					t.Fatalf("row %d: %s is %q, want %q", i, name, row[name], want)
				}
			}
		}
	}
	compareStats(t, table, stats, rows)
}

// TestRowGroups: a file of more rows than a row group has all of them.
func TestRowGroups(t *testing.T) {
	t.Parallel()
	const count = 125_000
	table := tables.For(events.Workspaces)
	var out bytes.Buffer
	p := tables.NewParquet(&out, table)
	f := full(t)
	for i := range int64(count) {
		f.Offset = i
		if err := p.Append(&f); err != nil {
			t.Fatal(err)
		}
	}
	if stats, err := p.Close(); err != nil || stats.Rows != count || stats.Columns[0].Values != count {
		t.Fatalf("%d rows, %v", stats.Rows, err)
	}
	r := parquet.NewReader(bytes.NewReader(out.Bytes()))
	defer r.Close()
	if opened, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len())); err != nil || len(opened.RowGroups()) != 2 {
		t.Errorf("the file has %d row groups, %v; want 2", len(opened.RowGroups()), err)
	}
	leaf, _ := r.Schema().Lookup("source_offset")
	next := int64(0)
	for rows := make([]parquet.Row, 1000); ; {
		n, err := r.ReadRows(rows)
		for _, row := range rows[:n] {
			if row[leaf.ColumnIndex].Int64() != next {
				t.Fatalf("row %d has the offset %d", next, row[leaf.ColumnIndex].Int64())
			}
			next++
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if next != count {
		t.Errorf("%d rows were read, want %d", next, count)
	}
}

// compareStats compares statistics with the values of a file's columns.
func compareStats(t *testing.T, table *tables.Table, stats tables.Stats, rows []map[string]string) {
	t.Helper()
	for i, c := range table.Columns {
		s := stats.Columns[i]
		values, long, least, greatest := int64(0), false, "", ""
		for _, row := range rows {
			v, present := row[c.Name]
			if !present {
				continue
			}
			if c.Type == tables.Timestamp {
				v = strings.NewReplacer("T", " ", "Z", "").Replace(v)
				v = strings.TrimSuffix(strings.TrimRight(v, "0"), ".") + "+00"
			}
			if values++; values == 1 {
				least, greatest = v, v
			}
			if before(c.Type, v, least) {
				least = v
			}
			if before(c.Type, greatest, v) {
				greatest = v
			}
			long = long || len(v) > 128 || strings.Contains(v, "\x00")
		}
		bounded := values > 0 && c.Type != tables.JSON && (c.Type != tables.Text || !long)
		if s.ID != c.ID || s.Values != values || s.Nulls != int64(len(rows))-values || s.HasMinMax != bounded || s.Bytes <= 0 {
			t.Errorf("%s: %+v, want %d values, %d nulls, bounds: %t", c.Name, s, values, int64(len(rows))-values, bounded)
		}
		if bounded && (s.Min != least || s.Max != greatest) {
			t.Errorf("%s: from %q to %q, want from %q to %q", c.Name, s.Min, s.Max, least, greatest)
		}
	}
}

// before reports whether a value as text is less than another.
func before(kind tables.Type, a, b string) bool {
	if kind != tables.Integer && kind != tables.Decimal {
		return a < b
	}
	if negative := strings.HasPrefix(a, "-"); negative != strings.HasPrefix(b, "-") {
		return negative
	} else if negative {
		return before(kind, b[1:], a[1:])
	}
	whole := func(s string) int { return len(s) - len(s[strings.IndexByte(s+".", '.'):]) }
	if whole(a) != whole(b) {
		return whole(a) < whole(b)
	}
	return a < b
}

// TestStatisticsOfExtremes: negative amounts, long texts, NUL and columns of nulls.
func TestStatisticsOfExtremes(t *testing.T) {
	t.Parallel()
	table := tables.For(events.Billing)
	offset := int64(0)
	for _, list := range [][]events.Data{
		{events.CreditGranted{Amount: "-1.5", Reference: "b"}, events.CreditGranted{Amount: "-20", Reference: "a"}, events.CreditGranted{Amount: "3", Reference: "é"}},
		{events.CreditGranted{Amount: "10", Reference: strings.Repeat("x", 129)}, events.CreditGranted{Amount: "9.999999999999999999", Reference: strings.Repeat("y", 128)}},
		{events.CreditGranted{Amount: "1", Reference: "a\x00b"}, events.RateSet{StartDate: "1969-12-31", Amount: "1", RateID: -5}, events.RateSet{StartDate: "2026-01-01", EndDate: "2027-01-01", Amount: "1", RateID: 12}},
	} {
		var out bytes.Buffer
		p := tables.NewParquet(&out, table)
		for _, d := range list {
			value, err := events.Encode(d)
			if err != nil {
				t.Fatal(err)
			}
			f := fact(events.Billing, d.EventType(), value, offset)
			offset++
			if err := p.Append(&f); err != nil {
				t.Fatal(err)
			}
		}
		stats, err := p.Close()
		if err != nil {
			t.Fatal(err)
		}
		compareStats(t, table, stats, readBack(t, out.Bytes()))
	}
}
