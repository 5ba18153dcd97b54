//go:build tools

package lake_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"netsim/internal/testduckdb"
	"netsim/stream/lake"
)

// later returns settings for two hours later, so that everything can be merged.
func (w *world) later() lake.Config {
	c := w.config()
	c.Now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	return c
}

// many makes a lake of many small files.
func (w *world) many(t testing.TB) {
	t.Helper()
	stop := run(t, lake.New(w.config()))
	for range 8 {
		w.fill(t, 2)
		w.await(t)
	}
	stop()
}

func (w *world) files(t testing.TB) (n int) {
	t.Helper()
	if err := w.DB.QueryRow(t.Context(), `SELECT count(*) FROM lake.ducklake_data_file`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// After a merge there is one file an hour and table, and every snapshot reads as before,
// with the same row ids. The replaced files are deleted after the delay, not before.
func TestMerge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.many(t)
	duck := w.attach(t)
	const ids = `SELECT snapshot_id, rowid, event_id FROM lake.workspaces ORDER BY rowid`
	rowIDs, changes := duck.Query(t, ids), w.changes(t, duck)
	before := w.files(t)
	if err := w.tidy(t, w.later()); err != nil {
		t.Fatal(err)
	}
	after := w.files(t)
	if before < 8 || after > 4 { // two tables, at most two hours
		t.Errorf("%d files became %d", before, after)
	}
	check := func(what string) {
		t.Helper()
		for _, reader := range []string{"attached before", "attached after"} {
			if reader == "attached after" {
				duck = w.attach(t)
			}
			w.requireFacts(t, duck)
			w.requirePrefixes(t, duck)
			if got := fmt.Sprint(duck.Query(t, ids)); got != fmt.Sprint(rowIDs) {
				t.Errorf("%s, %s: the row ids are\n%s, before the merge\n%s", what, reader, got, rowIDs)
			}
			if got := w.changes(t, duck); got != changes {
				t.Errorf("%s, %s: the changes are\n%s, before the merge\n%s", what, reader, got, changes)
			}
		}
		w.requireFiles(t)
	}
	check("merged")
	if n := w.scheduled(t); n != before-after+2 && n == 0 {
		t.Errorf("%d files are scheduled for deletion", n)
	}
	c := w.later()
	c.DeleteAfter = time.Microsecond
	if err := w.tidy(t, c); err != nil {
		t.Fatal(err)
	}
	if n := w.scheduled(t); n != 0 {
		t.Errorf("%d files are still scheduled for deletion", n)
	}
	if n := w.files(t); n != after {
		t.Errorf("a second merge made %d files of %d", n, after)
	}
	check("deleted")
	stop := run(t, lake.New(w.config()))
	w.fill(t, 2)
	w.await(t)
	stop()
	w.requireFacts(t, duck)
	w.requirePrefixes(t, duck)
}

func (w *world) scheduled(t testing.TB) (n int) {
	t.Helper()
	if err := w.DB.QueryRow(t.Context(), `SELECT count(*) FROM lake.ducklake_files_scheduled_for_deletion`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// changes returns the change feed of a table over all snapshots.
func (w *world) changes(t testing.TB, duck *testduckdb.Session) string {
	t.Helper()
	last := duck.Query(t, `SELECT max(snapshot_id) FROM ducklake_snapshots('lake')`)[0][0]
	return fmt.Sprint(duck.Query(t, `SELECT snapshot_id, rowid, change_type, event_id FROM lake.table_changes('workspaces', 1, `+last+`) ORDER BY rowid, snapshot_id`))
}

// Whatever step a merge or a deletion ends at, nothing is lost or doubled.
func TestMergeKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"merge intended", "merge uploaded", "merging", "merge committed", "refused", "deleted"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.many(t)
			c := w.later()
			c.DeleteAfter = time.Microsecond
			reached := false
			err := w.tidy(t, c, func(at string) error {
				if at == step {
					reached = true
					return errKilled
				}
				return nil
			})
			if !reached || !errors.Is(err, errKilled) {
				t.Fatalf("the step was not reached: %v", err)
			}
			duck := w.attach(t)
			w.requireFacts(t, duck)
			w.requirePrefixes(t, duck)
			for range 2 {
				if err := w.tidy(t, c); err != nil {
					t.Fatal(err)
				}
			}
			w.requireFacts(t, duck)
			w.requirePrefixes(t, duck)
			w.requireFiles(t)
			if n := w.files(t); n > 4 {
				t.Errorf("%d files are left", n)
			}
		})
	}
}

// DuckDB's own merge, expiry and clean-up work on this catalogue, before and after ours,
// and the writer goes on.
func TestDuckDBMaintainsTheLake(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.many(t)
	owner := w.attachAs(t, "")
	before := w.files(t)
	owner.Query(t, `CALL ducklake_merge_adjacent_files('lake')`)
	if after := w.files(t); after >= before {
		t.Errorf("DuckDB merged %d files to %d", before, after)
	}
	duck := w.attach(t)
	w.requireFacts(t, duck)
	w.requirePrefixes(t, duck)
	w.many(t)
	if err := w.tidy(t, w.later()); err != nil { // merges a file of DuckDB's with ours
		t.Fatal(err)
	}
	w.requireFacts(t, duck)
	w.requirePrefixes(t, duck)
	w.many(t)
	owner.Query(t, `CALL ducklake_merge_adjacent_files('lake')`)
	w.requireFacts(t, duck)
	w.requirePrefixes(t, duck)
	owner.Query(t, `CALL ducklake_expire_snapshots('lake', older_than => now() - INTERVAL 0 SECONDS)`)
	owner.Query(t, `CALL ducklake_cleanup_old_files('lake', cleanup_all => true)`)
	w.requireFacts(t, duck)
	w.requireFiles(t)
	w.many(t)
	w.requireFacts(t, duck)
	if err := w.tidy(t, w.later()); err != nil {
		t.Fatal(err)
	}
	w.requireFacts(t, duck)
}
