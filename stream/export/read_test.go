package export_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"netsim/events"
	"netsim/stream/export"
	"netsim/stream/tables"
)

// content returns the files of a target by name.
func content(t *testing.T, target export.Target) map[string]string {
	t.Helper()
	names, err := target.Names(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, name := range names {
		in, err := target.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		in.Close()
		files[name] = string(text)
	}
	return files
}

// exported reads the facts of an export from its files alone.
func exported(t *testing.T, m *export.Manifest, target export.Target) []wanted {
	t.Helper()
	files := content(t, target)
	var all []wanted
	for _, f := range m.Files {
		family := events.Families()[slices.IndexFunc(tables.All(), func(table *tables.Table) bool { return table.Name == f.Table })]
		rows := map[string]func(*testing.T, string) []map[string]string{export.Parquet: parquetRows, export.NDJSON: jsonRows, export.CSV: csvRows}[m.Format](t, files[f.Name])
		if int64(len(rows)) != f.Rows {
			t.Errorf("%s has %d rows, the manifest says %d", f.Name, len(rows), f.Rows)
		}
		for _, r := range rows {
			partition, _ := strconv.ParseInt(r["source_partition"], 10, 32)
			offset, _ := strconv.ParseInt(r["source_offset"], 10, 64)
			if offset < f.FirstOffset || offset > f.LastOffset || f.FirstOffset < f.From || f.LastOffset >= f.To {
				t.Errorf("%s has offset %d; the manifest says %+v", f.Name, offset, f)
			}
			all = append(all, wanted{
				family: family, partition: int32(partition), offset: offset, value: r["data"], hash: r["event_hash"],
				frame: events.Frame{ID: r["event_id"], Type: r["type"], Stream: r["stream"], PartitionKey: r["partition_key"]},
			})
		}
	}
	slices.SortFunc(all, func(a, b wanted) int { return slices.Compare(a.key(), b.key()) })
	return all
}

// same compares what was exported with the facts that should be.
func same(t *testing.T, got, want []wanted) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d facts were exported, want %d", len(got), len(want))
		return
	}
	for i := range want {
		g, w := got[i], want[i]
		w.frame = events.Frame{ID: w.frame.ID, Type: w.frame.Type, Stream: w.frame.Stream, PartitionKey: w.frame.PartitionKey}
		if g != w {
			t.Fatalf("the exported fact is\n%+v, want\n%+v", g, w)
		}
	}
}

func csvRows(t *testing.T, text string) (rows []map[string]string) {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			row[name] = line[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func jsonRows(t *testing.T, text string) (rows []map[string]string) {
	t.Helper()
	for line := range strings.Lines(text) {
		var e struct {
			ID, Type, Subject, PartitionKey, Hash, SourceOffset string
			SourcePartition                                     int32
			Data                                                json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, map[string]string{
			"event_id": e.ID, "type": e.Type, "stream": e.Subject, "partition_key": e.PartitionKey, "event_hash": e.Hash,
			"source_offset": e.SourceOffset, "source_partition": fmt.Sprint(e.SourcePartition), "data": string(e.Data),
		})
	}
	return rows
}

func parquetRows(t *testing.T, text string) (rows []map[string]string) {
	t.Helper()
	r := parquet.NewReader(bytes.NewReader([]byte(text)))
	defer r.Close()
	for {
		buffer := make([]parquet.Row, 64)
		n, err := r.ReadRows(buffer)
		for _, values := range buffer[:n] {
			row := map[string]string{}
			for _, v := range values {
				row[r.Schema().Columns()[v.Column()][0]] = v.String()
			}
			rows = append(rows, row)
		}
		if err == io.EOF {
			return rows
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
