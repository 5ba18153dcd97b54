package runs_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"netsim/commands"
	"netsim/internal/testworld"
	"netsim/runs"
)

// TestExcessiveRuns: a run that exceeds a limit fails, with a reason and partial
// results. A run that is known to exceed one is not started.
func TestExcessiveRuns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limits runs.Limits
		reason string
		begun  bool
	}{
		"time": {runs.Limits{Time: time.Nanosecond}, "the run takes longer than the 1ns that a run may take; the last finished collective is ", true},
		"results": {
			runs.Limits{ResultBytes: 10_000},
			"the result files have more than the 10KB that a run may write; the last finished collective is ", true,
		},
		"flows": {
			runs.Limits{Flows: 1000},
			"inputs could not be staged: the workload has 65280 transfers in flight at once, more than the 1000 that a run may have", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := testworld.New(t)
			id := provisioned(t, w, endless())
			r := runner(w)
			r.Limits = c.limits

			if err := r.Run(t.Context(), id); err != nil {
				t.Fatal(err)
			}

			sim := w.Simulation(t, id)
			if sim.Status != commands.Failed || !strings.HasPrefix(sim.FailureReason, c.reason) {
				t.Errorf("the simulation is %s (%s), want failed because of %q", sim.Status, sim.FailureReason, c.reason)
			}
			if begun := sim.StartedAt != nil; begun != c.begun {
				t.Errorf("started: got %v, want %v", begun, c.begun)
			}
			if c.begun && !strings.Contains(resultFiles(t, w, sim)["receipt.json"], `"partial": true`) {
				t.Error("the receipt does not say that the results are partial")
			}
			stage := runs.Stage{DB: w.DB, Objects: w.Objects, Limits: c.limits}
			switch _, reason, err := stage.Check(t.Context(), &sim); {
			case err != nil:
				t.Error(err)
			case c.begun && reason != "", !c.begun && reason != strings.TrimPrefix(c.reason, "inputs could not be staged: "):
				t.Errorf("the recheck returned the reason %q", reason)
			}
		})
	}
}

// TestTimeAddsUp: the time limit of a run applies to the time of all its workers.
func TestTimeAddsUp(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	id := provisioned(t, w, endless(), withSnapshots)
	r := runner(w)
	r.Limits.Time, r.Stall = time.Hour, 1000*time.Hour
	begun := time.Now()
	var worker, calls atomic.Int64
	r.Now = func() time.Time { // each worker takes 25 minutes
		const takes = 25 * time.Minute
		now := begun.Add(time.Duration(worker.Load()) * takes)
		if calls.Add(1) > 100 {
			now = now.Add(takes)
		}
		return now
	}
	for ; !commands.Final(w.Simulation(t, id).Status); worker.Add(1) {
		if worker.Load() == 4 { // the third worker may be interrupted before it exceeds the limit
			t.Fatal("the run does not end")
		}
		calls.Store(0)
		interruptOf(t, w, id, r, 1)
	}
	sim := w.Simulation(t, id)
	if sim.Status != commands.Failed || !strings.HasPrefix(sim.FailureReason, "the run takes longer than the 1h0m0s") || sim.Checkpoint < 2 {
		t.Errorf("the simulation is %s after %d snapshots (%s), want failed after an hour", sim.Status, sim.Checkpoint, sim.FailureReason)
	}
}
