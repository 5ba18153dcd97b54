package jobs_test

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

	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// childURL is the environment variable that makes TestChild the worker that
// TestKilledWorker kills.
const childURL = "NETSIM_TEST_JOBS_URL"

// TestChild is not a test. It runs a worker in its own process, prints which run
// starts, and never ends.
func TestChild(t *testing.T) {
	url := os.Getenv(childURL)
	if url == "" {
		return
	}
	c := config(url)
	c.Run = func(ctx context.Context, simulation string) error {
		fmt.Println("running", simulation)
		<-ctx.Done()
		return ctx.Err()
	}
	j, err := c.open(t.Context())
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
	t.Parallel()
	url := teststack.Postgres(t)
	reconciled := make(chan struct{}, 1024)
	// The survivor's workers are busy with other runs, so the child takes sim_a.
	survivor := start(t, url, func(c *work) {
		c.Unfinished = func(context.Context) ([]string, error) {
			select {
			case reconciled <- struct{}{}:
			default:
			}
			return nil, nil
		}
	})
	for _, name := range []string{"sim_busy_1", "sim_busy_2"} {
		if err := survivor.run(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		testwait.Receive(t, survivor.started, "the survivor to start a run")
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$", "-test.v")
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
	t.Parallel()
	database := teststack.Start(t, "postgres", t.TempDir())
	w := start(t, database.URL, nil)
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
	t.Parallel()
	for _, lines := range []int64{0, 1, 2, 4, 8} { // of the log, from the start to the kill; 0 kills before
		t.Run(fmt.Sprint(lines, " lines"), func(t *testing.T) {
			t.Parallel()
			database := teststack.Start(t, "postgres", t.TempDir())
			log := &pausingLog{t: t, reached: make(chan struct{}), resume: make(chan struct{})}
			ran := make(chan string, 8)
			c := config(database.URL)
			c.Log = slog.New(log)
			c.Run = func(_ context.Context, simulation string) error { ran <- simulation; return nil }
			j, err := c.open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(j.Close)
			if err := j.Enqueue(t.Context(), run{SimulationID: "sim_a"}); err != nil {
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
