package runs

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/infra/teststack"
	"netsim/internal/testworld"
)

func newLogbook(t *testing.T) *logbook {
	t.Helper()
	db, err := postgres.Open(t.Context(), teststack.Postgres(t), projector.Live, 4)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if err := postgres.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return &logbook{db: db, simulation: "sim_a", now: time.Now, log: testworld.Silent()}
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

// TestLogIsBounded: of too many entries the oldest debug ones go first.
func TestLogIsBounded(t *testing.T) {
	t.Parallel()
	l := newLogbook(t)
	l.add(0, levelInfo, componentEngine, "begins")
	for i := range maxEntries + 2*batchEntries {
		l.add(int64(i), levelDebug, componentRank, "rank %d", i)
		if l.full() {
			l.flush(t.Context())
		}
	}
	l.add(0, levelWarn, componentEngine, "ends")
	if err := l.end(t.Context()); err != nil {
		t.Fatal(err)
	}
	n, first := counts(t, l.db)
	if diff := cmp.Diff([4]int64{maxEntries - 2, 1, 1, 0}, n); diff != "" {
		t.Errorf("entries by level (-want +got):\n%s", diff)
	}
	if want := int64(2*batchEntries + 4); first[levelDebug] != want {
		t.Errorf("the oldest debug entry is line %d, want %d", first[levelDebug], want)
	}
}

// TestLogBeginsAnew: an attempt's log replaces that of the one before.
func TestLogBeginsAnew(t *testing.T) {
	t.Parallel()
	l := newLogbook(t)
	for range 2 {
		l.lines = 0
		if err := l.begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.add(0, levelInfo, componentEngine, "begins")
		l.flush(t.Context())
	}
	if n, _ := counts(t, l.db); n[levelInfo] != 1 {
		t.Errorf("%d entries are stored, want 1", n[levelInfo])
	}
}

// buffer is a run.log in memory.
type buffer struct{ bytes.Buffer }

func (*buffer) Close() error { return nil }

// TestLogWithoutDatabase: run.log has every line, whatever becomes of the
// entries.
func TestLogWithoutDatabase(t *testing.T) {
	t.Parallel()
	l := newLogbook(t)
	l.db.Close()
	file := new(buffer)
	l.file = file
	l.add(1_500_000, levelWarn, componentEngine, "all is %s", "well")
	if err := l.end(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := file.String(), "1.5us warn engine all is well\n"; got != want {
		t.Errorf("run.log holds %q, want %q", got, want)
	}
}
