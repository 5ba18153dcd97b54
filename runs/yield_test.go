package runs_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"netsim/commands"
	"netsim/content/simple"
	"netsim/events"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
	"netsim/projections"
	"netsim/runs"
)

// TestYields: a run that has had its turn yields its worker again and again, whether it asked
// for snapshots or not. Its files equal those of an undisturbed run, and the snapshots of the
// service are not among its results.
func TestYields(t *testing.T) {
	t.Parallel()
	for name, asked := range map[string]bool{"without snapshots": false, "with snapshots": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := testworld.New(t)
			var id string
			if asked {
				id = provisioned(t, w, long(), withSnapshots)
			} else {
				id = provisioned(t, w, long())
			}
			yields, now := 0, time.Now()
			for {
				r := runner(w)
				r.Poll, r.Now = time.Millisecond, func() time.Time { return now } // every turn is over at once
				r.Yield = func(context.Context, bool) (bool, error) { return yields < 2, nil }
				err := r.Run(t.Context(), id)
				if err == nil {
					break
				}
				if !errors.Is(err, runs.ErrYielded) {
					t.Fatal(err)
				}
				yields++
				if sim := w.Simulation(t, id); sim.Checkpoint != int64(yields) || sim.Status != commands.Running {
					t.Errorf("after %d yields the simulation is %s with %d snapshots", yields, sim.Status, sim.Checkpoint)
				}
			}
			sim := w.Simulation(t, id)
			if yields != 2 || sim.Status != commands.Completed {
				t.Fatalf("the simulation is %s (%s) after %d yields, want completed after 2", sim.Status, sim.FailureReason, yields)
			}
			states := sameResults(t, w, sim, uninterrupted(t, w, sim))
			if asked != (len(states) > 0) {
				t.Errorf("the results list the snapshots %v", states)
			}
			for o := range w.Objects.List(t.Context(), sim.ResultsPrefix+"checkpoints/") {
				if !asked {
					t.Errorf("%s is left", o.Key)
				}
			}
			sameLog(t, w, sim, 3)
			lines, _, err := projections.ListLogs(t.Context(), w.DB, projections.LogQuery{Simulation: id, Page: projections.Page{Limit: 10_000}})
			said := 0
			for _, l := range lines {
				if strings.HasPrefix(l.Message, "the run yields its worker") {
					said++
				}
			}
			if err != nil || said != 2 {
				t.Errorf("the log says %d times that the run yields (%v), want 2", said, err)
			}
		})
	}
}

// TestAYieldedRunIsTerminated: a run that is terminated while it waits publishes the results up
// to its snapshot, without a run from the beginning.
func TestAYieldedRunIsTerminated(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	id := provisioned(t, w, endless())
	r, now := runner(w), time.Now()
	r.Poll, r.Now = time.Millisecond, func() time.Time { return now }
	r.Yield = func(context.Context, bool) (bool, error) { return w.Simulation(t, id).SimulatedTimeNs > 0, nil }
	r.Report = -1 // always
	if err := r.Run(t.Context(), id); !errors.Is(err, runs.ErrYielded) {
		t.Fatal(err)
	}
	prefix, _, _ := strings.Cut(w.Simulation(t, id).CheckpointKey, "checkpoints/")
	testworld.Do(t, w, id, commands.TerminateSimulation{ID: id, By: "tester"})
	if err := runner(w).Run(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	sim := w.Simulation(t, id)
	if sim.Status != commands.Terminated || sim.ResultsPrefix != prefix || resultFiles(t, w, sim)["summary.json"] == "" {
		t.Errorf("the simulation is %s with results in %q, want terminated with those of the snapshot in %q", sim.Status, sim.ResultsPrefix, prefix)
	}
	for o := range w.Objects.List(t.Context(), sim.ResultsPrefix+"checkpoints/") {
		t.Errorf("%s is left", o.Key)
	}
}

// TestARunYieldsItsRoom: a run that has all the room of its process yields it to one of another
// account that waits for it, and continues after it.
func TestARunYieldsItsRoom(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	const transfers = 20_000 // long has 16,256 at once
	now := time.Now()
	room := runs.NewRoom(transfers, 2)
	with := func(yield func(context.Context, bool) (bool, error)) *runs.Runner {
		r := runner(w)
		r.Room, r.Limits.Flows, r.Yield, r.Poll = room, transfers, yield, time.Millisecond
		r.Now = func() time.Time { return now } // every turn is over at once
		return r
	}
	other := provisioned(t, w, small(), ofAnotherAccount) // before the large one runs, which may end while a busy machine makes it
	large := provisioned(t, w, long())
	yielded := make(chan error, 1)
	go func() {
		yielded <- with(func(_ context.Context, wanted bool) (bool, error) { return wanted, nil }).Run(t.Context(), large)
	}()
	testworld.Await(t, func() bool { return w.Simulation(t, large).Status == commands.Running })
	if err := with(nil).Run(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if err := testwait.Receive(t, yielded, "the large run to yield"); !errors.Is(err, runs.ErrYielded) {
		t.Fatalf("the large run ended with %v, want that it yields", err)
	}
	if err := with(nil).Run(t.Context(), large); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{large, other} {
		if s := w.Simulation(t, id); s.Status != commands.Completed {
			t.Errorf("the simulation is %s (%s), want completed", s.Status, s.FailureReason)
		}
	}
}

func ofAnotherAccount(r *events.SimulationRequested) {
	r.AccountID = events.DerivedID(events.AccountPrefix, "another")
	submission, err := simple.Read(r.Simple)
	if err != nil {
		panic(err)
	}
	r.TracesetID = submission.Workload.TracesetID(r.AccountID)
}
