package runs_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"netsim/commands"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
	"netsim/runs"
	"netsim/simulator/collective"
)

// TestRunsShareRoom: a run that needs more than its share of the room waits until no other
// run has any, and has all of it. A later run waits behind it, and a deletion or the end of
// the worker ends the wait.
func TestRunsShareRoom(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	const transfers = 70_000 // 256 ranks have 65,280 at once
	room := runs.NewRoom(transfers, 2)
	begin := func(ctx context.Context, workload collective.Workload) (id string, ended chan error) {
		r := runner(w)
		r.Room, r.Limits.Flows = room, transfers
		id, ended = provisioned(t, w, workload), make(chan error, 1)
		go func() { ended <- r.Run(ctx, id) }()
		return id, ended
	}
	running := func(id string) func() bool {
		return func() bool { return w.Simulation(t, id).Status == commands.Running }
	}
	waits := func(id string, ended chan error) {
		t.Helper()
		select {
		case err := <-ended:
			t.Fatalf("the run of %s ended while the room was full: %v", id, err)
		case <-time.After(100 * time.Millisecond):
		}
		if s := w.Simulation(t, id); s.Status != commands.Provisioning {
			t.Fatalf("the simulation is %s while the room is full, want provisioning", s.Status)
		}
	}

	first, firstEnded := begin(t.Context(), endless())
	testworld.Await(t, running(first))
	second, secondEnded := begin(t.Context(), endless())
	waits(second, secondEnded)
	third, thirdEnded := begin(t.Context(), small()) // fits beside nothing, and comes after the second
	waits(third, thirdEnded)
	deleted, deletedEnded := begin(t.Context(), small())
	waits(deleted, deletedEnded)
	testworld.Do(t, w, deleted, commands.DeleteSimulation{ID: deleted, Reason: "test"})
	if err := testwait.Receive(t, deletedEnded, "the run of a deleted simulation to end"); err != nil {
		t.Error(err)
	}
	stopping, stop := context.WithCancel(t.Context())
	stopped, stoppedEnded := begin(stopping, small())
	waits(stopped, stoppedEnded)
	stop()
	if err := testwait.Receive(t, stoppedEnded, "the run to end with its worker"); !errors.Is(err, context.Canceled) {
		t.Errorf("the run of a worker that stops ended with %v, so it would not be repeated", err)
	}

	testworld.Do(t, w, first, commands.TerminateSimulation{ID: first, By: "tester"})
	if err := testwait.Receive(t, firstEnded, "the first run to end"); err != nil {
		t.Error(err)
	}
	testworld.Await(t, running(second))
	waits(third, thirdEnded)
	testworld.Do(t, w, second, commands.TerminateSimulation{ID: second, By: "tester"})
	for _, ended := range []chan error{secondEnded, thirdEnded} {
		if err := testwait.Receive(t, ended, "the runs to end"); err != nil {
			t.Error(err)
		}
	}
	if s := w.Simulation(t, third); s.Status != commands.Completed {
		t.Errorf("the third simulation is %s (%s), want completed", s.Status, s.FailureReason)
	}
}
