package servicetest

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/infra/eventlog"
	"netsim/internal/testwait"
)

// AwaitQuiet waits until all records of the log are judged and the log has not grown
// for a second, which is long enough for the next reaction to append.
func AwaitQuiet(t testing.TB, broker, prefix, postgres string) {
	t.Helper()
	j, err := eventlog.Open(t.Context(), eventlog.Config{Brokers: []string{broker}, Prefix: prefix, Relaxed: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	conn, err := pgx.Connect(t.Context(), postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing was written
	every := time.NewTicker(50 * time.Millisecond)
	defer every.Stop()
	for quiet, before := 0, int64(-1); quiet < 20; <-every.C {
		log, err := j.Describe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ends, judged := int64(0), int64(0)
		for _, topic := range log.Topics {
			for _, part := range topic.Partitions {
				ends += part.End
			}
		}
		if err := conn.QueryRow(t.Context(), `SELECT sum(next)::bigint FROM readmodel.offsets`).Scan(&judged); err != nil {
			t.Fatal(err)
		}
		if quiet++; judged != ends || ends != before {
			quiet = 0
		}
		before = ends
	}
}

// Metric returns the value of a series of the service, 0 if it has none.
func (p *Program) Metric(t testing.TB, series string) float64 {
	t.Helper()
	for line := range strings.Lines(Scrape(t, p.Ops)) {
		if value, ok := strings.CutPrefix(line, series+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	return 0
}

// Number returns the value of an environment variable that sets a number of a test, or
// the standard value while it is not set.
func Number(t testing.TB, name string, standard int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return standard
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// AwaitSQL waits until a query of the database returns true.
func AwaitSQL(t testing.TB, postgres, query string, args ...any) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing was written
	every := time.NewTicker(20 * time.Millisecond)
	defer every.Stop()
	for ends := time.Now().Add(testwait.Limit(t)); ; <-every.C {
		var yes bool
		if err := conn.QueryRow(t.Context(), query, args...).Scan(&yes); err != nil {
			t.Fatal(err)
		}
		if yes {
			return
		}
		if time.Now().After(ends) {
			t.Fatalf("the query is still false: %s %v", query, args)
		}
	}
}

// AwaitStudyStopped waits until the worker of a terminated study has ended. Before, it may
// have begun to start runs, which make a resumption a conflict.
func AwaitStudyStopped(t testing.TB, postgres, study string) {
	t.Helper()
	AwaitSQL(t, postgres, `SELECT NOT EXISTS (SELECT FROM jobs.river_job
		WHERE kind = 'run_study' AND args->>'studyId' = $1 AND state NOT IN ('completed', 'cancelled', 'discarded'))`, study)
}
