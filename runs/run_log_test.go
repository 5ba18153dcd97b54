package runs

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/internal/teststack"
	"netsim/internal/testworld"
	"netsim/runs/execution"
)

func newTestLog(t *testing.T) *runLog {
	t.Helper()
	db, err := postgres.Open(t.Context(), teststack.Postgres(t), projector.Live, 4)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if err := postgres.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return &runLog{db: db, simulation: "sim_a", now: time.Now, log: testworld.Silent()}
}

func entryOf(level execution.Level, component, message string) execution.Entry {
	return execution.Entry{Level: level, Component: component, Message: message}
}

// counts returns how many entries of each level are stored, and the first line
// of each.
func counts(t *testing.T, db *pgxpool.Pool) (n, first [4]int64) {
	t.Helper()
	for level := range n {
		if err := db.QueryRow(t.Context(), `
			SELECT count(*), coalesce(min(line), 0) FROM netsim.simulation_logs WHERE level = $1`, level).
			Scan(&n[level], &first[level]); err != nil {
			t.Fatal(err)
		}
	}
	return n, first
}

// TestLogIsBounded: if there are too many entries, the oldest debug entries are
// dropped first.
func TestLogIsBounded(t *testing.T) {
	t.Parallel()
	l := newTestLog(t)
	l.add(entryOf(execution.Info, execution.Engine, "begins"))
	for i := range maxEntries + 2*batchEntries {
		l.add(entryOf(execution.Debug, execution.Rank, fmt.Sprintf("rank %d", i)))
		if l.full() {
			l.flush(t.Context())
		}
	}
	l.add(entryOf(execution.Warn, execution.Engine, "ends"))
	l.flush(t.Context())
	n, first := counts(t, l.db)
	if diff := cmp.Diff([4]int64{maxEntries - 2, 1, 1, 0}, n); diff != "" {
		t.Errorf("entries by level (-want +got):\n%s", diff)
	}
	if want := int64(2*batchEntries + 4); first[execution.Debug] != want {
		t.Errorf("the oldest debug entry is line %d, want %d", first[execution.Debug], want)
	}
}

// TestLogOfAnotherAttempt: an attempt's log replaces that of the attempt before it.
func TestLogOfAnotherAttempt(t *testing.T) {
	t.Parallel()
	l := newTestLog(t)
	for range 2 {
		l.lines = 0
		if err := l.begin(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		l.add(entryOf(execution.Info, execution.Engine, "begins"))
		l.flush(t.Context())
	}
	if n, _ := counts(t, l.db); n[execution.Info] != 1 {
		t.Errorf("got %d stored entries, want 1", n[execution.Info])
	}
}
