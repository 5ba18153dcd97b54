//go:build tools

package lake_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/infra/facts"
	"netsim/internal/testduckdb"
	"netsim/stream/tables"
)

// texts returns a fact as the texts of its table's columns, "" for null.
func texts(t testing.TB, table *tables.Table, f *facts.Fact) []string {
	t.Helper()
	var row tables.Row
	if err := table.Row(&row, f); err != nil {
		t.Fatal(err)
	}
	all := make([]string, len(table.Columns))
	for i, c := range table.Columns {
		v, filled := row.Get(i)
		if !filled {
			continue
		}
		switch c.Type {
		case tables.Text, tables.JSON:
			all[i] = string(v.Text)
		case tables.Integer:
			all[i] = fmt.Sprint(v.Int)
		case tables.Boolean:
			all[i] = fmt.Sprint(v.Int != 0)
		case tables.Timestamp:
			all[i] = time.UnixMicro(v.Int).UTC().Format("2006-01-02 15:04:05.999999+00")
		case tables.Date:
			all[i] = time.Unix(v.Int*86400, 0).UTC().Format(time.DateOnly)
		case tables.Decimal:
			all[i] = v.Amount.String()
		}
	}
	return all
}

// requireFacts compares every value in the lake with the facts of the log.
func (w *world) requireFacts(t testing.TB, duck *testduckdb.Session) {
	t.Helper()
	for _, table := range tables.All() {
		var want [][]string
		for _, s := range w.sources() {
			if s.Family == table.Family {
				for _, f := range w.all(t, s) {
					want = append(want, texts(t, table, &f))
				}
			}
		}
		var list []string
		for _, c := range table.Columns {
			list = append(list, fmt.Sprintf(`CAST("%s" AS VARCHAR)`, c.Name))
		}
		got := duck.Query(t, fmt.Sprintf(`SELECT %s FROM lake.%s ORDER BY source_partition, source_offset`, strings.Join(list, ", "), table.Name))
		if len(got) == 0 {
			got = nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("the table %s (-log +lake):\n%s", table.Name, diff)
		}
	}
	if said := compareWithLog(t, w.World, w.Objects, w.store.Bucket); said != "" {
		t.Fatalf("the audit finds %s", said)
	}
}

// requirePrefixes checks that every snapshot has, of each partition, exactly the facts
// before the offset that its commit says. It returns the number of snapshots.
func (w *world) requirePrefixes(t testing.TB, duck *testduckdb.Session) int {
	t.Helper()
	snapshots := duck.Query(t, `SELECT snapshot_id, commit_extra_info FROM ducklake_snapshots('lake') ORDER BY snapshot_id`)
	for _, table := range tables.All() {
		log, offsets := map[string][]string{}, map[string][]int64{}
		for _, s := range w.sources() {
			if s.Family == table.Family {
				for _, f := range w.all(t, s) {
					log[fmt.Sprint(s.Partition)] = append(log[fmt.Sprint(s.Partition)], fmt.Sprintf("%d %s", f.Offset, f.ID))
					offsets[fmt.Sprint(s.Partition)] = append(offsets[fmt.Sprint(s.Partition)], f.Offset)
				}
			}
		}
		seen, until := map[string]int{}, map[string]int64{}
		for _, row := range snapshots {
			moved := map[string]int64{}
			if row[1] != "" {
				if err := json.Unmarshal([]byte(row[1]), &moved); err != nil {
					t.Fatal(err)
				}
			}
			for at, next := range moved {
				if partition, ours := strings.CutPrefix(at, string(table.Family)+"/"); ours {
					until[partition] = next
				}
			}
			rows, err := duck.Try(fmt.Sprintf(`SELECT source_partition, source_offset || ' ' || event_id FROM lake.%s AT (VERSION => %s) ORDER BY source_partition, source_offset`, table.Name, row[0]))
			if err != nil {
				if strings.Contains(err.Error(), "does not exist") && (row[0] == "0") {
					continue
				}
				t.Fatal(err)
			}
			at := map[string][]string{}
			for _, r := range rows {
				at[r[0]] = append(at[r[0]], r[1])
			}
			for partition, all := range log {
				got := at[partition]
				n, _ := slices.BinarySearch(offsets[partition], until[partition])
				if !slices.Equal(got, all[:n]) {
					t.Fatalf("snapshot %s of %s has other facts of partition %s than those before offset %d:\n%s", row[0], table.Name, partition, until[partition], cmp.Diff(all[:n], got))
				}
				seen[partition] = len(got)
			}
		}
		for partition, all := range log {
			if seen[partition] != len(all) {
				t.Fatalf("the last snapshot of %s has %d of %d facts of partition %s", table.Name, seen[partition], len(all), partition)
			}
		}
	}
	return len(snapshots)
}

// requireFiles checks that the object store has the files that the catalogue names, and
// no other but those that are scheduled for deletion.
func (w *world) requireFiles(t testing.TB) {
	t.Helper()
	var named, stored []string
	rows, err := w.DB.Query(t.Context(), `
		SELECT substr(m.value, length('s3:///') + length($1) + 1) || p.path
		FROM (SELECT 'main/' || t.path || f.path AS path FROM lake.ducklake_data_file f JOIN lake.ducklake_table t USING (table_id)
			UNION SELECT path FROM lake.ducklake_files_scheduled_for_deletion
			UNION SELECT path FROM lake.netsim_iceberg_manifest UNION SELECT path FROM lake.netsim_iceberg_replaced
			UNION SELECT unnest(ARRAY[metadata, list]) FROM lake.netsim_iceberg) p, lake.ducklake_metadata m
		WHERE m.key = 'data_path' ORDER BY 1`, w.store.Bucket)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var path string
		if err := rows.Scan(&path); err != nil {
			t.Fatal(err)
		}
		named = append(named, path)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for info, err := range w.Objects.List(t.Context(), "lake/") {
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, info.Key)
	}
	slices.Sort(stored)
	slices.Sort(named)
	if diff := cmp.Diff(named, stored); diff != "" {
		t.Fatalf("files (-catalogue +object store):\n%s", diff)
	}
}
