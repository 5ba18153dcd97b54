//go:build tools

package lake_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/stream/lake"
	"netsim/stream/tables"
)

// readIceberg reads all tables with a reader as shipped: the rows of each table as texts by
// column.
func (w *world) readIceberg(t testing.TB, reader string) map[string][]map[string]string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "../../.ci/iceberg/install").Output()
	if err != nil {
		t.Fatalf("install the readers of Iceberg: %v", err)
	}
	tools := strings.TrimSpace(string(out))
	cmd := exec.CommandContext(t.Context(), filepath.Join(tools, "venv", "bin", "python"), "../../.ci/iceberg/read.py", reader)
	cmd.Env = append(os.Environ(), "POSTGRES="+w.Database, "S3_ENDPOINT="+w.store.Endpoint, "S3_REGION="+w.store.Region,
		"S3_KEY="+w.store.AccessKey, "S3_SECRET="+w.store.SecretKey, "JARS="+filepath.Join(tools, "jars"))
	var said bytes.Buffer
	cmd.Stderr = &said
	if out, err = cmd.Output(); err != nil {
		t.Fatalf("%s: %v\n%s", reader, err, said.String())
	}
	found := map[string][]map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var table string
		row := map[string]string{}
		if err := json.Unmarshal(lines.Bytes(), &[]any{&table, &row}); err != nil {
			t.Fatalf("%s prints %q: %v", reader, lines.Text(), err)
		}
		found[table] = append(found[table], row)
	}
	return found
}

// requireIceberg compares every value of every table, as a reader of Iceberg shows it, with
// the facts of the log.
func (w *world) requireIceberg(t testing.TB, reader string) {
	t.Helper()
	found := w.readIceberg(t, reader)
	for _, table := range tables.All() {
		var want, got []string
		for _, s := range w.sources() {
			if s.Family == table.Family {
				for _, f := range w.all(t, s) {
					want = append(want, strings.Join(texts(t, table, &f), "\x1f"))
				}
			}
		}
		for _, row := range found[table.Name] {
			var all []string
			for _, c := range table.Columns {
				all = append(all, row[c.Name])
			}
			got = append(got, strings.Join(all, "\x1f"))
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s, the table %s (-log +Iceberg):\n%s", reader, table.Name, diff)
		}
	}
}

// PyIceberg and Spark as shipped read every value of every fact from the same files as
// DuckDB: of small files, of merged ones after the small ones were deleted, and after new
// facts.
func TestIceberg(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.many(t)
	w.must(t, w.tidy(t, w.config()))
	w.requireIceberg(t, "pyiceberg")
	w.requireFiles(t)
	now := w.later()
	now.DeleteAfter = time.Microsecond
	w.must(t, w.tidy(t, now)) // merges, and deletes what is replaced
	w.requireIceberg(t, "pyiceberg")
	w.requireFiles(t)
	before := w.locations(t)
	w.must(t, w.tidy(t, w.later()))
	if after := w.locations(t); after != before {
		t.Errorf("the metadata of unchanged tables was written again:\n%s\n%s", before, after)
	}
	stop := run(t, lake.New(w.config()))
	w.fill(t, 2)
	w.await(t)
	stop()
	w.must(t, w.tidy(t, w.config()))
	w.requireIceberg(t, "spark")
	w.requireFacts(t, w.attach(t))
}

// locations returns where the metadata of each table is.
func (w *world) locations(t testing.TB) (text string) {
	t.Helper()
	err := w.DB.QueryRow(t.Context(), `SELECT string_agg(table_name || ' ' || metadata_location, E'\n' ORDER BY table_name) FROM lake.iceberg_tables`).Scan(&text)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Whatever step an edition ends at, readers have the one before or this one, and the files
// of the attempt are deleted.
func TestIcebergIsKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := run(t, lake.New(w.config()))
	w.fill(t, 2)
	w.await(t)
	stop()
	w.must(t, w.tidy(t, w.config()))
	for _, step := range []string{"metadata intended", "metadata uploaded", "metadata committing", "metadata committed"} {
		stop := run(t, lake.New(w.config()))
		w.fill(t, 1)
		w.await(t)
		stop()
		before := w.locations(t)
		err := w.tidy(t, w.config(), func(at string) error {
			if at == step {
				return errKilled
			}
			return nil
		})
		if err == nil {
			t.Fatalf("nothing is published at the step %s", step)
		}
		if after := w.locations(t); (after != before) != (step == "metadata committed") {
			t.Errorf("killed at %s: the locations are\n%s\nafter\n%s", step, after, before)
		}
	}
	c := w.config()
	c.DeleteAfter = time.Microsecond
	w.must(t, w.tidy(t, c))
	w.must(t, w.tidy(t, c)) // what the first replaced
	w.requireFiles(t)
	w.requireIceberg(t, "pyiceberg")
}
