package jobs_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"netsim/infra/jobs"
	"netsim/infra/teststack"
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
	j, err := jobs.Open(t.Context(), c)
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
	survivor := start(t, url, func(c *jobs.Config) {
		c.Unfinished = func(context.Context) ([]string, error) {
			select {
			case looked <- struct{}{}:
			default:
			}
			return nil, nil
		}
	})
	for _, name := range []string{"sim_busy_1", "sim_busy_2"} {
		if err := survivor.jobs.EnqueueRun(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		<-survivor.started
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
	if err := survivor.jobs.EnqueueRun(t.Context(), "sim_a"); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "running sim_a"; {
	}
	survivor.letGo <- struct{}{}
	<-survivor.ended // a place is free, but the child is alive
	<-looked
	<-looked
	select {
	case got := <-survivor.started:
		t.Fatalf("%s was taken from a living worker", got)
	default:
	}

	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	child.Wait() // killed

	if got := <-survivor.started; got != "sim_a" {
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
	if err := w.jobs.EnqueueRun(t.Context(), "sim_a"); err != nil {
		t.Fatal(err)
	}
	<-w.started

	database.Kill()
	if err := <-w.ended; err == nil {
		t.Error("the run was not told that its lock is gone")
	}
	database.Restart()

	if got := <-w.started; got != "sim_a" {
		t.Errorf("%s was taken up", got)
	}
	w.letGo <- struct{}{}
	<-w.ended
	testworld.Await(t, func() bool { return w.jobs.EnqueueRun(t.Context(), "sim_b") == nil })
	<-w.started
	w.letGo <- struct{}{}
}
