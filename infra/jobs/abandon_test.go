package jobs_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"netsim/infra/jobs"
	"netsim/infra/teststack"
)

// TestARunIsAbandoned: a run whose attempts all end early is tried a bounded
// number of times, and then abandoned. An abandonment that fails is tried again.
func TestARunIsAbandoned(t *testing.T) {
	t.Parallel()
	var runs, abandoned atomic.Int64
	over := make(chan int64, 1)
	w := start(t, teststack.Postgres(t), func(c *jobs.Config) {
		c.Now = func() time.Time { return time.Now().Add(-time.Hour) } // retries are due at once
		c.Run = func(context.Context, string) error {
			runs.Add(1)
			return errors.New("the read model does not answer")
		}
		c.Abandon = func(context.Context, string) error {
			if abandoned.Add(1) == 1 {
				return errors.New("the log does not answer")
			}
			over <- runs.Load()
			return nil
		}
	})
	if err := w.jobs.EnqueueRun(t.Context(), "sim_a"); err != nil {
		t.Fatal(err)
	}
	select {
	case n := <-over:
		if n != 51 {
			t.Errorf("it was tried %d times, want 50 and once more", n)
		}
	case <-time.After(2 * time.Minute):
		t.Fatalf("after two minutes it has been tried %d times and is not abandoned", runs.Load())
	}
}
