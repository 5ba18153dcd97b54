package runs_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"testing"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/content/simple"
	"netsim/content/simple/unfold"
	"netsim/events"
	"netsim/infra/postgres"
	"netsim/internal/testworld"
	"netsim/projections"
	"netsim/runs"
	"netsim/simulator/collective"
	"netsim/simulator/presets"
	"netsim/simulator/topology"
)

func runner(w *testworld.World) *runs.Runner {
	return &runs.Runner{
		Commands: w.Commands, DB: w.DB, Objects: w.Objects, Now: time.Now, Log: w.Logger,
		Poll: 5 * time.Millisecond, Stall: 5 * time.Minute, StoreTimeout: 10 * time.Minute,
	}
}

// small returns a workload that completes at once.
func small() collective.Workload {
	return collective.Workload{Ranks: 8, Phases: []collective.Phase{
		{OperationType: collective.AllReduce, DataSize: 1 << 20},
		{OperationType: collective.AllToAll, DataSize: 1 << 16},
	}}
}

// endless returns a workload that takes longer than any test.
func endless() collective.Workload {
	phases := make([]collective.Phase, collective.MaxPhases)
	for i := range phases {
		phases[i] = collective.Phase{OperationType: collective.AllToAll, DataSize: 1 << 20}
	}
	return collective.Workload{Ranks: 256, Phases: phases}
}

// submit requests a simple simulation, as the API does.
func submit(t *testing.T, w *testworld.World, workload collective.Workload, change ...func(*events.SimulationRequested)) (string, events.SimulationRequested) {
	t.Helper()
	resolved, _, err := presets.NewSimple(&topology.Constraints{}, &workload, nil)
	if err != nil {
		t.Fatal(err)
	}
	submission, err := simple.New(resolved)
	if err != nil {
		t.Fatal(err)
	}
	id := events.NewID(events.SimulationPrefix)
	requested := events.SimulationRequested{AccountID: testworld.Account, WorkspaceID: events.DefaultWorkspace, Name: "test*run"}
	submission.Fill(&requested, id)
	for _, f := range change {
		f(&requested)
	}
	testworld.Do(t, w, id, commands.RequestSimulation{Requested: requested})
	return id, requested
}

// submissions creates the inputs of simple submissions.
func submissions(w *testworld.World) *unfold.Submissions {
	workloads := &unfold.Workloads{Commands: w.Commands, DB: w.DB, Objects: w.Objects, Locks: postgres.Locks{Pool: w.DB}}
	return &unfold.Submissions{Commands: w.Commands, Workloads: workloads}
}

// provisioned submits a simulation, and creates its inputs.
func provisioned(t *testing.T, w *testworld.World, workload collective.Workload, change ...func(*events.SimulationRequested)) string {
	t.Helper()
	id, requested := submit(t, w, workload, change...)
	submission, err := simple.Read(requested.Simple)
	if err != nil {
		t.Fatal(err)
	}
	if err := submissions(w).Unfold(t.Context(), handle.Origin{}, id, requested, submission); err != nil {
		t.Fatal(err)
	}
	return id
}

func read(t *testing.T, w *testworld.World, key string) string {
	t.Helper()
	body, _, err := w.Objects.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	content, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// resultFiles reads the published files and checks them against the manifest.
func resultFiles(t *testing.T, w *testworld.World, sim projections.Simulation) map[string]string {
	t.Helper()
	var manifest runs.Manifest
	if err := json.Unmarshal([]byte(read(t, w, sim.ResultsManifest)), &manifest); err != nil {
		t.Fatal(err)
	}
	contents := map[string]string{}
	var size int64
	for _, f := range manifest.Files {
		content := read(t, w, sim.ResultsPrefix+f.Name)
		sum := sha256.Sum256([]byte(content))
		if f.Size != int64(len(content)) || f.SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("%s does not have the size or the hash in the manifest", f.Name)
		}
		contents[f.Name] = content
		size += f.Size
	}
	if size != sim.ResultsBytes {
		t.Errorf("the files have %d bytes, but %d were recorded", size, sim.ResultsBytes)
	}
	return contents
}
