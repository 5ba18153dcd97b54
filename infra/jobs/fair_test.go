package jobs_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/infra/teststack"
	"netsim/internal/testwait"
)

// weighed reads account and cost from a simulation's name, as in sim_a_8_1.
func weighed(_ context.Context, simulation string) (string, int64, error) {
	parts := strings.Split(simulation, "_")
	cost, err := strconv.ParseInt(parts[2], 10, 64)
	return parts[1], cost, err
}

// order has so many runs started one after the other, by processes of one worker
// each, and returns their names.
func order(t *testing.T, n int, all ...*workers) (names []string) {
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
					w.letGo <- struct{}{}
					testwait.Receive(t, w.ended, "the run to end")
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	deadline := time.After(time.Minute)
	for len(names) < n {
		select {
		case name := <-started:
			names = append(names, name)
		case <-deadline:
			t.Fatalf("after a minute %v have started of %d", names, n)
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

// TestRunsAreTakenFairly: which run is next is decided when a worker is free: by
// what the accounts were given before, weighted by cost, and the oldest first of
// one account.
func TestRunsAreTakenFairly(t *testing.T) {
	t.Parallel()
	one := func(c *work) { c.Queues["runs"], c.Weigh = 1, weighed }
	w := start(t, teststack.Postgres(t), one)
	var want []string
	add := func(names ...string) { want = append(want, names...) }
	for i := range 33 {
		enqueue(t, w, fmt.Sprintf("sim_a_64_%d", i))
	}
	add("sim_a_64_0") // it was alone
	if got := testwait.Receive(t, w.started, "a run to start"); got != want[0] {
		t.Fatalf("%s started first", got)
	}
	// While it runs others come: one run of another account, four small ones of a
	// third, each a quarter of the first account's.
	enqueue(t, w, "sim_b_8_0")
	for i := range 8 {
		enqueue(t, w, fmt.Sprintf("sim_c_16_%d", i))
	}
	w.letGo <- struct{}{}
	testwait.Receive(t, w.ended, "the run to end")
	// The first account has been served up to 64. So b is served from 0 to 8, and
	// c up to 64 before its turn comes again; at the same time the older is first.
	add("sim_b_8_0", "sim_c_16_0", "sim_c_16_1", "sim_c_16_2", "sim_c_16_3", "sim_a_64_1",
		"sim_c_16_4", "sim_c_16_5", "sim_c_16_6", "sim_c_16_7", "sim_a_64_2", "sim_a_64_3")
	got := append(want[:1:1], order(t, len(want)-1, w)...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("started (-want +got):\n%s", diff)
	}
}

// TestRunsAreTakenFairlyByProcesses: an account with 33 runs does not keep
// another's from starting, whichever processes take them, and every run starts
// once.
func TestRunsAreTakenFairlyByProcesses(t *testing.T) {
	t.Parallel()
	one := func(c *work) { c.Queues["runs"], c.Weigh = 1, weighed }
	url := teststack.Postgres(t)
	a, b := start(t, url, one), start(t, url, one)
	for i := range 33 {
		enqueue(t, a, fmt.Sprintf("sim_a_64_%d", i))
	}
	first := []string{testwait.Receive(t, a.started, "a run of a to start"), testwait.Receive(t, b.started, "a run of b to start")} // both are at work
	enqueue(t, b, "sim_b_8_0")
	a.letGo <- struct{}{}
	testwait.Receive(t, a.ended, "the run of a to end")
	var next string
	select {
	case next = <-a.started:
	case <-time.After(time.Minute):
		t.Fatal("after a minute no other run has started")
	}
	if next != "sim_b_8_0" {
		t.Errorf("after %v %s has started before the other account's", first, next)
	}
	a.letGo <- struct{}{}
	testwait.Receive(t, a.ended, "the run of a to end")
	b.letGo <- struct{}{}
	testwait.Receive(t, b.ended, "the run of b to end")
	seen := map[string]bool{first[0]: true, first[1]: true, next: true}
	for _, name := range order(t, 31, a, b) {
		if seen[name] {
			t.Errorf("%s has started twice", name)
		}
		seen[name] = true
	}
}

// TestRunsInProgressAreBounded: an account that may have one run in progress
// waits with free workers, until its run has ended, and keeps nobody waiting.
func TestRunsInProgressAreBounded(t *testing.T) {
	t.Parallel()
	w := start(t, teststack.Postgres(t), func(c *work) {
		c.Queues["runs"], c.Weigh = 3, weighed
		c.Reconcile = time.Hour // the end of a run is the signal
		c.MaxRunning = func(_ context.Context, account string) (int64, error) {
			return map[string]int64{"a": 1, "b": 5}[account], nil
		}
	})
	enqueue(t, w, "sim_a_8_0", "sim_a_8_1", "sim_a_8_2", "sim_b_8_0")
	got := map[string]bool{testwait.Receive(t, w.started, "a run to start"): true, testwait.Receive(t, w.started, "a run to start"): true}
	if !got["sim_a_8_0"] || !got["sim_b_8_0"] || len(w.started) != 0 {
		t.Fatalf("%v have started, and %d more", got, len(w.started))
	}
	for _, want := range []string{"sim_a_8_1", "sim_a_8_2"} {
		w.letGo <- struct{}{} // one of those that run, whichever
		testwait.Receive(t, w.ended, "the run to end")
		if len(got) == 2 && want == "sim_a_8_1" {
			w.letGo <- struct{}{} // and the other
			testwait.Receive(t, w.ended, "the run to end")
		}
		select {
		case name := <-w.started:
			if name != want {
				t.Errorf("%s has started, not %s", name, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("after a minute %s has not started", want)
		}
	}
}
