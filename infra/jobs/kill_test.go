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

	"netsim/infra/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// childURL, when set, makes TestChild the worker that TestKilledWorker kills.
const childURL = "NETSIM_TEST_JOBS_URL"

// TestChild is not a test: it is a worker in a process of its own, which says
// what it runs and never comes to an end.
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

// TestKilledWorker: what a worker was at when it was killed with -9 is taken
// up by another, and not before.
func TestKilledWorker(t *testing.T) {
	t.Parallel()
	url := teststack.Postgres(t)
	looked := make(chan struct{}, 1024)
	// The other worker is busy with what is never its own: it only reconciles.
	survivor := start(t, url, func(c *work) {
		c.Unfinished = func(context.Context) ([]string, error) {
			select {
			case looked <- struct{}{}:
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
	}, "the child to run it")
	if !running {
		t.Fatal("the child ended before it ran")
	}
	survivor.letGo <- struct{}{}
	testwait.Receive(t, survivor.ended, "the survivor to end a run") // a place is free, but the child is alive
	testwait.Receive(t, looked, "a reconciliation")
	testwait.Receive(t, looked, "a reconciliation")
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
		t.Errorf("the survivor took up %s", got)
	}
	survivor.letGo <- struct{}{}
	survivor.letGo <- struct{}{}
}

// TestDatabaseIsKilled: work in progress ends with the session that holds its
// lock, and is done again once the database is back.
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
		t.Error("the run was not told that its lock is gone")
	}
	database.Restart()

	if got := testwait.Receive(t, w.started, "the run to start"); got != "sim_a" {
		t.Errorf("%s was taken up", got)
	}
	w.letGo <- struct{}{}
	testwait.Receive(t, w.ended, "the run to end")
	testworld.Await(t, func() bool { return w.run(t.Context(), "sim_b") == nil })
	testwait.Receive(t, w.started, "the run to start")
	w.letGo <- struct{}{}
}

// TestDatabaseIsKilledWhileWorkersStart: workers whose start meets a dead
// database, or one that dies at any moment of it, start again and work once the
// database is back.
func TestDatabaseIsKilledWhileWorkersStart(t *testing.T) {
	t.Parallel()
	for _, lines := range []int64{0, 1, 2, 4, 8} { // of river's log, after the beginning of the start
		t.Run(fmt.Sprint(lines, " lines"), func(t *testing.T) {
			t.Parallel()
			database := teststack.Start(t, "postgres", t.TempDir())
			at := &moment{t: t, reached: make(chan struct{}), over: make(chan struct{})}
			ran := make(chan string, 8)
			c := config(database.URL)
			c.Log = slog.New(at)
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
			at.left.Store(lines)
			testworld.Running(t, j.Work)
			resume := sync.OnceFunc(func() { close(at.over) })
			t.Cleanup(resume)
			if lines > 0 {
				testwait.Receive(t, at.reached, "the moment of the start")
				database.Kill()
				resume()
			}
			database.Restart()
			if got := testwait.Receive(t, ran, "the run"); got != "sim_a" {
				t.Errorf("%s was run", got)
			}
		})
	}
}

// moment is a log that stops at a line until the moment is over.
type moment struct {
	t             testwait.Test
	left          atomic.Int64 // lines until then
	reached, over chan struct{}
}

func (*moment) Enabled(context.Context, slog.Level) bool { return true }
func (m *moment) WithAttrs([]slog.Attr) slog.Handler     { return m }
func (m *moment) WithGroup(string) slog.Handler          { return m }

func (m *moment) Handle(context.Context, slog.Record) error {
	if m.left.Add(-1) == 0 {
		close(m.reached)
		testwait.Gate(m.t, m.over)
	}
	return nil
}
