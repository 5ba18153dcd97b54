package jobs_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

// withShort gives a process workers for runs and, unless there are 0, for short ones.
func withShort(runs, short int) func(*work) {
	return func(c *work) {
		c.Queues["runs"], c.Share, c.Reconcile = runs, shareFromName, time.Hour
		if short > 0 {
			c.Queues["short"] = short
		}
	}
}

// TestAShortRunWaitsForNoLongOne: while a long run has the only worker, short runs of other
// accounts and of its own start, and no account has all workers for short runs.
func TestAShortRunWaitsForNoLongOne(t *testing.T) {
	t.Parallel()
	w := start(t, teststack.Postgres(t), withShort(1, 3))
	enqueue(t, w, "sim_a_64_long")
	testwait.Receive(t, w.started, "the long run to start")
	enqueue(t, w, "sim_b_64_long", "sim_a_8_0_short", "sim_a_8_1_short", "sim_a_8_2_short", "sim_b_8_0_short")
	started := map[string]bool{}
	for range 3 {
		started[testwait.Receive(t, w.started, "a short run to start")] = true
	}
	if !started["sim_a_8_0_short"] || !started["sim_a_8_1_short"] || !started["sim_b_8_0_short"] {
		t.Errorf("%v have started, want two short runs of a and that of b", started)
	}
	w.finish <- struct{}{} // a short run or the long one
	testwait.Receive(t, w.ended, "a run to end")
	testwait.Receive(t, w.started, "the next run to start")
}

// TestShortRunsFindTheWorkersThereAre: a short run takes a worker of the others while no
// process has any for short runs, also if it was enqueued, or has begun, while one had.
func TestShortRunsFindTheWorkersThereAre(t *testing.T) {
	t.Parallel()
	url := teststack.Postgres(t)
	often := func(runs, short int) func(*work) {
		return func(c *work) {
			withShort(runs, short)(c)
			c.Reconcile = 20 * time.Millisecond
		}
	}
	plain := start(t, url, often(1, 0))
	enqueue(t, plain, "sim_a_8_0_short")
	testwait.Receive(t, plain.started, "the short run to start")
	plain.finish <- struct{}{}
	testwait.Receive(t, plain.ended, "the short run to end")

	enqueue(t, plain, "sim_a_64_long")
	testwait.Receive(t, plain.started, "the long run to start")
	both := start(t, url, often(1, 1))
	enqueue(t, both, "sim_c_8_0_short")
	testwait.Receive(t, both.started, "the short run to start beside the long one")
	enqueue(t, plain, "sim_d_8_0_short") // finds the only worker for short runs taken
	both.stop()
	plain.finish <- struct{}{} // the long run
	testwait.Receive(t, plain.ended, "the long run to end")
	started := map[string]bool{}
	for range 2 {
		started[testwait.Receive(t, plain.started, "a short run to start")] = true
		plain.finish <- struct{}{}
		testwait.Receive(t, plain.ended, "a short run to end")
	}
	if !started["sim_c_8_0_short"] || !started["sim_d_8_0_short"] {
		t.Errorf("%v have started where there are no workers for short runs, want the one that was interrupted and the one that waited", started)
	}
}

// TestTheLimitOfAnAccountCountsShortAndLongRuns: a short run waits while long ones of its
// account are as many as the account may have in progress, and the reverse. Another account's
// starts.
func TestTheLimitOfAnAccountCountsShortAndLongRuns(t *testing.T) {
	t.Parallel()
	w := start(t, teststack.Postgres(t), func(c *work) {
		withShort(3, 3)(c)
		c.MaxRunning = func(context.Context, string) (*int64, error) { return new(int64(1)), nil }
	})
	for _, order := range [][2]string{{"sim_a_64_long", "sim_a_8_0_short"}, {"sim_a_8_1_short", "sim_a_64_1_long"}} {
		other := strings.Replace(order[1], "_a_", "_b_", 1)
		enqueue(t, w, order[0])
		if got := testwait.Receive(t, w.started, "the first run to start"); got != order[0] {
			t.Fatalf("%s started, want %s", got, order[0])
		}
		enqueue(t, w, order[1], other)
		if got := testwait.Receive(t, w.started, "the other account's run to start"); got != other {
			t.Fatalf("%s started although its account has %s in progress and may have one, want %s", got, order[0], other)
		}
		if runs := openRuns(t, w); runs["running"] != 2 || runs["pending"] != 1 {
			t.Errorf("runs by state = %v, want 2 running and 1 pending", runs)
		}
		for range 2 {
			w.finish <- struct{}{}
			testwait.Receive(t, w.ended, "a run to end")
		}
		if got := testwait.Receive(t, w.started, "the run that waited to start"); got != order[1] {
			t.Errorf("%s started, want %s", got, order[1])
		}
		w.finish <- struct{}{}
		testwait.Receive(t, w.ended, "the run that waited to end")
	}
}
