package jobs_test

import (
	"context"
	"testing"
	"time"

	"netsim/infra/jobs"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// yielding are workers whose runs ask once whether they are to yield, when the test says so.
type yielding struct {
	*workers
	ask  chan bool // each value has one run ask, with this argument
	told chan bool // the answers
}

func startYielding(t *testing.T, url string, n int) *yielding {
	t.Helper()
	y := &yielding{ask: make(chan bool), told: make(chan bool, 8)}
	y.workers = start(t, url, func(c *work) {
		c.Queues["runs"], c.Share, c.Reconcile = n, shareFromName, time.Hour
		plain := c.Run
		c.Run = func(ctx context.Context, simulation string) error {
			running, stop := context.WithCancel(ctx)
			defer stop()
			var result error
			ended := make(chan struct{})
			go func() { defer close(ended); result = plain(running, simulation) }()
			for {
				select {
				case <-ended:
					return result
				case wanted := <-y.ask:
					yields, err := y.jobs.Yield(ctx, wanted)
					if err != nil {
						return err
					}
					y.told <- yields
					if yields {
						stop()
						testwait.Gate(t, ended)
						return jobs.ErrYielded
					}
				}
			}
		}
	})
	return y
}

// asks has a run ask whether it is to yield.
func (y *yielding) asks(t *testing.T, wanted bool) (yields bool) {
	t.Helper()
	select {
	case y.ask <- wanted:
	case <-time.After(testwait.Limit(t)):
		t.Fatal("no run asked")
	}
	return testwait.Receive(t, y.told, "the answer")
}

// keeps fails the test unless the run keeps its worker.
func (y *yielding) keeps(t *testing.T) {
	t.Helper()
	if y.asks(t, false) {
		t.Fatal("the run yields, want that it keeps its worker")
	}
}

// yields has the run ask until it yields: one that has just yielded still counts as leaving.
func (y *yielding) yields(t *testing.T, wanted bool) {
	t.Helper()
	testworld.Await(t, func() bool { return y.asks(t, wanted) })
	testwait.Receive(t, y.ended, "the run to yield")
}

// starts fails the test unless this run is the next to start.
func (y *yielding) starts(t *testing.T, want string) {
	t.Helper()
	if got := testwait.Receive(t, y.started, "a run to start"); got != want {
		t.Fatalf("%s started, want %s", got, want)
	}
}

func (y *yielding) ends(t *testing.T) {
	t.Helper()
	y.finish <- struct{}{}
	testwait.Receive(t, y.ended, "the run to end")
}

// A run yields its worker to the waiting run of another account, even if that account was
// served more and its own account has other runs, and continues after it. No attempt is
// counted. Without such a run it keeps its worker.
func TestARunYields(t *testing.T) {
	t.Parallel()
	url := teststack.Postgres(t)
	w := startYielding(t, url, 1)
	enqueue(t, w.workers, "sim_b_9000000_0")
	w.starts(t, "sim_b_9000000_0")
	enqueue(t, w.workers, "sim_a_8_0", "sim_a_8_1")
	w.ends(t)
	w.starts(t, "sim_a_8_0")
	w.keeps(t)
	enqueue(t, w.workers, "sim_b_8_1", "sim_b_8_2")
	w.yields(t, false)
	w.starts(t, "sim_b_8_1")
	w.yields(t, false) // a waits
	w.starts(t, "sim_a_8_0")
	conn := connect(t, url)
	testworld.Await(t, func() bool { // a run starts before its start is recorded
		var attempt, marked int
		if err := conn.QueryRow(t.Context(), `
			SELECT max(attempt), count(*) FILTER (WHERE metadata ? 'yielded') FROM jobs.river_job WHERE args::text LIKE '%sim_a_8_0%'`).Scan(&attempt, &marked); err != nil || attempt != 1 {
			t.Fatalf("attempt %d, %v; want attempt 1", attempt, err)
		}
		return marked == 0
	})
	for range 3 { // the account that is next depends on how long the runs took
		w.ends(t)
		testwait.Receive(t, w.started, "another run to start")
	}
	w.ends(t)
}

// A run of a batch yields to a run of its own account that is of none, which starts before
// the rest of the batch. A run that waits for something else makes it yield, too.
func TestABatchYields(t *testing.T) {
	t.Parallel()
	w := startYielding(t, teststack.Postgres(t), 1)
	enqueue(t, w.workers, "sim_a_8_0_batch", "sim_a_8_1_batch", "sim_a_8_2_batch")
	w.starts(t, "sim_a_8_0_batch")
	w.keeps(t)
	enqueue(t, w.workers, "sim_a_900_3")
	w.yields(t, false)
	w.starts(t, "sim_a_900_3")
	w.keeps(t) // a batch waits
	w.ends(t)
	testwait.Receive(t, w.started, "the batch to continue")
	w.yields(t, true)
	for range 3 { // the batch, in any order
		testwait.Receive(t, w.started, "the rest of the batch to start")
		w.ends(t)
	}
}

// One run yields for one that waits, and none while a worker of any process is free.
func TestRunsYieldOnce(t *testing.T) {
	t.Parallel()
	url := teststack.Postgres(t)
	a, b := startYielding(t, url, 1), startYielding(t, url, 1)
	enqueue(t, a.workers, "sim_a_8_0", "sim_c_8_0")
	for _, w := range []*yielding{a, b} {
		testwait.Receive(t, w.started, "a run to start")
	}
	enqueue(t, a.workers, "sim_b_8_0")
	a.yields(t, false)
	a.starts(t, "sim_b_8_0")
	b.yields(t, false) // for the run that has yielded
	testwait.Receive(t, b.started, "it to continue")
	a.ends(t)
	testwait.Receive(t, a.started, "the other to continue")
	b.ends(t)
	enqueue(t, a.workers, "sim_b_8_1")
	b.starts(t, "sim_b_8_1")
	a.keeps(t)
	a.ends(t)
	b.ends(t)
}

// An account never has all workers of all processes, unless there is only one. A limit of its own
// applies instead.
func TestNoAccountHasAllWorkers(t *testing.T) {
	t.Parallel()
	url := teststack.Postgres(t)
	limits := map[string]*int64{"free": new(int64(9))}
	with := func(n int) *workers {
		return start(t, url, func(c *work) {
			c.Queues["runs"], c.Share = n, shareFromName
			c.MaxRunning = func(_ context.Context, account string) (*int64, error) { return limits[account], nil }
		})
	}
	two := with(2)
	testworld.Await(t, func() bool { return staff(t, url) == 2 })
	one := with(1)
	testworld.Await(t, func() bool { return staff(t, url) == 3 })
	started := func() (names []string) {
		for len(two.started) > 0 {
			names = append(names, testwait.Receive(t, two.started, "a run to start"))
		}
		for len(one.started) > 0 {
			names = append(names, testwait.Receive(t, one.started, "a run to start"))
		}
		return names
	}
	var got []string
	await := func(n int) {
		t.Helper()
		testworld.Await(t, func() bool { got = append(got, started()...); return len(got) == n })
	}
	enqueue(t, one, "sim_free_8_0", "sim_free_8_1", "sim_free_8_2")
	await(3)
	for range 3 {
		select {
		case one.finish <- struct{}{}:
		case two.finish <- struct{}{}:
		}
	}
	got = nil
	enqueue(t, two, "sim_a_8_0", "sim_a_8_1", "sim_a_8_2", "sim_a_8_3")
	await(2)
	enqueue(t, one, "sim_b_8_0")
	await(3)
	if got[2] != "sim_b_8_0" {
		t.Errorf("%v started, want two of account a and the one of b", got)
	}
	two.stop()
	testworld.Await(t, func() bool { return staff(t, url) == 1 })
}

func staff(t *testing.T, url string) (n int) {
	t.Helper()
	if err := connect(t, url).QueryRow(t.Context(), `SELECT coalesce(sum(workers), 0) FROM jobs.run_workers WHERE queue = 'runs'`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
