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
