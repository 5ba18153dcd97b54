package jobs_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

// version is a run's row: what the choice of the next runs sets, and the transaction that wrote it.
type version struct{ State, Writer string }

// waitingRuns returns the rows of the runs that have not started, by simulation.
func waitingRuns(t *testing.T, conn *pgx.Conn) map[string]version {
	t.Helper()
	rows, err := conn.Query(t.Context(), `SELECT args->>'simulationId', state::text, xmin::text FROM jobs.river_job
		WHERE kind = 'run_simulation' AND attempt = 0`)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]version{}
	var name string
	var v version
	if _, err := pgx.ForEachRow(rows, []any{&name, &v.State, &v.Writer}, func() error {
		all[name] = v
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestARunIsWrittenOnceForItsTurn: while runs of one account wait and start, a waiting run is
// written once, when it becomes available. They start in their order.
func TestARunIsWrittenOnceForItsTurn(t *testing.T) {
	t.Parallel()
	url := teststack.Postgres(t)
	conn := connect(t, url)
	w := start(t, url, func(c *work) {
		c.Queues["runs"], c.Share, c.Reconcile = 1, shareFromName, time.Hour
	})
	var names []string
	for i := range 12 {
		names = append(names, fmt.Sprintf("sim_a_64_%d", i))
	}
	enqueue(t, w, names[:11]...)
	testwait.Receive(t, w.started, "the first run to start")
	enqueue(t, w, names[11]) // whose choice follows that of the start
	before := waitingRuns(t, conn)
	for i, name := range names[1:] {
		w.finish <- struct{}{}
		testwait.Receive(t, w.ended, "the run to end")
		if got := testwait.Receive(t, w.started, "the next run to start"); got != name {
			t.Fatalf("run %d is %s, want %s", i+1, got, name)
		}
		after := waitingRuns(t, conn)
		for name, now := range after {
			if was := before[name]; was.State == now.State && was.Writer != now.Writer {
				t.Errorf("%s was written again, although it stays %s", name, now.State)
			}
		}
		before = after
	}
}

// TestARunThatHasBegunGoesFirst: a run that was interrupted does not wait for runs of its
// account that have not begun.
func TestARunThatHasBegunGoesFirst(t *testing.T) {
	t.Parallel()
	url := teststack.Postgres(t)
	conn := connect(t, url)
	oneWorker := func(c *work) { c.Queues["runs"], c.Share = 1, shareFromName }
	first := start(t, url, oneWorker)
	enqueue(t, first, "sim_a_64_0", "sim_a_64_1", "sim_a_64_2", "sim_a_64_3", "sim_a_64_4", "sim_a_64_5")
	begun := testwait.Receive(t, first.started, "a run to start")
	first.stop()
	second := start(t, url, oneWorker)
	chosen := testwait.Call(t, func() bool {
		var chosen bool
		for !chosen && t.Context().Err() == nil {
			err := conn.QueryRow(t.Context(), `SELECT priority = 1 OR state = 'running' FROM jobs.river_job WHERE args->>'simulationId' = $1`, begun).Scan(&chosen)
			if err != nil {
				t.Error(err)
				return false
			}
		}
		return chosen
	}, "a choice after the run that has begun")
	if !chosen {
		t.FailNow()
	}
	got := []string{testwait.Receive(t, second.started, "a run to start")} // the worker may not have waited for the choice
	second.finish <- struct{}{}
	testwait.Receive(t, second.ended, "the run to end")
	got = append(got, testwait.Receive(t, second.started, "the next run to start"))
	if got[0] != begun && got[1] != begun {
		t.Errorf("started (-want +got):\n%s", cmp.Diff([]string{begun}, got))
	}
	second.finish <- struct{}{}
	testwait.Receive(t, second.ended, "the run to end")
}
