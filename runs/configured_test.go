package runs_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/internal/testworld"
	"netsim/projections"
	"netsim/runs"
	"netsim/runs/execution"
	"netsim/simulator/catalogue"
	"netsim/simulator/document"
	"netsim/simulator/results"
)

// runVersion requests, checks and runs a simulation of a configuration's version. It
// returns the ended simulation.
func runVersion(t *testing.T, w *testworld.World, configuration string, version int64, duration time.Duration) projections.Simulation {
	t.Helper()
	id := events.NewID(events.SimulationPrefix)
	testworld.Do(t, w, id, commands.RequestSimulation{Requested: events.SimulationRequested{
		Origin: commands.OriginStart, AccountID: testworld.Account, WorkspaceID: events.DefaultWorkspace,
		ConfigurationID: configuration, ConfigurationVersion: version,
		Name: "test", DurationNs: int64(duration), Duration: duration.String(),
	}})
	sim := w.Simulation(t, id)
	stage := runs.Stage{DB: w.DB, Objects: w.Objects}
	hash, reason, err := stage.Check(t.Context(), &sim)
	if err != nil {
		t.Fatal(err)
	}
	if reason != "" {
		testworld.Do(t, w, id, commands.InvalidateSimulation{Reason: reason})
		return w.Simulation(t, id)
	}
	testworld.Do(t, w, id, commands.ValidateSimulation{Validated: events.SimulationValidated{DocumentHash: hash}})
	if err := runner(w).Run(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	return w.Simulation(t, id)
}

// changeParameters patches parameters and marks the new version as validated.
func changeParameters(t *testing.T, w *testworld.World, configuration string, version int64, component, patch string) {
	t.Helper()
	testworld.Do(t, w, configuration, commands.PatchParameters{
		ID: configuration, Of: document.OfComponent, Target: component, Patch: json.RawMessage(patch),
	})
	testworld.Do(t, w, configuration, commands.ValidateConfiguration{
		ID: configuration, Version: version, Status: commands.Validated, Findings: "[]",
	})
}

func summary(t *testing.T, w *testworld.World, sim projections.Simulation) (s results.Summary, files map[string]string) {
	t.Helper()
	if sim.Status != commands.Completed {
		t.Fatalf("the simulation is %s (%s), want completed", sim.Status, sim.FailureReason)
	}
	files = resultFiles(t, w, sim)
	if err := json.Unmarshal([]byte(files["summary.json"]), &s); err != nil {
		t.Fatal(err)
	}
	return s, files
}

// TestRunsTheVersionItWasStartedWith: a run simulates the requested version of the
// configuration, not the newest one.
func TestRunsTheVersionItWasStartedWith(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	simple := provisioned(t, w, small())
	if err := runner(w).Run(t.Context(), simple); err != nil {
		t.Fatal(err)
	}
	first, _ := summary(t, w, w.Simulation(t, simple))
	configuration := w.Simulation(t, simple).ConfigurationID
	const slower = `{"NetworkInterface":{"UplinkNetworkInterface":{"DataRate":{"value":100,"type":"datarate","unit":"Gbps"}}}}`
	changeParameters(t, w, configuration, 2, "nic", slower)

	old, oldFiles := summary(t, w, runVersion(t, w, configuration, 1, time.Hour))
	changed, changedFiles := summary(t, w, runVersion(t, w, configuration, 2, time.Hour))

	if old.SimulatedTimePs != first.SimulatedTimePs {
		t.Errorf("version 1 takes %d ps, want %d as before the change", old.SimulatedTimePs, first.SimulatedTimePs)
	}
	if r := float64(changed.SimulatedTimePs) / float64(first.SimulatedTimePs); r < 3 || r > 4 {
		t.Errorf("a quarter of the rate takes %.2f times as long, want 3 to 4 times", r)
	}
	for version, files := range []map[string]string{oldFiles, changedFiles} {
		var r execution.Receipt
		if err := json.Unmarshal([]byte(files["receipt.json"]), &r); err != nil {
			t.Fatal(err)
		}
		if r.ConfigurationVersion != int64(version+1) || !strings.HasPrefix(r.DocumentHash, "sha256:") {
			t.Errorf("got the receipt %+v, want version %d", r, version+1)
		}
	}
}

// newTrafficConfiguration creates a configuration of eight servers below one switch,
// with an uncoordinated application.
func newTrafficConfiguration(t *testing.T, w *testworld.World) string {
	t.Helper()
	find := func(model string) catalogue.Entry {
		e, known := catalogue.Find(model)
		if !known {
			t.Fatalf("no model %s", model)
		}
		return e
	}
	d := document.Document{GlobalParameters: document.Params{}, Topology: document.Topology{
		Type: "clos", TopologyTiers: 1, Components: []document.Ref{{Type: document.TypeRack, Name: "rack", Count: 1}},
	}}
	catalogue.Fill(d.GlobalParameters, catalogue.Globals())
	d.Applications = []document.Application{find("traffic-generator-v1").Application("web", "1.0.0")}
	server, rack := find("gpu-server-v1").Component("server", "1.0.0"), find("leaf-rack-v1").Container("rack", "1.0.0")
	server.Components = []document.Ref{{Type: document.TypeNIC, Name: "nic", Count: 1}}
	rack.Components = []document.Ref{{Type: document.TypeSwitch, Name: "leaf", Count: 1}, {Type: document.TypeServer, Name: "server", Count: 8}}
	d.Components = []document.Component{find("clos-switch-v1").Component("leaf", "1.0.0"), server, find("roce-nic-v1").Component("nic", "1.0.0")}
	d.Containers = []document.Container{rack}
	text, err := document.Canonical(d)
	if err != nil {
		t.Fatal(err)
	}
	id := events.NewID(events.ConfigurationPrefix)
	testworld.Do(t, w, id, commands.CreateConfiguration{Created: events.ConfigurationCreated{
		AccountID: testworld.Account, WorkspaceID: events.DefaultWorkspace, Name: "traffic", Document: text, Status: commands.Validated,
	}})
	return id
}

// TestTraffic: uncoordinated applications send messages for the whole duration, and
// need no traceset.
func TestTraffic(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	sim := runVersion(t, w, newTrafficConfiguration(t, w), 1, 200*time.Microsecond)
	s, files := summary(t, w, sim)
	// The load is half of 400 Gb/s, in messages of 16 KB with packet headers.
	if s.SimulatedTimePs != 200_000_000 || s.Transfers < 2300 || s.Transfers > 2600 || s.PayloadBytes != 16_000*s.Transfers || sim.Ranks != 8 {
		t.Errorf("got the summary %+v of %d ranks", s, sim.Ranks)
	}
	if rows := strings.Count(files["test-perf-0.csv"], "TransferFCT.web.GroupSize8.CommSize16000Bytes,-1,"); int64(rows) != s.Transfers {
		t.Errorf("got %d rows, want one for each of %d messages", rows, s.Transfers)
	}
	if _, there := files["test-collective-stats-0.csv"]; there {
		t.Error("got collective statistics, want none because messages are not collectives")
	}
	if strings.Contains(files["receipt.json"], "traceset") {
		t.Errorf("got the receipt %s, want it without a traceset", files["receipt.json"])
	}
}

// TestTooMuchTraffic: a simulation with too many messages is invalid before it
// starts, and the reason says how to reduce them.
func TestTooMuchTraffic(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	sim := runVersion(t, w, newTrafficConfiguration(t, w), 1, time.Hour)
	want := "more than the 5000000 that are simulated; shorten the duration to "
	if sim.Status != "invalid" || !strings.Contains(sim.FailureReason, want) || !strings.Contains(sim.FailureReason, "lower Load or raise MessageSize") {
		t.Errorf("the simulation is %s (%s), want invalid with advice", sim.Status, sim.FailureReason)
	}
}
