package runs_test

import (
	"context"
	"testing"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/facts"
	"netsim/infra/jobs"
	"netsim/infra/reactor"
	"netsim/internal/testworld"
	"netsim/projections"
	"netsim/reactions"
	"netsim/runs"
)

// serve runs the reactor and the workers, connected as in the service.
func serve(t *testing.T, w *testworld.World) {
	t.Helper()
	r := runner(w)
	r.Report = 20 * time.Millisecond
	all, err := jobs.Open(t.Context(), jobs.Config{
		URL: w.Database, Log: w.Logger, Now: time.Now, Queues: map[string]int{"runs": 2, "purges": 1}, Reconcile: 5 * time.Second, Grace: 5 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	jobs.Register(all, jobs.Kind[runs.RunSimulation]{
		Queue: "runs",
		Work:  func(ctx context.Context, a runs.RunSimulation) error { return r.Run(ctx, a.SimulationID) },
		Share: func(_ context.Context, a runs.RunSimulation) (jobs.Share, error) {
			return jobs.Share{Account: a.Weight.Account, Cost: a.Weight.Cost, Batch: a.Weight.Study}, nil
		},
	})
	jobs.Register(all, jobs.Kind[runs.PurgeSimulation]{
		Queue: "purges",
		Work:  func(ctx context.Context, a runs.PurgeSimulation) error { return r.Purge(ctx, a.SimulationID) },
	})
	all.Require(jobs.Need{
		Name: "simulations", Kinds: runs.JobKinds(), Member: "simulationId", Job: r.Job,
		List: func(ctx context.Context) ([]string, error) { return projections.UnfinishedSimulations(ctx, w.DB, 100) },
	})
	queue := runs.Queue{Runner: r, Enqueue: all.Enqueue, Cancel: all.Cancel}
	t.Cleanup(all.Close)
	testworld.Running(t, all.Work)

	stage := runs.Stage{DB: w.DB, Objects: w.Objects}
	simple := submissions(w)
	simple.EnqueueRun = queue.EnqueueRun
	simulation := reactions.Simulation{
		Commands: w.Commands, DB: w.DB, Check: stage.Check, EnqueueRun: queue.EnqueueRun, EnqueuePurge: queue.EnqueuePurge,
	}
	workspace := reactions.Workspace{Commands: w.Commands, DB: w.DB}
	react, err := reactor.New(reactor.Config{
		Brokers: w.Log.Brokers, Prefix: w.Log.Prefix, EventLog: w.EventLog, Facts: facts.NewReader(w.EventLog, w.Watcher),
		Leases: testworld.AllShards(w.Log.Partitions), Judge: w.Watcher, Log: w.Logger, Retries: 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	react.Handle("simple", simple.React, events.Simulations)
	react.Handle("simulation", simulation.React, events.Simulations)
	react.Handle("workspace", workspace.React, events.Workspaces, events.Simulations)
	testworld.Running(t, react.Run)
}

func awaitStatus(t *testing.T, w *testworld.World, id, want string) {
	t.Helper()
	testworld.Await(t, func() bool { return w.Simulation(t, id).Status == want })
}

// TestService: events alone run a simulation from its request to its deletion, and a
// second one with the same configuration.
func TestService(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	serve(t, w)

	id, requested := submit(t, w, small())
	awaitStatus(t, w, id, commands.Completed)
	if files := resultFiles(t, w, w.Simulation(t, id)); files["summary.json"] == "" {
		t.Error("the completed simulation has no summary")
	}

	again := events.NewID(events.SimulationPrefix)
	requested.Origin, requested.Simple = commands.OriginStart, ""
	requested.DurationNs = 20_000 // less than the workload needs
	testworld.Do(t, w, again, commands.RequestSimulation{Requested: requested})
	awaitStatus(t, w, again, commands.Completed)
	if s := w.Simulation(t, again); s.SimulatedTimeNs != 20_000 || s.UnfinishedRanks != 8 {
		t.Errorf("the limited run ended at %d ns with %d unfinished ranks, want 20000 and 8", s.SimulatedTimeNs, s.UnfinishedRanks)
	}

	testworld.Do(t, w, id, commands.DeleteSimulation{ID: id, Reason: "request"})
	testworld.Await(t, func() bool {
		for range w.Objects.List(t.Context(), runs.Prefix(id)) {
			return false
		}
		return true
	})
}

// TestServiceTerminates: the event that terminates a simulation stops its run, which
// publishes its partial results.
func TestServiceTerminates(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	serve(t, w)
	id, _ := submit(t, w, endless())
	testworld.Await(t, func() bool { return w.Simulation(t, id).SimulatedTimeNs > 0 })

	testworld.Do(t, w, id, commands.TerminateSimulation{ID: id, By: "tester"})

	testworld.Await(t, func() bool { return w.Simulation(t, id).ResultsManifest != "" })
	resultFiles(t, w, w.Simulation(t, id))
}

// TestServiceStartsOver: if the job queue is lost, the simulations to run are found
// in the read model.
func TestServiceStartsOver(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	id := provisioned(t, w, small()) // without a job
	serve(t, w)
	awaitStatus(t, w, id, commands.Completed)
}
