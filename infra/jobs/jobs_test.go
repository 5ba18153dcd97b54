package jobs_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/infra/jobs"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// workers is a process with workers. Its runs do nothing until the test ends them.
type workers struct {
	started chan string        // receives a run's simulation when the run starts
	ended   chan error         // receives nil after finish, or why the run's context ended
	finish  chan struct{}      // each value ends one run
	stop    context.CancelFunc // ends the process in order
	jobs    *jobs.Jobs
	run     func(ctx context.Context, simulation string) error // enqueues a run
}

func start(t *testing.T, url string, change func(*work)) *workers {
	t.Helper()
	w := &workers{started: make(chan string, 8), ended: make(chan error, 8), finish: make(chan struct{})}
	c := config(url)
	c.Run = func(ctx context.Context, simulation string) error {
		w.started <- simulation
		select {
		case <-w.finish:
			w.ended <- nil
			return nil
		case <-ctx.Done():
			w.ended <- context.Cause(ctx)
			return ctx.Err()
		}
	}
	if change != nil {
		change(&c)
	}
	w.run = func(ctx context.Context, simulation string) error { return w.jobs.Enqueue(ctx, c.job(simulation)) }
	var err error
	if w.jobs, err = c.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.jobs.Work(ctx) }()
	w.stop = func() {
		if cancel == nil {
			return
		}
		cancel()
		cancel = nil
		if err := testwait.Receive(t, done, "the workers to stop"); err != nil {
			t.Errorf("Work: %v, want no error", err)
		}
		w.jobs.Close()
	}
	t.Cleanup(w.stop)
	return w
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// A job that is enqueued three times runs once.
func TestRunsOnce(t *testing.T) {
	t.Parallel()
	w := start(t, teststack.Postgres(t), nil)
	for range 3 {
		if err := w.run(t.Context(), "sim_a"); err != nil {
			t.Fatal(err)
		}
	}
	if got := testwait.Receive(t, w.started, "a run to start"); got != "sim_a" {
		t.Errorf("ran %s, want sim_a", got)
	}
	if counts := openRuns(t, w); len(counts) != 1 || counts["running"] != 1 {
		t.Errorf("runs by state = %v, want 1 running", counts)
	}
	w.finish <- struct{}{}
	testwait.Receive(t, w.ended, "the run to end")
}

// openRuns counts the runs that have not ended, by state.
func openRuns(t *testing.T, w *workers) map[string]int64 {
	t.Helper()
	counts, err := w.jobs.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]int64{}
	for _, c := range counts { // includes the housekeeping jobs of the start
		if c.Oldest.IsZero() {
			t.Errorf("%s/%s: the oldest of %d jobs has no time", c.Kind, c.State, c.Jobs)
		}
		if c.Kind == "run_simulation" {
			runs[c.State] = c.Jobs
		}
	}
	return runs
}

// A run at a remote engine takes no worker of the queue of local runs, whether it
// was enqueued by a caller or by a reconciliation.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	w := start(t, teststack.Postgres(t), func(c *work) {
		c.Queues["runs"] = 1
		c.Elsewhere = func(simulation string) bool { return simulation != "sim_here" }
		c.Unfinished = func(context.Context) ([]string, error) { return []string{"sim_here", "sim_far", "sim_missed"}, nil }
	})
	for _, id := range []string{"sim_here", "sim_far"} {
		if err := w.run(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	running := map[string]bool{testwait.Receive(t, w.started, "a run to start"): true, testwait.Receive(t, w.started, "a run to start"): true, testwait.Receive(t, w.started, "a run to start"): true}
	if len(running) != 3 {
		t.Errorf("running = %v, want all three", running)
	}
}

// A queue is attended while a process with workers runs.
func TestAttended(t *testing.T) {
	t.Parallel()
	url := teststack.Postgres(t)
	queue := enqueuing(t, url)
	awaitAttended := func(want bool) {
		t.Helper()
		testworld.Await(t, func() bool {
			got, err := queue.Attended(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return got == want
		})
	}
	awaitAttended(false)
	w := start(t, url, nil)
	awaitAttended(true)
	w.stop()
	awaitAttended(false)
}

// A running job whose lock no worker holds is run by another worker.
func TestDeadWorker(t *testing.T) {
	t.Parallel()
	runsAlthough(t, `state = 'running', attempt = 1, attempted_at = now() - interval '6 seconds', attempted_by = '{a dead worker}'`)
}

// runsAlthough enqueues a job, changes its row, and waits until a worker runs it.
func runsAlthough(t *testing.T, change string) {
	t.Helper()
	url := teststack.Postgres(t)
	queue := enqueuing(t, url)
	if err := queue.Enqueue(t.Context(), run{SimulationID: "sim_a"}); err != nil {
		t.Fatal(err)
	}
	if _, err := connect(t, url).Exec(t.Context(), `UPDATE jobs.river_job SET `+change); err != nil {
		t.Fatal(err)
	}
	w := start(t, url, nil)
	if got := testwait.Receive(t, w.started, "a run to start"); got != "sim_a" {
		t.Errorf("ran %s, want sim_a", got)
	}
	w.finish <- struct{}{}
	testwait.Receive(t, w.ended, "the run to end")
}

// Jobs that were enqueued, delayed or fetched while the database's clock was ahead run
// when it is right again, and not when it has caught up.
func TestTheClockWasAhead(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"enqueued": `state = 'available', scheduled_at = now() + interval '10 minutes'`,
		"delayed":  `state = 'retryable', attempt = 1, scheduled_at = now() + interval '10 minutes'`,
		"fetched":  `state = 'running', attempt = 1, attempted_at = now() + interval '10 minutes', attempted_by = '{a dead worker}'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runsAlthough(t, change)
		})
	}
}

// A job whose lock is held is not taken by another worker, however long it has been
// running.
func TestLivingWorker(t *testing.T) {
	t.Parallel()
	url := teststack.Postgres(t)
	first := start(t, url, nil)
	if err := first.run(t.Context(), "sim_a"); err != nil {
		t.Fatal(err)
	}
	testwait.Receive(t, first.started, "the first run to start")
	if _, err := connect(t, url).Exec(t.Context(), `
		UPDATE jobs.river_job SET attempted_at = now() - interval '2 days' WHERE kind = 'run_simulation'`); err != nil {
		t.Fatal(err)
	}

	reconciled := make(chan struct{}, 64)
	second := start(t, url, func(c *work) {
		c.Unfinished = func(context.Context) ([]string, error) { // called after freeOrphans
			reconciled <- struct{}{}
			return []string{"sim_a"}, nil
		}
	})
	for range 3 {
		testwait.Receive(t, reconciled, "a reconciliation")
	}
	first.finish <- struct{}{}
	if err := testwait.Receive(t, first.ended, "the first run to end"); err != nil {
		t.Errorf("the first run was interrupted: %v", err)
	}
	select {
	case <-second.started:
		// Unfinished still lists the simulation, so it may run again after the
		// first run has ended.
		second.finish <- struct{}{}
		testwait.Receive(t, second.ended, "the second run to end")
	default:
	}
}

// When the session of its lock ends, a run is interrupted and runs again.
func TestBrokenSession(t *testing.T) {
	t.Parallel()
	url := teststack.Postgres(t)
	w := start(t, url, nil)
	if err := w.run(t.Context(), "sim_a"); err != nil {
		t.Fatal(err)
	}
	testwait.Receive(t, w.started, "a run to start")
	if _, err := connect(t, url).Exec(t.Context(), `
		SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN jobs.river_job j
		ON l.locktype = 'advisory' AND l.objsubid = 1
		   AND (l.classid::bigint << 32 | l.objid::bigint) = hashtextextended(j.kind || '/' || j.args::text, 0)`); err != nil {
		t.Fatal(err)
	}
	if err := testwait.Receive(t, w.ended, "the run to end"); err == nil {
		t.Error("the run ended without an error, want that its lock is lost")
	}
	testwait.Receive(t, w.started, "a run to start")
	w.finish <- struct{}{}
	testwait.Receive(t, w.ended, "the run to end")
}

// A run that is interrupted because its process stops runs again on the next process.
func TestStoppedRunContinuesElsewhere(t *testing.T) {
	t.Parallel()
	url := teststack.Postgres(t)
	first := start(t, url, nil)
	if err := first.run(t.Context(), "sim_a"); err != nil {
		t.Fatal(err)
	}
	testwait.Receive(t, first.started, "the first run to start")
	first.stop()
	if err := testwait.Receive(t, first.ended, "the first run to end"); err == nil {
		t.Error("the run ended without an error, want it interrupted")
	}
	second := start(t, url, nil)
	testwait.Receive(t, second.started, "the second run to start")
	second.finish <- struct{}{}
	testwait.Receive(t, second.ended, "the second run to end")
}

// A reconciliation enqueues a job for an unfinished simulation that has none.
func TestMissingJobs(t *testing.T) {
	t.Parallel()
	w := start(t, teststack.Postgres(t), func(c *work) {
		c.Queues["runs"] = 3 // one more than an account may have
		c.Unfinished = func(context.Context) ([]string, error) { return []string{"sim_a", "sim_b"}, nil }
	})
	seen := map[string]bool{testwait.Receive(t, w.started, "a run to start"): true, testwait.Receive(t, w.started, "a run to start"): true}
	if !seen["sim_a"] || !seen["sim_b"] {
		t.Errorf("ran %v, want sim_a and sim_b", seen)
	}
	w.finish <- struct{}{}
	w.finish <- struct{}{}
}

// Needs of several kinds are met: a reconciliation also enqueues missing extractions.
func TestMissingExtractions(t *testing.T) {
	t.Parallel()
	read := make(chan string, 8)
	w := start(t, teststack.Postgres(t), func(c *work) {
		left := []string{"ts_a", "ts_b"} // listed once
		c.Processing = func(context.Context) ([]string, error) {
			defer func() { left = nil }()
			return left, nil
		}
		c.Extract = func(_ context.Context, traceset string) error {
			read <- traceset
			return nil
		}
	})
	if seen := map[string]bool{testwait.Receive(t, read, "an extraction"): true, testwait.Receive(t, read, "an extraction"): true}; !seen["ts_a"] || !seen["ts_b"] {
		t.Errorf("extracted %v, want ts_a and ts_b", seen)
	}
	if err := w.jobs.Enqueue(t.Context(), extract{TracesetID: "ts_c"}); err != nil {
		t.Fatal(err)
	}
	if another := testwait.Receive(t, read, "an extraction"); another != "ts_c" {
		t.Errorf("extracted %s, want ts_c", another)
	}
}

func TestHousekeeping(t *testing.T) {
	t.Parallel()
	purged, accrued := make(chan string, 1), make(chan string, 2)
	swept := make(chan bool, 2)
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	w := start(t, teststack.Postgres(t), func(c *work) {
		c.Now = func() time.Time { return noon }
		c.Purge = func(_ context.Context, simulation string) error { purged <- simulation; return nil }
		c.Accrue = func(_ context.Context, day string) error { accrued <- day; return nil }
		c.Sweep = func(context.Context) error { swept <- true; return nil }
	})
	testwait.Receive(t, swept, "the sweep")
	if err := w.jobs.Enqueue(t.Context(), purge{SimulationID: "sim_a"}); err != nil {
		t.Fatal(err)
	}
	if got := testwait.Receive(t, purged, "the purge"); got != "sim_a" {
		t.Errorf("purged %s, want sim_a", got)
	}
	if got := testwait.Receive(t, accrued, "the accrual"); got != "2026-02-28" {
		t.Errorf("accrued %s, want 2026-02-28", got)
	}
}

// Cancel cancels waiting jobs, available or pending. A job in progress continues.
func TestCancel(t *testing.T) {
	t.Parallel()
	w := start(t, teststack.Postgres(t), func(c *work) { c.Queues["runs"] = 1 })
	enqueue(t, w, "sim_a", "sim_b", "sim_c", "sim_d", "sim_e", "sim_f", "sim_g")
	testwait.Receive(t, w.started, "the first run to start")
	var all []jobs.Args
	for _, name := range []string{"sim_a", "sim_b", "sim_c", "sim_d", "sim_e", "sim_f"} {
		all = append(all, run{SimulationID: name})
	}
	if err := w.jobs.Cancel(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
	if counts := openRuns(t, w); len(counts) != 2 || counts["running"] != 1 || counts["available"] != 1 {
		t.Errorf("runs by state = %v, want 1 running and 1 available", counts)
	}
	w.finish <- struct{}{}
	if err := testwait.Receive(t, w.ended, "the first run to end"); err != nil {
		t.Errorf("the run in progress ended with %v, want no error", err)
	}
	if next := testwait.Receive(t, w.started, "another run to start"); next != "sim_g" {
		t.Errorf("%s started after sim_a, want sim_g", next)
	}
	w.finish <- struct{}{}
	testwait.Receive(t, w.ended, "the other run to end")
}

// Enqueue refuses a job of an unregistered kind.
func TestUnregistered(t *testing.T) {
	t.Parallel()
	if err := enqueuing(t, teststack.Postgres(t)).Enqueue(t.Context(), sweep{}); err == nil {
		t.Error("Enqueue of an unregistered kind: no error")
	}
}
