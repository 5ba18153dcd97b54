package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"netsim/infra/jobs"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

// shareFromName reads the account and the cost from a simulation's name, such as
// sim_a_8_1. One that ends with _batch is of a batch, one that ends with _short is short.
func shareFromName(_ context.Context, simulation string) (jobs.Share, error) {
	parts := strings.Split(simulation, "_")
	cost, err := strconv.ParseInt(parts[2], 10, 64)
	return jobs.Share{Account: parts[1], Cost: cost, Batch: strings.HasSuffix(simulation, "_batch"), Short: strings.HasSuffix(simulation, "_short")}, err
}

// startOrder finishes each run as soon as it has started, until n runs have started,
// and returns their names in order. Each of the processes has one worker.
func startOrder(t *testing.T, n int, all ...*workers) (names []string) {
	t.Helper()
	started := make(chan string)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, w := range all {
		go func() {
			for {
				select {
				case name := <-w.started:
					select {
					case started <- name:
					case <-ctx.Done():
						return
					}
					w.finish <- struct{}{}
					testwait.Receive(t, w.ended, "the run to end")
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	deadline := time.After(testwait.Limit(t))
	for len(names) < n {
		select {
		case name := <-started:
			names = append(names, name)
		case <-deadline:
			t.Fatalf("only %v have started, want %d runs", names, n)
		}
	}
	return names
}

func enqueue(t *testing.T, w *workers, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := w.run(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
}

// A free worker takes the oldest run of the account that was served least, weighted
// by cost.
func TestRunsAreTakenFairly(t *testing.T) {
	t.Parallel()
	oneWorker := func(c *work) { c.Queues["runs"], c.Share = 1, shareFromName }
	w := start(t, teststack.Postgres(t), oneWorker)
	var want []string
	add := func(names ...string) { want = append(want, names...) }
	for i := range 33 {
		enqueue(t, w, fmt.Sprintf("sim_a_64_%d", i))
	}
	add("sim_a_64_0") // no other account has a run yet
	if got := testwait.Receive(t, w.started, "a run to start"); got != want[0] {
		t.Fatalf("%s started first, want %s", got, want[0])
	}
	// While it runs, other accounts enqueue runs: b one of cost 8, c eight that each
	// cost a quarter of a's.
	enqueue(t, w, "sim_b_8_0")
	for i := range 8 {
		enqueue(t, w, fmt.Sprintf("sim_c_16_%d", i))
	}
	w.finish <- struct{}{}
	testwait.Receive(t, w.ended, "the run to end")
	// Account a has been served up to 64. So b is served from 0 to 8, and c up to 64,
	// before a is next. At equal virtual times the older run is first.
	add("sim_b_8_0", "sim_c_16_0", "sim_c_16_1", "sim_c_16_2", "sim_c_16_3", "sim_a_64_1",
		"sim_c_16_4", "sim_c_16_5", "sim_c_16_6", "sim_c_16_7", "sim_a_64_2", "sim_a_64_3")
	got := append(want[:1:1], startOrder(t, len(want)-1, w)...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("started (-want +got):\n%s", diff)
	}
}

// The 33 waiting runs of one account do not delay the run of another account, on two
// processes. Every run starts once.
func TestRunsAreTakenFairlyByProcesses(t *testing.T) {
	t.Parallel()
	oneWorker := func(c *work) {
		c.Queues["runs"], c.Share = 1, shareFromName
		c.MaxRunning = func(context.Context, string) (*int64, error) { return new(int64(9)), nil } // all workers
	}
	url := teststack.Postgres(t)
	a, b := start(t, url, oneWorker), start(t, url, oneWorker)
	for i := range 33 {
		enqueue(t, a, fmt.Sprintf("sim_a_64_%d", i))
	}
	first := []string{testwait.Receive(t, a.started, "a run of process a to start"), testwait.Receive(t, b.started, "a run of process b to start")}
	enqueue(t, b, "sim_b_8_0")
	a.finish <- struct{}{}
	testwait.Receive(t, a.ended, "the run of process a to end")
	var next string
	select {
	case next = <-a.started:
	case <-time.After(testwait.Limit(t)):
		t.Fatal("no other run started")
	}
	if next != "sim_b_8_0" {
		t.Errorf("after %v, %s started, want the other account's sim_b_8_0", first, next)
	}
	a.finish <- struct{}{}
	testwait.Receive(t, a.ended, "the run of process a to end")
	b.finish <- struct{}{}
	testwait.Receive(t, b.ended, "the run of process b to end")
	seen := map[string]bool{first[0]: true, first[1]: true, next: true}
	for _, name := range startOrder(t, 31, a, b) {
		if seen[name] {
			t.Errorf("%s started twice, want once", name)
		}
		seen[name] = true
	}
}

// An account that may have one run in progress starts no second run, although
// workers are free, until its run has ended. Other accounts' runs do not wait.
func TestRunsInProgressAreBounded(t *testing.T) {
	t.Parallel()
	w := start(t, teststack.Postgres(t), func(c *work) {
		c.Queues["runs"], c.Share = 3, shareFromName
		c.Reconcile = time.Hour // the end of a run is the signal
		c.MaxRunning = func(_ context.Context, account string) (*int64, error) {
			return new(map[string]int64{"a": 1, "b": 5}[account]), nil
		}
	})
	enqueue(t, w, "sim_a_8_0", "sim_a_8_1", "sim_a_8_2", "sim_b_8_0")
	got := map[string]bool{testwait.Receive(t, w.started, "a run to start"): true, testwait.Receive(t, w.started, "a run to start"): true}
	if !got["sim_a_8_0"] || !got["sim_b_8_0"] || len(w.started) != 0 {
		t.Fatalf("%v and %d more have started, want sim_a_8_0 and sim_b_8_0", got, len(w.started))
	}
	for _, want := range []string{"sim_a_8_1", "sim_a_8_2"} {
		w.finish <- struct{}{} // ends one of the two runs in progress
		testwait.Receive(t, w.ended, "the run to end")
		if len(got) == 2 && want == "sim_a_8_1" {
			w.finish <- struct{}{} // ends the other
			testwait.Receive(t, w.ended, "the run to end")
		}
		select {
		case name := <-w.started:
			if name != want {
				t.Errorf("%s started, want %s", name, want)
			}
		case <-time.After(testwait.Limit(t)):
			t.Fatalf("%s did not start", want)
		}
	}
}

// TestARunThatIsEnqueuedMeanwhileIsBounded: a run that is enqueued after the limits of
// the accounts were read, and before the next runs are chosen, is not chosen.
func TestARunThatIsEnqueuedMeanwhileIsBounded(t *testing.T) {
	t.Parallel()
	url := teststack.Postgres(t)
	conn := connect(t, url)
	state := func() (state string) { // of the second run of account a, "" while there is none
		err := conn.QueryRow(t.Context(), `SELECT state FROM jobs.river_job WHERE args::text LIKE '%sim_a_8_1%'`).Scan(&state)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			t.Error(err)
		}
		return state
	}
	var w *workers
	enqueued, seen := make(chan error, 1), make(chan string, 1)
	// An older release enqueues a run while another process chooses.
	run := func() error {
		_, err := conn.Exec(t.Context(), `INSERT INTO jobs.river_job (kind, args, metadata, queue, state, max_attempts)
			SELECT kind, '{"simulationId": "sim_a_8_1"}', metadata, queue, 'pending', max_attempts FROM jobs.river_job WHERE args::text LIKE '%sim_a_8_0%'`)
		return err
	}
	var mu sync.Mutex
	begun, looked := false, false
	w = start(t, url, func(c *work) {
		c.Queues["runs"], c.Share = 3, shareFromName
		c.Reconcile = time.Hour
		c.MaxRunning = func(_ context.Context, account string) (*int64, error) {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case account == "b" && !begun:
				begun = true
				enqueued <- run()
			case account == "a" && begun && !looked:
				looked = true
				seen <- state()
			}
			return new(int64(1)), nil
		}
	})
	enqueue(t, w, "sim_a_8_0")
	testwait.Receive(t, w.started, "the run of account a to start")
	enqueue(t, w, "sim_b_8_0")
	if err := testwait.Receive(t, enqueued, "the second run of account a to be enqueued"); err != nil {
		t.Fatal(err)
	}
	if got := testwait.Receive(t, seen, "the limit of account a to be read"); got != "pending" {
		t.Errorf("the second run of account a is %s while the first is in progress, want pending", got)
	}
	testwait.Receive(t, w.started, "the run of account b to start")
}

// TestTheEndOfARunMakesRoomForTheNext: an account that may have one run in progress gets
// its next one when that has ended, without a reconciliation.
func TestTheEndOfARunMakesRoomForTheNext(t *testing.T) {
	t.Parallel()
	w := start(t, teststack.Postgres(t), func(c *work) {
		c.Queues["runs"], c.Share = 3, shareFromName
		c.Reconcile = time.Hour
		c.MaxRunning = func(context.Context, string) (*int64, error) { return new(int64(1)), nil }
	})
	want := []string{"sim_a_8_0", "sim_a_8_1", "sim_a_8_2"}
	enqueue(t, w, want...)
	if diff := cmp.Diff(want, startOrder(t, len(want), w)); diff != "" {
		t.Errorf("started (-want +got):\n%s", diff)
	}
}
