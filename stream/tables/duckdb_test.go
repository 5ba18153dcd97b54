//go:build tools

package tables_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/infra/facts"
	"netsim/internal/testduckdb"
	"netsim/stream/tables"
)

// TestDuckDBReadsTheSame: stock DuckDB finds the types of all columns, and reads every
// value of the stored events, with extreme amounts, days and texts, as it is in JSON.
func TestDuckDBReadsTheSame(t *testing.T) {
	t.Parallel()
	db := testduckdb.Open(t)
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
	add := func(d events.Data) {
		value, err := events.Encode(d)
		if err != nil {
			t.Fatal(err)
		}
		billing := tables.For(events.Billing)
		byTable[billing] = append(byTable[billing], fact(events.Billing, d.EventType(), value, offset))
		offset++
	}
	for _, amount := range []string{"0", "-0.000000000000000001", "99999999999999999999.999999999999999999", "-99999999999999999999.999999999999999999", "7.10"} {
		add(events.CreditGranted{Amount: amount, Currency: "€\"'\n\t\u0001", Reference: ""})
	}
	for _, day := range []string{"0001-01-01", "1969-12-31", "9999-12-31"} {
		add(events.RateSet{StartDate: day, Amount: "1", RateID: -1 << 63, TierStart: 1<<63 - 1})
	}
	types := map[tables.Type]string{
		tables.Text: "VARCHAR", tables.Integer: "BIGINT", tables.Boolean: "BOOLEAN", tables.Timestamp: "TIMESTAMP WITH TIME ZONE",
		tables.Date: "DATE", tables.Decimal: "DECIMAL(38,18)", tables.JSON: "VARCHAR",
	}
	for table, list := range byTable {
		content, _ := written(t, table, list)
		path := filepath.Join(t.TempDir(), table.Name+".parquet")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		for _, row := range db.Query(t, fmt.Sprintf("DESCRIBE SELECT * FROM '%s'", path)) {
			found[row[0]] = row[1]
		}
		var names, texts []string
		for _, c := range table.Columns {
			if found[c.Name] != types[c.Type] {
				t.Errorf("DuckDB has %s.%s as %q, want %s", table.Name, c.Name, found[c.Name], types[c.Type])
			}
			text := fmt.Sprintf("%q::VARCHAR", c.Name)
			if c.Type == tables.Timestamp {
				text = fmt.Sprintf("strftime(%q AT TIME ZONE 'UTC', '%%Y-%%m-%%dT%%H:%%M:%%S.%%fZ')", c.Name)
			}
			names = append(names, c.Name)
			texts = append(texts, text)
		}
		rows := db.Query(t, fmt.Sprintf("SELECT to_json([%s])::VARCHAR FROM '%s' ORDER BY source_offset", strings.Join(texts, ", "), path))
		var got, want []map[string]string
		for _, row := range rows {
			var values []*string
			if err := json.Unmarshal([]byte(row[0]), &values); err != nil {
				t.Fatal(err)
			}
			one := map[string]string{}
			for i, v := range values {
				if v != nil {
					one[names[i]] = *v
				}
			}
			got = append(got, one)
		}
		for i := range list {
			want = append(want, expected(t, table, &list[i]))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-json +duckdb):\n%s", table.Name, diff)
		}
	}
}
