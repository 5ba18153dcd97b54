//go:build tools

package lake_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"netsim/infra/objects"
	"netsim/internal/teststack"
	"netsim/internal/testworld"
	"netsim/stream/lake"
)

// While the object store is down, writes go on. The lake says that it is behind, and
// catches up afterwards.
func TestTheObjectStoreIsDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	direct, err := url.Parse(w.store.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	proxy := teststack.NewProxy(t, direct.Host)
	c := w.config()
	c.Objects = objects.New(objects.Config{
		Endpoint: "http://" + proxy.Addr, Region: w.store.Region, Bucket: w.store.Bucket, AccessKey: w.store.AccessKey, SecretKey: w.store.SecretKey,
	})
	l := lake.New(c)
	stop := run(t, l)
	w.fill(t, 2)
	w.await(t)
	proxy.Refuse()
	before := w.positions(t)
	w.fill(t, 3)
	testworld.Await(t, func() bool { r := l.Report(); return r.Failures > 0 && r.Facts > 0 && r.Error != nil })
	w.fill(t, 2)
	if after := w.positions(t); after != before {
		t.Errorf("the positions moved without an object store from %s to %s", before, after)
	}
	proxy.Heal()
	w.await(t)
	testworld.Await(t, func() bool { r := l.Report(); return r.Error == nil && r.Facts == 0 })
	stop()
	duck := w.attach(t)
	w.requireFacts(t, duck)
	w.requirePrefixes(t, duck)
	c = w.config()
	c.DeleteAfter = time.Microsecond
	w.must(t, w.tidy(t, c))
	w.requireFiles(t)
}

func (w *world) must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A release that adds a column changes nothing for readers that are attached, and a
// writer of the release before may write beside and after it.
func TestALaterReleaseAddsAColumn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := run(t, lake.New(w.config()))
	w.fill(t, 2)
	w.await(t)
	stop()
	old := w.attach(t)
	old.Query(t, `BEGIN`)
	began := old.Query(t, `SELECT count(*) FROM lake.workspaces`)[0][0]
	count := func(where string) string {
		return w.attach(t).Query(t, `SELECT count(*) FROM lake.workspaces `+where)[0][0]
	}
	later := lake.New(w.config())
	later.LaterRelease()
	stop = run(t, later)
	testworld.Await(t, func() bool { // before the release has written a row
		var added bool
		err := w.DB.QueryRow(t.Context(), `SELECT count(*) > 0 FROM lake.ducklake_column WHERE column_name = 'later'`).Scan(&added)
		return err == nil && added
	})
	if got, all := count("WHERE later IS NULL"), count(""); got != all {
		t.Errorf("%s of %s rows have no value in the new column", got, all)
	}
	w.fill(t, 2)
	w.await(t)
	stop()
	if got := old.Query(t, `SELECT count(*) FROM lake.workspaces`)[0][0]; got != began {
		t.Errorf("the reader's transaction had %s rows and has %s", began, got)
	}
	old.Query(t, `COMMIT`)
	w.requireFacts(t, old)
	all := count("")
	if got := count("WHERE later IS NULL"); got != all {
		t.Errorf("%s of %s rows have no value in the new column", got, all)
	}
	if got := old.Query(t, `SELECT count(later), max(later) FROM lake.workspace_created`)[0]; got[0] != "0" || got[1] != "" {
		t.Errorf("the view has %s values of the new column", got)
	}
	stop = run(t, lake.New(w.config())) // the release before
	w.fill(t, 2)
	w.await(t)
	stop()
	all = count("")
	if got := count("WHERE later IS NULL"); got != all {
		t.Errorf("%s of %s rows have no value in the new column", got, all)
	}
	w.must(t, w.tidy(t, w.later()))
	w.requireFacts(t, old)
	w.requirePrefixes(t, old)
	w.requireFacts(t, w.attach(t))
}

// DuckDB skips files and answers min and max by the statistics that the writer keeps.
func TestStatistics(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.many(t)
	check := func() {
		t.Helper()
		duck := w.attach(t)
		for _, column := range []string{"source_offset", "sequence", "time", "recorded_at", "name", "event_id", "owner"} {
			exact := duck.Query(t, fmt.Sprintf(`SELECT min(x), max(x), count(x) FROM (SELECT %s AS x FROM lake.workspaces ORDER BY random() LIMIT 1000000)`, column))
			if got := duck.Query(t, fmt.Sprintf(`SELECT min(%s), max(%s), count(%s) FROM lake.workspaces`, column, column, column)); fmt.Sprint(got) != fmt.Sprint(exact) {
				t.Errorf("%s: the least, the largest and the number are %s, of the rows %s", column, got, exact)
			}
			rows := duck.Query(t, fmt.Sprintf(`SELECT DISTINCT %s::varchar FROM lake.workspaces WHERE %s IS NOT NULL ORDER BY random() LIMIT 3`, column, column))
			for _, row := range rows {
				value := "'" + strings.ReplaceAll(row[0], "'", "''") + "'"
				want := duck.Query(t, fmt.Sprintf(`SELECT count(*) FROM lake.workspaces WHERE %s::varchar = %s`, column, value))[0][0]
				if got := duck.Query(t, fmt.Sprintf(`SELECT count(*) FROM lake.workspaces WHERE %s = %s`, column, value))[0][0]; got != want {
					t.Errorf("%s = %s finds %s of %s rows", column, value, got, want)
				}
			}
		}
		for _, column := range []string{"amount", "cost"} {
			exact := duck.Query(t, fmt.Sprintf(`SELECT min(x), max(x), count(x) FROM (SELECT %s AS x FROM lake.billing ORDER BY random() LIMIT 1000000)`, column))
			if got := duck.Query(t, fmt.Sprintf(`SELECT min(%s), max(%s), count(%s) FROM lake.billing`, column, column, column)); fmt.Sprint(got) != fmt.Sprint(exact) {
				t.Errorf("%s: the least, the largest and the number are %s, of the rows %s", column, got, exact)
			}
		}
	}
	check()
	w.must(t, w.tidy(t, w.later()))
	check()
}

// When DuckDB writes at the same time, each takes the next snapshot in turn.
func TestDuckDBCommitsBeside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := run(t, lake.New(w.config()))
	w.fill(t, 1)
	w.await(t)
	owner := w.attachAs(t, "")
	owner.Query(t, `CREATE TABLE lake.notes (i INT)`)
	for i := range 15 {
		w.create(t, "beside")
		owner.Query(t, fmt.Sprintf(`INSERT INTO lake.notes SELECT range FROM range(%d)`, i+1))
	}
	w.await(t)
	stop()
	duck := w.attach(t)
	w.requireFacts(t, duck)
	w.requirePrefixes(t, duck)
	if got := duck.Query(t, `SELECT count(*) FROM lake.notes`)[0][0]; got != "120" {
		t.Errorf("DuckDB's table has %s rows, want 120", got)
	}
}
