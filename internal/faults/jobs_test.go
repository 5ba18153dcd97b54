package faults_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"netsim/infra/jobs"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// runJob is a job of a fair kind.
type runJob struct {
	SimulationID string `json:"simulationId"`
}

// Kind implements jobs.Args.
func (runJob) Kind() string { return "run_simulation" }

// openJobs connects to a queue. Its runs call work, and unfinished, if any, lists what a
// reconciliation enqueues.
func openJobs(ctx context.Context, url string, log *slog.Logger, work func(context.Context, string) error, unfinished func(context.Context) ([]string, error)) (*jobs.Jobs, error) {
	j, err := jobs.Open(ctx, jobs.Config{
		URL: url, Log: log, Now: time.Now, Reconcile: 20 * time.Millisecond, Grace: 5 * time.Second,
		Queues:     map[string]int{"runs": 2, "far": 16, "housekeeping": 1},                       // each logs lines at its start
		MaxRunning: func(context.Context, string) (*int64, error) { return new(int64(100)), nil }, // all workers
	})
	if err != nil {
		return nil, err
	}
	jobs.Register(j, jobs.Kind[runJob]{
		Queue: "runs", Attempts: 50,
		Work:    func(ctx context.Context, a runJob) error { return work(ctx, a.SimulationID) },
		Abandon: func(context.Context, runJob) error { return nil },
		Share:   func(context.Context, runJob) (jobs.Share, error) { return jobs.Share{Cost: 1}, nil },
	})
	if unfinished != nil {
		j.Require(jobs.Need{
			Name: "simulations", Kinds: []string{runJob{}.Kind()}, Member: "simulationId", List: unfinished,
			Job: func(_ context.Context, id string) (jobs.Args, error) { return runJob{SimulationID: id}, nil },
		})
	}
	return j, nil
}

// worker is a process with workers. Its runs do nothing until the test ends them.
type worker struct {
	started chan string   // receives a run's simulation when the run starts
	ended   chan error    // receives nil after finish, or why the run's context ended
	finish  chan struct{} // each value ends one run
	jobs    *jobs.Jobs
}

func startWorker(t *testing.T, url string, unfinished func(context.Context) ([]string, error)) *worker {
	t.Helper()
	w := &worker{started: make(chan string, 8), ended: make(chan error, 8), finish: make(chan struct{})}
	var err error
	w.jobs, err = openJobs(t.Context(), url, testworld.Silent(), func(ctx context.Context, simulation string) error {
		w.started <- simulation
		select {
		case <-w.finish:
			w.ended <- nil
			return nil
		case <-ctx.Done():
			w.ended <- context.Cause(ctx)
			return ctx.Err()
		}
	}, unfinished)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.jobs.Close)
	testworld.Running(t, w.jobs.Work)
	return w
}

func (w *worker) run(ctx context.Context, simulation string) error {
	return w.jobs.Enqueue(ctx, runJob{SimulationID: simulation})
}

// childURL is the environment variable that makes TestJobsChild the worker that
// TestKilledWorker kills.
const childURL = "NETSIM_TEST_JOBS_URL"

// TestJobsChild is not a test. It runs a worker in its own process, prints which run
// starts, and never ends.
func TestJobsChild(t *testing.T) {
	url := os.Getenv(childURL)
	if url == "" {
		return
	}
	j, err := openJobs(t.Context(), url, testworld.Silent(), func(ctx context.Context, simulation string) error {
		fmt.Println("running", simulation)
		<-ctx.Done()
		return ctx.Err()
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Work(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Another worker takes the job of a worker that was killed with SIGKILL, but not
// before the kill.
func TestKilledWorker(t *testing.T) {
	url := teststack.Postgres(t)
	reconciled := make(chan struct{}, 1024)
	// The survivor's workers are busy with other runs, so the child takes sim_a.
	survivor := startWorker(t, url, func(context.Context) ([]string, error) {
		select {
		case reconciled <- struct{}{}:
		default:
		}
		return nil, nil
	})
	for _, name := range []string{"sim_busy_1", "sim_busy_2"} {
		if err := survivor.run(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		testwait.Receive(t, survivor.started, "the survivor to start a run")
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestJobsChild$", "-test.v")
	child.Env = append(os.Environ(), childURL+"="+url)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if err := survivor.run(t.Context(), "sim_a"); err != nil {
		t.Fatal(err)
	}
	running := testwait.Call(t, func() bool {
		lines := bufio.NewScanner(out)
		for lines.Scan() && lines.Text() != "running sim_a" {
		}
		return lines.Text() == "running sim_a"
	}, "the child to run sim_a")
	if !running {
		t.Fatal("the child ended before it ran sim_a")
	}
	survivor.finish <- struct{}{}
	testwait.Receive(t, survivor.ended, "the survivor to end a run") // a worker is free, but the child is alive
	testwait.Receive(t, reconciled, "a reconciliation")
	testwait.Receive(t, reconciled, "a reconciliation")
	select {
	case got := <-survivor.started:
		t.Fatalf("%s was taken from a living worker", got)
	default:
	}

	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	testwait.Call(t, child.Wait, "the killed child to end") //nolint:errcheck // "signal: killed"

	if got := testwait.Receive(t, survivor.started, "the survivor to start a run"); got != "sim_a" {
		t.Errorf("the survivor started %s, want sim_a", got)
	}
	survivor.finish <- struct{}{}
	survivor.finish <- struct{}{}
}

// When the database is killed, a run in progress is interrupted. It runs again once
// the database is back.
func TestDatabaseIsKilled(t *testing.T) {
	database := teststack.Start(t, "postgres", t.TempDir())
	w := startWorker(t, database.URL, nil)
	if err := w.run(t.Context(), "sim_a"); err != nil {
		t.Fatal(err)
	}
	testwait.Receive(t, w.started, "the run to start")

	database.Kill()
	if err := testwait.Receive(t, w.ended, "the run to end"); err == nil {
		t.Error("the run ended without an error, want that its lock is lost")
	}
	database.Restart()

	if got := testwait.Receive(t, w.started, "the run to start"); got != "sim_a" {
		t.Errorf("%s started, want sim_a", got)
	}
	w.finish <- struct{}{}
	testwait.Receive(t, w.ended, "the run to end")
	testworld.Await(t, func() bool { return w.run(t.Context(), "sim_b") == nil })
	testwait.Receive(t, w.started, "the run to start")
	w.finish <- struct{}{}
}

// When the database is down at the start of the workers, or is killed during it, the
// workers start again and work once the database is back.
func TestDatabaseIsKilledWhileWorkersStart(t *testing.T) {
	for _, lines := range []int64{0, 1, 2, 4, 8} { // of the log, from the start to the kill; 0 kills before
		t.Run(fmt.Sprint(lines, " lines"), func(t *testing.T) {
			database := teststack.Start(t, "postgres", t.TempDir())
			log := &pausingLog{t: t, reached: make(chan struct{}), resume: make(chan struct{})}
			ran := make(chan string, 8)
			work := func(_ context.Context, simulation string) error { ran <- simulation; return nil }
			j, err := openJobs(t.Context(), database.URL, slog.New(log), work, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(j.Close)
			if err := j.Enqueue(t.Context(), runJob{SimulationID: "sim_a"}); err != nil {
				t.Fatal(err)
			}
			if lines == 0 {
				database.Kill()
			}
			log.left.Store(lines)
			testworld.Running(t, j.Work)
			resume := sync.OnceFunc(func() { close(log.resume) })
			t.Cleanup(resume)
			if lines > 0 {
				testwait.Receive(t, log.reached, fmt.Sprintf("line %d of the log", lines))
				database.Kill()
				resume()
			}
			database.Restart()
			if got := testwait.Receive(t, ran, "the run"); got != "sim_a" {
				t.Errorf("ran %s, want sim_a", got)
			}
		})
	}
}

// pausingLog is a log handler that blocks at one line until resume is closed.
type pausingLog struct {
	t       testwait.Test
	left    atomic.Int64  // lines until the pause
	reached chan struct{} // closed at the pause
	resume  chan struct{}
}

func (*pausingLog) Enabled(context.Context, slog.Level) bool { return true }
func (l *pausingLog) WithAttrs([]slog.Attr) slog.Handler     { return l }
func (l *pausingLog) WithGroup(string) slog.Handler          { return l }

func (l *pausingLog) Handle(context.Context, slog.Record) error {
	if l.left.Add(-1) == 0 {
		close(l.reached)
		testwait.Gate(l.t, l.resume)
	}
	return nil
}
