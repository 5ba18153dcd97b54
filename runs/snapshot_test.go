package runs_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/objects"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
	"netsim/projections"
	"netsim/runs"
	"netsim/runs/execution"
	"netsim/simulator/collective"
	"netsim/simulator/snapshot"
)

// long returns a workload that runs for a second or two. Its record of transfers is
// larger than one part of an upload, 8 MiB.
func long() collective.Workload {
	phases := make([]collective.Phase, 8)
	for i := range phases {
		phases[i] = collective.Phase{OperationType: collective.AllToAll, DataSize: 1 << 20}
	}
	return collective.Workload{Ranks: 128, Phases: phases}
}

func withSnapshots(r *events.SimulationRequested) {
	r.Checkpointing = events.Checkpointing{Enabled: true, IntervalNs: int64(10 * time.Second)}
}

// interrupt runs the simulation until this many more snapshots are recorded, and
// then stops the worker. It reports whether the run ended before.
func interrupt(t *testing.T, w *testworld.World, id string, snapshots int64) (over bool) {
	t.Helper()
	r := runner(w)
	r.SnapshotEvery = time.Millisecond // whenever the engine offers one, on any machine
	return interruptOf(t, w, id, r, snapshots)
}

func interruptOf(t *testing.T, w *testworld.World, id string, r *runs.Runner, snapshots int64) (over bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	first := w.Simulation(t, id).Checkpoint
	go func() { done <- r.Run(ctx, id) }()
	testworld.Await(t, func() bool {
		sim := w.Simulation(t, id)
		return sim.Checkpoint >= first+snapshots || commands.Final(sim.Status)
	})
	cancel()
	err := testwait.Receive(t, done, "the run to end")
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return err == nil
}

// openUploads returns the unfinished uploads of the simulation.
func openUploads(t *testing.T, w *testworld.World, id string) (all []objects.Begun) {
	t.Helper()
	for u, err := range w.Objects.ListBegun(t.Context(), runs.Prefix(id)) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, u)
	}
	return all
}

// uninterrupted returns the result files of the simulation's run without an
// interruption.
func uninterrupted(t *testing.T, w *testworld.World, sim projections.Simulation) map[string]string {
	t.Helper()
	order, in, err := (&runs.Stage{DB: w.DB, Objects: w.Objects}).Inputs(t.Context(), &sim)
	if err != nil {
		t.Fatal(err)
	}
	order.StartedAt = *sim.StartedAt
	files := map[string]*bytes.Buffer{}
	run, err := execution.Start(in, execution.Config{Create: func(name string) (io.WriteCloser, error) {
		files[name] = new(bytes.Buffer)
		return closing{files[name]}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Close(""); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for name, b := range files {
		texts[name] = b.String()
	}
	return texts
}

type closing struct{ io.Writer }

func (closing) Close() error { return nil }

// sameResults compares the published files with those wanted, and returns the names
// of the snapshots among them.
func sameResults(t *testing.T, w *testworld.World, sim projections.Simulation, want map[string]string) (states []string) {
	t.Helper()
	got := resultFiles(t, w, sim)
	for name, content := range want {
		if got[name] != content {
			t.Errorf("%s has %d bytes, and %d in an uninterrupted run, or differs", name, len(got[name]), len(content))
		}
	}
	for name := range got {
		switch {
		case strings.HasPrefix(name, "checkpoints/"):
			states = append(states, name)
		case want[name] == "" && name != "receipt.json":
			t.Errorf("an uninterrupted run has no %s", name)
		}
	}
	if strings.Contains(got["receipt.json"], ".state") {
		t.Error("the receipt lists a snapshot")
	}
	return states
}

// TestResumes: a run whose workers are interrupted again and again resumes from its
// snapshots. Its files and its log equal those of an uninterrupted run.
func TestResumes(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	id := provisioned(t, w, long(), withSnapshots)
	workers := 1
	for !interrupt(t, w, id, 3) {
		workers++
	}

	sim := w.Simulation(t, id)
	if sim.Status != commands.Completed {
		t.Fatalf("the simulation is %s (%s), want completed", sim.Status, sim.FailureReason)
	}
	states := sameResults(t, w, sim, uninterrupted(t, w, sim))
	if len(states) != 2 {
		t.Errorf("the results list %v of %d snapshots, want 2", states, sim.Checkpoint)
	}
	for o, err := range w.Objects.List(t.Context(), sim.ResultsPrefix+"checkpoints/") {
		if err != nil || !strings.Contains(strings.Join(states, " "), strings.TrimPrefix(o.Key, sim.ResultsPrefix)) {
			t.Errorf("%s is left (%v)", o.Key, err)
		}
	}
	for _, u := range openUploads(t, w, id) {
		t.Errorf("the upload of %s is left", u.Key)
	}
	if workers < 3 {
		t.Errorf("the run ended after %d workers, want at least 3", workers)
	}
	sameLog(t, w, sim, workers)
}

// sameLog checks that the stored log has the entries of run.log once, and one entry
// for each resumption.
func sameLog(t *testing.T, w *testworld.World, sim projections.Simulation, workers int) {
	t.Helper()
	var messages []string
	resumed := 0
	query := projections.LogQuery{Simulation: sim.ID, Page: projections.Page{Limit: 10_000}}
	lines, _, err := projections.ListLogs(t.Context(), w.DB, query)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		switch {
		case strings.HasPrefix(l.Message, "another worker resumes from engine snapshot "):
			resumed++
		case l.Component == execution.Engine, l.Component == execution.Rank, l.Component == execution.Mapping:
			messages = append(messages, l.Message)
		}
	}
	var want []string
	for line := range strings.Lines(read(t, w, sim.ResultsPrefix+execution.LogName)) {
		_, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		_, message, _ = strings.Cut(message, " ")
		_, message, _ = strings.Cut(message, " ")
		want = append(want, message)
	}
	if got := strings.Join(messages, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the log has %d entries of the engine and run.log %d, or they differ", len(messages), len(want))
	}
	if resumed != workers-1 {
		t.Errorf("of %d workers, %d resumed from a snapshot, want all but the first", workers, resumed)
	}
}

// TestLeaves: a worker that shuts down stores a snapshot, even if none is due.
func TestLeaves(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	id := provisioned(t, w, long(), withSnapshots)
	r := runner(w)
	r.Report = time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx, id) }()
	testworld.Await(t, func() bool { return w.Simulation(t, id).SimulatedTimeNs > 0 })
	cancel()
	if err := testwait.Receive(t, done, "the run to end"); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	left := w.Simulation(t, id)
	if left.Checkpoint != 1 || left.Status != commands.Running {
		t.Errorf("the simulation is %s with %d snapshots, want running with 1", left.Status, left.Checkpoint)
	}

	if err := runner(w).Run(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	sim := w.Simulation(t, id)
	if sim.Status != commands.Completed || !strings.HasPrefix(left.CheckpointKey, sim.ResultsPrefix) {
		t.Errorf("the simulation is %s (%s), want completed from the snapshot", sim.Status, sim.FailureReason)
	}
	sameResults(t, w, sim, uninterrupted(t, w, sim))
	sameLog(t, w, sim, 2)
}

// TestAnotherWorkerEnds: if another worker has resumed and completed the run under
// the same prefix, the first worker does not remove the published files.
func TestAnotherWorkerEnds(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	id := provisioned(t, w, endless(), withSnapshots)
	r := runner(w)
	r.SnapshotEvery = 50 * time.Millisecond
	done := make(chan error, 1)
	go func() { done <- r.Run(t.Context(), id) }()
	testworld.Await(t, func() bool { return w.Simulation(t, id).Checkpoint > 0 })
	key := w.Simulation(t, id).CheckpointKey
	prefix := key[:strings.Index(key, "checkpoints/")]
	testworld.Do(t, w, id, commands.PublishResults{Published: events.SimulationResultsPublished{Prefix: prefix, Manifest: prefix + runs.ManifestName}})
	testworld.Do(t, w, id, commands.CompleteSimulation{})

	if err := testwait.Receive(t, done, "the run to end"); err != nil {
		t.Fatal(err)
	}
	for range w.Objects.List(t.Context(), prefix) {
		return
	}
	t.Error("the worker removed the published files")
}

// TestLostSnapshots: if the last snapshot cannot be used, the run resumes from the
// one before it or starts from the beginning. Its files are the same.
func TestLostSnapshots(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil     func(t *testing.T, w *testworld.World, sim projections.Simulation) error
		fromStart bool
	}{
		"the last is missing": {func(t *testing.T, w *testworld.World, sim projections.Simulation) error {
			return w.Objects.Delete(t.Context(), sim.CheckpointKey)
		}, false},
		"the last is damaged": {func(t *testing.T, w *testworld.World, sim projections.Simulation) error {
			state := []byte(read(t, w, sim.CheckpointKey))
			state[len(state)/2] ^= 1
			_, err := w.Objects.Put(t.Context(), sim.CheckpointKey, "", bytes.NewReader(state))
			return err
		}, false},
		"the last is truncated": {func(t *testing.T, w *testworld.World, sim projections.Simulation) error {
			state := read(t, w, sim.CheckpointKey)
			_, err := w.Objects.Put(t.Context(), sim.CheckpointKey, "", strings.NewReader(state[:len(state)-9]))
			return err
		}, false},
		"the last is of another input": {func(t *testing.T, w *testworld.World, sim projections.Simulation) error {
			z, err := zstd.NewReader(strings.NewReader(read(t, w, sim.CheckpointKey)))
			if err != nil {
				return err
			}
			defer z.Close()
			state, err := io.ReadAll(z)
			if err != nil {
				return err
			}
			state[bytes.Index(state, []byte(" input "))+8] ^= 1
			packed, err := zstd.NewWriter(nil)
			if err != nil {
				return err
			}
			_, err = w.Objects.Put(t.Context(), sim.CheckpointKey, "", bytes.NewReader(packed.EncodeAll(state, nil)))
			return err
		}, false},
		"both are missing": {func(t *testing.T, w *testworld.World, sim projections.Simulation) error {
			return errors.Join(w.Objects.Delete(t.Context(), sim.CheckpointKey), w.Objects.Delete(t.Context(), sim.EarlierCheckpoint))
		}, true},
		"the uploads are lost": {func(t *testing.T, w *testworld.World, sim projections.Simulation) error {
			for _, u := range openUploads(t, w, sim.ID) {
				if err := w.Objects.DropParts(t.Context(), u.Key, u.ID); err != nil {
					return err
				}
			}
			return nil
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := testworld.New(t)
			id := provisioned(t, w, long(), withSnapshots)
			for uploading := 0; uploading < 2; { // until both snapshots have an open upload
				if interrupt(t, w, id, 2) {
					t.Fatal("the run ended before its snapshots were taken")
				}
				if len(openUploads(t, w, id)) > 0 {
					uploading++
				}
			}
			before := w.Simulation(t, id)
			if err := c.spoil(t, w, before); err != nil {
				t.Fatal(err)
			}

			err := runner(w).Run(t.Context(), id)
			if errors.Is(err, snapshot.ErrRefused) { // the engine refused the snapshot, so the job runs again
				err = runner(w).Run(t.Context(), id)
			}
			if err != nil {
				t.Fatal(err)
			}

			sim := w.Simulation(t, id)
			if fromStart := !strings.HasPrefix(before.CheckpointKey, sim.ResultsPrefix); fromStart != c.fromStart || sim.Status != commands.Completed {
				t.Errorf("the simulation is %s (%s), from the start: %v, want completed, from the start: %v", sim.Status, sim.FailureReason, fromStart, c.fromStart)
			}
			sameResults(t, w, sim, uninterrupted(t, w, sim))
		})
	}
}
