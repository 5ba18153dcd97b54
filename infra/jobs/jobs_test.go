package jobs_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/infra/jobs"
	"netsim/infra/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// workers is a process with workers, whose runs the test holds in its hand.
type workers struct {
	started chan string        // a run has begun
	ended   chan error         // why a run's context ended, or nil when it was let go
	letGo   chan struct{}      // each lets one run come to its end
	stop    context.CancelFunc // ends the process in order
	jobs    *jobs.Jobs
	run     func(ctx context.Context, simulation string) error // enqueues a run
}

func start(t *testing.T, url string, change func(*work)) *workers {
	t.Helper()
	w := &workers{started: make(chan string, 8), ended: make(chan error, 8), letGo: make(chan struct{})}
	c := config(url)
	c.Run = func(ctx context.Context, simulation string) error {
		w.started <- simulation
		select {
		case <-w.letGo:
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
			t.Errorf("work ended with %v", err)
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

func TestRunsOnce(t *testing.T) {
	t.Parallel()
	w := start(t, teststack.Postgres(t), nil)
	for range 3 {
		if err := w.run(t.Context(), "sim_a"); err != nil {
			t.Fatal(err)
		}
	}
	if got := testwait.Receive(t, w.started, "a run to start"); got != "sim_a" {
		t.Errorf("ran %s", got)
	}
	if counts := openRuns(t, w); len(counts) != 1 || counts["running"] != 1 {
		t.Errorf("runs: %v", counts)
	}
	w.letGo <- struct{}{}
	testwait.Receive(t, w.ended, "the run to end")
}

// openRuns counts the runs that are still to be done, by state.
func openRuns(t *testing.T, w *workers) map[string]int64 {
	t.Helper()
	counts, err := w.jobs.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]int64{}
	for _, c := range counts { // beside the housekeeping that every start begins with
		if c.Oldest.IsZero() {
			t.Errorf("%s/%s: the oldest of %d jobs has no time", c.Kind, c.State, c.Jobs)
		}
		if c.Kind == "run_simulation" {
			runs[c.State] = c.Jobs
		}
	}
	return runs
}

// TestElsewhere: a run at a remote engine takes no worker from those that run
// here, whoever enqueues it.
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
		t.Errorf("they run: %v", running)
	}
}

// TestAttended: a queue is attended while a process with workers lives.
func TestAttended(t *testing.T) {
	t.Parallel()
	url := teststack.Postgres(t)
	queue := enqueuing(t, url)
	becomes := func(want bool) {
		t.Helper()
		testworld.Await(t, func() bool {
			got, err := queue.Attended(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return got == want
		})
	}
	becomes(false)
	w := start(t, url, nil)
	becomes(true)
	w.stop()
	becomes(false)
}

// TestDeadWorker: a job that is called running while nobody holds its lock is
// run by another worker.
func TestDeadWorker(t *testing.T) {
	t.Parallel()
	url := teststack.Postgres(t)
	queue := enqueuing(t, url)
	if err := queue.Enqueue(t.Context(), run{SimulationID: "sim_a"}); err != nil {
		t.Fatal(err)
	}
	if _, err := connect(t, url).Exec(t.Context(), `
		UPDATE jobs.river_job SET state = 'running', attempt = 1, attempted_at = now() - interval '6 seconds',
			attempted_by = '{a worker that is gone}'`); err != nil {
		t.Fatal(err)
	}
	w := start(t, url, nil)
	if got := testwait.Receive(t, w.started, "a run to start"); got != "sim_a" {
		t.Errorf("ran %s", got)
	}
	w.letGo <- struct{}{}
	testwait.Receive(t, w.ended, "the run to end")
}

// TestLivingWorker: however long a job has been running, nobody takes it while
// its lock is held.
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

	looked := make(chan struct{}, 64)
	second := start(t, url, func(c *work) {
		c.Unfinished = func(context.Context) ([]string, error) { // comes after each look for orphans
			looked <- struct{}{}
			return []string{"sim_a"}, nil
		}
	})
	for range 3 {
		testwait.Receive(t, looked, "a reconciliation")
	}
	first.letGo <- struct{}{}
	if err := testwait.Receive(t, first.ended, "the first run to end"); err != nil {
		t.Errorf("the first run was ended: %v", err)
	}
	select {
	case <-second.started:
		// The simulation still counts as unfinished here, so it may run again,
		// but only now.
		second.letGo <- struct{}{}
		testwait.Receive(t, second.ended, "the second run to end")
	default:
	}
}

// TestBrokenSession: work ends when the session of its lock does, and is done
// again.
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
		t.Error("the run was not told that its lock is gone")
	}
	testwait.Receive(t, w.started, "a run to start")
	w.letGo <- struct{}{}
	testwait.Receive(t, w.ended, "the run to end")
}

// TestStopAndGoOn: a process that stops hands its work to the next one.
func TestStopAndGoOn(t *testing.T) {
	t.Parallel()
	url := teststack.Postgres(t)
	first := start(t, url, nil)
	if err := first.run(t.Context(), "sim_a"); err != nil {
		t.Fatal(err)
	}
	testwait.Receive(t, first.started, "the first run to start")
	first.stop()
	if err := testwait.Receive(t, first.ended, "the first run to end"); err == nil {
		t.Error("the run was not interrupted")
	}
	second := start(t, url, nil)
	testwait.Receive(t, second.started, "the second run to start")
	second.letGo <- struct{}{}
	testwait.Receive(t, second.ended, "the second run to end")
}

// TestMissingJobs: a simulation that is to run and has no job gets one.
func TestMissingJobs(t *testing.T) {
	t.Parallel()
	w := start(t, teststack.Postgres(t), func(c *work) {
		c.Unfinished = func(context.Context) ([]string, error) { return []string{"sim_a", "sim_b"}, nil }
	})
	seen := map[string]bool{testwait.Receive(t, w.started, "a run to start"): true, testwait.Receive(t, w.started, "a run to start"): true}
	if !seen["sim_a"] || !seen["sim_b"] {
		t.Errorf("ran %v", seen)
	}
	w.letGo <- struct{}{}
	w.letGo <- struct{}{}
}

func TestMissingExtractions(t *testing.T) {
	t.Parallel()
	read := make(chan string, 8)
	w := start(t, teststack.Postgres(t), func(c *work) {
		left := []string{"ts_a", "ts_b"} // until they are read
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
		t.Errorf("read %v", seen)
	}
	if err := w.jobs.Enqueue(t.Context(), extract{TracesetID: "ts_c"}); err != nil {
		t.Fatal(err)
	}
	if another := testwait.Receive(t, read, "an extraction"); another != "ts_c" {
		t.Errorf("read %s", another)
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
		t.Errorf("purged %s", got)
	}
	if got := testwait.Receive(t, accrued, "the accrual"); got != "2026-02-28" {
		t.Errorf("accrued %s, want the day before", got)
	}
}

// TestCancel: a job that waits is cancelled, whether its turn is near or not, and
// one in progress goes on.
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
		t.Errorf("runs: %v", counts)
	}
	w.letGo <- struct{}{}
	if err := testwait.Receive(t, w.ended, "the first run to end"); err != nil {
		t.Errorf("the run in progress ended with %v", err)
	}
	if next := testwait.Receive(t, w.started, "another run to start"); next != "sim_g" {
		t.Errorf("%s started after sim_a", next)
	}
	w.letGo <- struct{}{}
	testwait.Receive(t, w.ended, "the other run to end")
}

// TestUnregistered: a kind that nobody registered is refused.
func TestUnregistered(t *testing.T) {
	t.Parallel()
	if err := enqueuing(t, teststack.Postgres(t)).Enqueue(t.Context(), sweep{}); err == nil {
		t.Error("a job without a registration was enqueued")
	}
}
