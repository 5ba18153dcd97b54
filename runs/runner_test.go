package runs_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
	"netsim/projections"
	"netsim/runs"
	"netsim/runs/execution"
	"netsim/simulator/collective"
)

func TestCompletes(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	id := provisioned(t, w, small())

	if err := runner(w).Run(t.Context(), id); err != nil {
		t.Fatal(err)
	}

	sim := w.Simulation(t, id)
	if sim.Status != commands.Completed || sim.Ranks != 8 || sim.FinishedRanks != 8 || sim.UnfinishedRanks != 0 {
		t.Fatalf("the simulation is %s with %d of %d ranks finished (%s), want completed", sim.Status, sim.FinishedRanks, sim.Ranks, sim.FailureReason)
	}
	files := resultFiles(t, w, sim)
	for _, name := range []string{
		"test_run-perf-0.csv", "test_run-collective-stats-0.csv", "test_run-rank-completion-0.csv",
		"test_run-topology-report-0.csv", "test_run-nd-stats-0.csv", "summary.json", "run.log", "receipt.json",
	} {
		if files[name] == "" {
			t.Errorf("%s is missing or empty", name)
		}
	}
	var receipt execution.Receipt
	if err := json.Unmarshal([]byte(files["receipt.json"]), &receipt); err != nil {
		t.Fatal(err)
	}
	if len(receipt.Results) != len(files)-1 || receipt.Seed != 1 || receipt.Partial || receipt.Traceset.ID != sim.TracesetID {
		t.Errorf("got the receipt %+v", receipt)
	}
	lines, _, err := projections.ListLogs(t.Context(), w.DB, projections.LogQuery{Simulation: id, Page: projections.Page{Limit: 100}})
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(files["run.log"], "\n"); n == 0 || len(lines) != n+3 || lines[0].Component != "service" { // one entry for the request and two for the staging come before those of run.log
		t.Errorf("got %d log entries and %d lines in run.log, want 3 more entries", len(lines), n)
	}
}

// TestRepeats: repeating a completed job changes nothing. Repeating an interrupted
// one writes the same bytes.
func TestRepeats(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	id := provisioned(t, w, small())
	interrupted, cancel := context.WithCancel(t.Context())
	// The worker dies after the start is recorded and before the engine starts.
	testworld.Do(t, w, id, commands.StartSimulation{Started: events.SimulationStarted{Engine: "builtin", RunID: "run", Ranks: 8}})
	cancel()
	if err := runner(w).Run(interrupted, id); err == nil {
		t.Error("an interrupted run returned no error, so it would not be repeated")
	}
	if err := runner(w).Run(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	first := w.Simulation(t, id)
	files := resultFiles(t, w, first)
	if err := runner(w).Run(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, w.Simulation(t, id)); diff != "" {
		t.Errorf("the second run changed the simulation (-before +after):\n%s", diff)
	}

	// The state after a worker has died before it recorded the results.
	if _, err := w.DB.Exec(t.Context(), `UPDATE simulations SET status = 'running', results_manifest = ''`); err != nil {
		t.Fatal(err)
	}
	if err := runner(w).Run(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	again := w.Simulation(t, id)
	if again.ResultsPrefix == first.ResultsPrefix {
		t.Fatal("the second attempt published nothing")
	}
	if diff := cmp.Diff(files, resultFiles(t, w, again)); diff != "" {
		t.Errorf("the attempts wrote different files (-first +second):\n%s", diff)
	}
}

func TestTerminates(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	id := provisioned(t, w, endless())
	done := make(chan error, 1)
	r := runner(w)
	r.Report = 10 * time.Millisecond
	go func() { done <- r.Run(t.Context(), id) }()
	testworld.Await(t, func() bool { return w.Simulation(t, id).SimulatedTimeNs > 0 })

	testworld.Do(t, w, id, commands.TerminateSimulation{ID: id, By: "tester"})

	if err := testwait.Receive(t, done, "the run to end"); err != nil {
		t.Fatal(err)
	}
	sim := w.Simulation(t, id)
	if sim.Status != commands.Terminated {
		t.Fatalf("the simulation is %s (%s), want terminated", sim.Status, sim.FailureReason)
	}
	files := resultFiles(t, w, sim)
	if !strings.Contains(files["receipt.json"], `"partial": true`) || !strings.Contains(files["summary.json"], `"stopped"`) {
		t.Errorf("the results do not say that they are partial")
	}
	if strings.Count(files["test_run-rank-completion-0.csv"], "\n") != 257 {
		t.Errorf("rank-completion does not have every rank")
	}
}

// TestTerminatedWithoutWorker: if a run was terminated while it had no worker, its
// results reach up to the recorded progress.
func TestTerminatedWithoutWorker(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	id := provisioned(t, w, small())
	testworld.Do(t, w, id, commands.StartSimulation{Started: events.SimulationStarted{Engine: "builtin", RunID: "run", Ranks: 8}})
	testworld.Do(t, w, id, commands.ReportProgress{Progress: events.Progress{SimulatedTimeNs: 10_000}})
	testworld.Do(t, w, id, commands.TerminateSimulation{ID: id, By: "tester"})

	if err := runner(w).Run(t.Context(), id); err != nil {
		t.Fatal(err)
	}

	sim := w.Simulation(t, id)
	if sim.Status != commands.Terminated || sim.SimulatedTimeNs != 10_000 {
		t.Errorf("the simulation is %s at %d ns, want terminated at 10000", sim.Status, sim.SimulatedTimeNs)
	}
	files := resultFiles(t, w, sim)
	if !strings.Contains(files["summary.json"], `"simulatedTimePs": 10000000,`) {
		t.Errorf("the results do not end at the recorded progress:\n%s", files["summary.json"])
	}
}

func TestStalls(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	id := provisioned(t, w, endless())
	r := runner(w)
	r.Stall = time.Nanosecond

	if err := r.Run(t.Context(), id); err != nil {
		t.Fatal(err)
	}

	sim := w.Simulation(t, id)
	if sim.Status != commands.Failed || !strings.Contains(sim.FailureReason, "no simulated progress") ||
		!strings.Contains(sim.FailureReason, "the last finished collective is ") {
		t.Errorf("the simulation is %s (%s), want failed for lack of progress", sim.Status, sim.FailureReason)
	}
	resultFiles(t, w, sim)
}

func TestMissingInputs(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	id, _ := submit(t, w, small())
	r := runner(w)

	if err := r.Run(t.Context(), id); !fault.Is(err, fault.NotFound) {
		t.Errorf("got the error %v, want NotFound", err)
	}
	if s := w.Simulation(t, id); s.Status != commands.Provisioning {
		t.Errorf("the simulation is %s, want provisioning", s.Status)
	}
	r.Now = func() time.Time { return time.Now().Add(11 * time.Minute) }
	if err := r.Run(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if s := w.Simulation(t, id); s.Status != commands.Failed || s.FailureReason != "inputs could not be staged: they were not ready within 10m0s" {
		t.Errorf("the simulation is %s (%s), want failed because its inputs were not ready", s.Status, s.FailureReason)
	}
}

func TestWrongInputs(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	id := provisioned(t, w, small())
	sim := w.Simulation(t, id)
	traceset, err := projections.FindTraceset(t.Context(), w.DB, sim.TracesetID)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := traceset.FileList()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Objects.Put(t.Context(), stored[0].ObjectKey, "application/json", strings.NewReader("[]")); err != nil {
		t.Fatal(err)
	}

	if err := runner(w).Run(t.Context(), id); err != nil {
		t.Fatal(err)
	}

	want := "inputs could not be staged: file workload.simple.json of the traceset does not match its hash"
	if s := w.Simulation(t, id); s.Status != commands.Failed || s.FailureReason != want {
		t.Errorf("the simulation is %s (%s), want failed because of %q", s.Status, s.FailureReason, want)
	}
}

// TestNothingToSimulate: a workload without transfers completes at simulated time 0,
// with results.
func TestNothingToSimulate(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	id := provisioned(t, w, collective.Workload{Ranks: 1, Phases: small().Phases})

	if err := runner(w).Run(t.Context(), id); err != nil {
		t.Fatal(err)
	}

	s := w.Simulation(t, id)
	if s.Status != commands.Completed || s.SimulatedTimeNs != 0 || s.FinishedRanks != 1 || s.UnfinishedRanks != 0 {
		t.Errorf("the simulation is %s at %d ns, %d ranks finished (%s), want completed at 0", s.Status, s.SimulatedTimeNs, s.FinishedRanks, s.FailureReason)
	}
	if files := resultFiles(t, w, s); !json.Valid([]byte(files["summary.json"])) || !strings.Contains(files["test_run-rank-completion-0.csv"], "\nRankCompletion,0,0.000000,0,0,0,") {
		t.Errorf("got the summary %s and the ranks %s", files["summary.json"], files["test_run-rank-completion-0.csv"])
	}
}

// TestAttemptsLeaveNothing: after the results are published, no files or unfinished
// uploads of earlier attempts are left.
func TestAttemptsLeaveNothing(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	id := provisioned(t, w, small())
	testworld.Do(t, w, id, commands.StartSimulation{Started: events.SimulationStarted{Engine: commands.EngineBuiltin, RunID: "run", Ranks: 8}})
	died := runs.Prefix(id) + "attempt_0/"
	if _, err := w.Objects.Put(t.Context(), died+"run-topology-report-0.csv", "text/csv", strings.NewReader("a,b\n")); err != nil {
		t.Fatal(err)
	}

	if err := runner(w).Run(t.Context(), id); err != nil {
		t.Fatal(err)
	}

	kept := w.Simulation(t, id).ResultsPrefix
	for o, err := range w.Objects.List(t.Context(), runs.Prefix(id)) {
		if err != nil || !strings.HasPrefix(o.Key, kept) {
			t.Errorf("%s is left; only %s is published (%v)", o.Key, kept, err)
		}
	}
}

func TestPurge(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	id := provisioned(t, w, small())
	r := runner(w)
	if err := r.Run(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.Purge(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	for o, err := range w.Objects.List(t.Context(), runs.Prefix(id)) {
		t.Errorf("%s is left (%v)", o.Key, err)
	}
}
