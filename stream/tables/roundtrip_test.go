package tables_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"netsim/events"
	"netsim/infra/facts"
	"netsim/stream/tables"
)

// fact returns the fact of an event's data in a family.
func fact(family events.Family, eventType string, value []byte, offset int64) facts.Fact {
	at := time.Date(2026, 11, 22, 17, 33, 26, 123e6, time.UTC).Add(time.Duration(offset) * time.Second)
	frame := events.Frame{
		ID: events.DerivedUUID(fmt.Sprint(offset)).String(), Type: eventType, Stream: "stream_" + fmt.Sprint(offset), PartitionKey: "workspace_1",
		Sequence: 1 + offset, Time: at, DataVersion: 1,
	}
	if offset > 0 {
		frame.PreviousHash = events.Hash{1}
		frame.Actor, frame.CommandID, frame.CorrelationID, frame.CauseID = "user-1", "command", "correlation", "cause"
	}
	m, _ := frame.Message(value)
	return facts.Decode(family, &events.Record{Message: m, Partition: 3, Offset: offset, Time: at.Add(time.Second)})
}

// expected returns the row of a fact as texts by column, read with encoding/json.
func expected(t rapid.TB, table *tables.Table, f *facts.Fact) map[string]string {
	t.Helper()
	const form = "2006-01-02T15:04:05.000000Z"
	row := map[string]string{
		"event_id": f.ID, "type": f.Type, "stream": f.Stream, "sequence": fmt.Sprint(f.Sequence),
		"time": f.Time.UTC().Format(form), "recorded_at": f.RecordedAt.UTC().Format(form), "partition_key": f.PartitionKey,
		"data_version": "1", "event_hash": f.Hash.String(), "source_partition": fmt.Sprint(f.Partition),
		"source_offset": fmt.Sprint(f.Offset), "data": strings.ToValidUTF8(string(f.Record.Value), "\uFFFD"),
	}
	for name, value := range map[string]string{"actor": f.Actor, "command_id": f.CommandID, "correlation_id": f.CorrelationID, "cause_id": f.CauseID} {
		if value != "" {
			row[name] = value
		}
	}
	if f.Err != nil {
		return row
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(f.Record.Value, &members); err != nil {
		t.Fatal(err)
	}
	short := strings.Split(f.Type, ".")[2]
	for name, raw := range members {
		column := ""
		for i, r := range name {
			if i > 0 && r >= 'A' && r <= 'Z' {
				column += "_"
			}
			column += strings.ToLower(string(r))
		}
		at := table.Index(column)
		if i := table.Index(short + "_" + column); i >= 0 {
			at = i
		}
		if at < 0 {
			t.Fatalf("%s has no column for %s of %s", table.Name, name, f.Type)
		}
		if text, ok := plain(t, table.Columns[at].Type, raw); ok {
			row[table.Columns[at].Name] = text
		}
	}
	return row
}

// plain returns a JSON value as the text of a column.
func plain(t rapid.TB, kind tables.Type, raw json.RawMessage) (text string, present bool) {
	t.Helper()
	switch kind {
	case tables.JSON, tables.Integer, tables.Boolean:
		return string(raw), string(raw) != "null"
	case tables.Text, tables.Timestamp, tables.Date, tables.Decimal:
		if err := json.Unmarshal(raw, &text); err != nil {
			t.Fatal(err)
		}
	}
	switch kind {
	case tables.Timestamp:
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Fatal(err)
		}
		return at.UTC().Truncate(time.Microsecond).Format("2006-01-02T15:04:05.000000Z"), true
	case tables.Decimal:
		n, ok := new(big.Rat).SetString(text)
		return rational(n), ok
	case tables.Date:
		return text, text != ""
	}
	return text, true
}

func rational(n *big.Rat) string {
	if n == nil {
		return ""
	}
	return n.FloatString(tables.Scale)
}

// written writes facts to a file.
func written(t rapid.TB, table *tables.Table, list []facts.Fact) ([]byte, tables.Stats) {
	t.Helper()
	var file bytes.Buffer
	p := tables.NewParquet(&file, table)
	for i := range list {
		if err := p.Append(&list[i]); err != nil {
			t.Fatalf("%v\n%s", err, list[i].Record.Value)
		}
	}
	stats, err := p.Close()
	if err != nil {
		t.Fatal(err)
	}
	return file.Bytes(), stats
}

// readBack reads a file's rows as texts by column.
func readBack(t rapid.TB, file []byte) []map[string]string {
	t.Helper()
	r := parquet.NewReader(bytes.NewReader(file))
	defer r.Close()
	columns := r.Schema().Columns()
	var out []map[string]string
	for {
		rows := make([]parquet.Row, 100)
		n, err := r.ReadRows(rows)
		for _, row := range rows[:n] {
			texts := map[string]string{}
			for _, v := range row {
				name := columns[v.Column()][0]
				leaf, _ := r.Schema().Lookup(name)
				if !v.IsNull() {
					texts[name] = textOf(t, leaf.Node.Type(), v)
				}
			}
			out = append(out, texts)
		}
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func textOf(t rapid.TB, kind parquet.Type, v parquet.Value) string {
	t.Helper()
	switch kind.String() {
	case "STRING":
		return string(v.ByteArray())
	case "INT(64,true)":
		return fmt.Sprint(v.Int64())
	case "BOOLEAN":
		return fmt.Sprint(v.Boolean())
	case "TIMESTAMP(isAdjustedToUTC=true,unit=MICROS)":
		return time.UnixMicro(v.Int64()).UTC().Format("2006-01-02T15:04:05.000000Z")
	case "DATE":
		return time.Unix(int64(v.Int32())*86400, 0).UTC().Format(time.DateOnly)
	case "DECIMAL(38,18)", "DECIMAL(18,38)":
		n := new(big.Int).SetBytes(v.ByteArray())
		if v.ByteArray()[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), 128))
		}
		return rational(new(big.Rat).SetFrac(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(tables.Scale), nil)))
	}
	t.Fatalf("a column has the type %s", kind)
	return ""
}

// familiesOf returns the tables that have columns of an event type, and all tables for
// a type without members.
func tablesOf(eventType string) []*tables.Table {
	var of []*tables.Table
	for _, table := range tables.All() {
		for _, c := range table.Columns {
			for _, e := range c.Events {
				if e == eventType && (len(of) == 0 || of[len(of)-1] != table) {
					of = append(of, table)
				}
			}
		}
	}
	if of == nil {
		return tables.All()
	}
	return of
}

// TestEveryStoredEventSurvives: each stored event, with real amounts and days, is read
// back from Parquet as it is in JSON.
func TestEveryStoredEventSurvives(t *testing.T) {
	t.Parallel()
	byTable := map[*tables.Table][]facts.Fact{}
	offset := int64(0)
	for _, zero := range events.Types() {
		value, err := os.ReadFile(filepath.Join("../../events/testdata/fixtures", zero.EventType()+".json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range tablesOf(zero.EventType()) {
			byTable[table] = append(byTable[table], fact(table.Family, zero.EventType(), amounts(t, table, zero.EventType(), value), offset))
			offset++
		}
	}
	for table, list := range byTable {
		file, stats := written(t, table, list)
		if stats.Rows != int64(len(list)) || stats.Bytes != int64(len(file)) {
			t.Errorf("%s: %d rows in %d bytes, the statistics have %+v", table.Name, len(list), len(file), stats)
		}
		compare(t, table, list, file)
	}
}

// amounts returns the data with amounts and days where the fixture has any text.
func amounts(t *testing.T, table *tables.Table, eventType string, value []byte) []byte {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal(value, &members); err != nil {
		t.Fatal(err)
	}
	for name := range members {
		switch name {
		case "amount", "previousAmount", "rateAmount", "cost", "previousCost", "dayPrice", "unitDays":
			members[name] = "-12345678901234567890.123456789012345678"
		case "date", "startDate", "endDate":
			members[name] = "2024-02-29"
		}
	}
	value, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func compare(t rapid.TB, table *tables.Table, list []facts.Fact, file []byte) {
	t.Helper()
	var want []map[string]string
	for i := range list {
		want = append(want, expected(t, table, &list[i]))
	}
	if diff := cmp.Diff(want, readBack(t, file)); diff != "" {
		t.Errorf("%s (-json +parquet):\n%s", table.Name, diff)
	}
}

// TestAnyEventSurvives: random events of every type.
func TestAnyEventSurvives(t *testing.T) {
	t.Parallel()
	types := map[*tables.Table][]events.Data{}
	for _, zero := range events.Types() {
		for _, table := range tablesOf(zero.EventType()) {
			types[table] = append(types[table], zero)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		family := tables.All()[rapid.IntRange(0, len(tables.All())-1).Draw(t, "table")]
		var list []facts.Fact
		for i := range rapid.IntRange(0, 40).Draw(t, "facts") {
			zero := types[family][rapid.IntRange(0, len(types[family])-1).Draw(t, "type")]
			v := reflect.New(reflect.TypeOf(zero)).Elem()
			random(t, v, "")
			value, err := events.Encode(v.Interface().(events.Data))
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, fact(family.Family, zero.EventType(), value, int64(i)))
		}
		file, _ := written(t, family, list)
		compare(t, family, list, file)
	})
}

// random fills a value.
func random(t *rapid.T, v reflect.Value, name string) {
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		nanos := rapid.Int64Range(-62135596800, 253402300799).Draw(t, name)
		v.Set(reflect.ValueOf(time.Unix(nanos, rapid.Int64Range(0, 999_999_999).Draw(t, name)).UTC()))
	case v.Kind() == reflect.String && (name == "date" || name == "startDate" || name == "endDate"):
		v.SetString(time.Unix(rapid.Int64Range(-62135596800, 253402300799).Draw(t, name), 0).UTC().Format(time.DateOnly))
	case v.Kind() == reflect.String && strings.Contains("amount previousAmount rateAmount cost previousCost dayPrice unitDays", name):
		v.SetString(rapid.StringMatching(`-?[0-9]{1,20}(\.[0-9]{1,18})?`).Draw(t, name))
	case v.Kind() == reflect.String:
		v.SetString(rapid.String().Draw(t, name))
	case v.Kind() == reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, name))
	case v.Kind() == reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, name))
	case v.Kind() == reflect.Slice:
		n := rapid.IntRange(0, 3).Draw(t, name)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			random(t, v.Index(i), "item")
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			random(t, v.Field(i), tag)
		}
	}
}
