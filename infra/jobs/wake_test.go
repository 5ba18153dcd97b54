package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

// Jobs that are enqueued one soon after another are all found, although river notifies the
// workers of the first one only.
func TestEveryEnqueuedJobIsFound(t *testing.T) {
	t.Parallel()
	const all = 30
	begun, end := make(chan string, all), make(chan struct{})
	w := start(t, teststack.Postgres(t), func(c *work) {
		c.Queues = map[string]int{"runs": 1, "housekeeping": 2 * all} // no end of a job makes room
		c.Extract = func(ctx context.Context, traceset string) error {
			begun <- traceset
			select {
			case <-end:
			case <-ctx.Done():
			}
			return nil
		}
	})
	for i := range all {
		if err := w.jobs.Enqueue(t.Context(), extract{TracesetID: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
		testwait.Receive(t, begun, "each job to begin")
	}
	close(end)
}

// A job that failed is found when it is to be tried again.
func TestAFailedJobIsFoundAgain(t *testing.T) {
	t.Parallel()
	attempts := make(chan struct{}, 1)
	failed := false
	w := start(t, teststack.Postgres(t), func(c *work) {
		c.Extract = func(context.Context, string) error {
			attempts <- struct{}{}
			if failed {
				return nil
			}
			failed = true
			return errors.New("the first attempt fails")
		}
	})
	if err := w.jobs.Enqueue(t.Context(), extract{TracesetID: "trc_a"}); err != nil {
		t.Fatal(err)
	}
	testwait.Receive(t, attempts, "the first attempt")
	testwait.Receive(t, attempts, "the second attempt")
}

// A worker skips a run while the run is enqueued again, and finds it afterwards.
func TestARunThatIsEnqueuedAgainIsFound(t *testing.T) {
	t.Parallel()
	url := teststack.Postgres(t)
	again, proceed := make(chan struct{}), make(chan struct{})
	calls := 0
	first := config(url)
	first.Queues = nil
	first.MaxRunning = func(context.Context, string) (*int64, error) { // called after a run was inserted, before the commit
		if calls++; calls == 3 {
			close(again)
			testwait.Gate(t, proceed)
		}
		return nil, nil //nolint:nilnil // no limit
	}
	queue, err := first.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(queue.Close)
	for _, id := range []string{"sim_a", "sim_b"} {
		if err := queue.Enqueue(t.Context(), run{SimulationID: id}); err != nil {
			t.Fatal(err)
		}
	}
	repeated := make(chan error, 1)
	go func() { repeated <- queue.Enqueue(context.Background(), run{SimulationID: "sim_a"}) }()
	testwait.Receive(t, again, "the repeated run to be inserted")
	w := start(t, url, func(c *work) { c.Queues = map[string]int{"runs": 3} })
	if got := testwait.Receive(t, w.started, "a run to start"); got != "sim_b" {
		t.Fatalf("ran %s, want sim_b, which nobody has locked", got)
	}
	close(proceed)
	if err := testwait.Receive(t, repeated, "the repeated run to be enqueued"); err != nil {
		t.Fatal(err)
	}
	if got := testwait.Receive(t, w.started, "the run that was enqueued again to start"); got != "sim_a" {
		t.Errorf("ran %s, want sim_a", got)
	}
}
