package runs_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/engines"
	"netsim/internal/scripted"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
	"netsim/projections"
	"netsim/runs"
	"netsim/runs/execution"
	"netsim/simulator/document"
)

// endedEngine returns the script of an engine whose runs have ended in a state.
func endedEngine(state string) scripted.Script {
	return scripted.Script{
		Capabilities: []string{"terminate"},
		Run: scripted.Run{
			State: state, SimulatedTimeNs: 1000, EventsProcessed: 50, DeliveredBytes: 4096, FinishedRanks: 8,
			LastCollective: "allReduce of 1KB", TotalBytes: 8192, FinishedCollectives: 2, TotalCollectives: 3,
		},
		Logs:  []string{"begun", "ended"},
		Files: map[string]string{"test-perf-0.csv": "a,b\n1,2\n", "summary.json": `{"totalPackets": 7, "avgLatencyPs": 9}`, "receipt.json": "{}"},
	}
}

func runningEngine() scripted.Script {
	s := endedEngine("running")
	s.Run.SimulatedTimeNs = 500
	return s
}

// remoteRunner returns a runner that uses the engines.
func remoteRunner(t *testing.T, w *testworld.World, engines ...*scripted.Engine) *runs.Runner {
	t.Helper()
	return newRemoteRunner(t, w, time.Minute, engines)
}

// impatientRunner returns a remoteRunner whose calls time out after 0.2 s.
func impatientRunner(t *testing.T, w *testworld.World, engines ...*scripted.Engine) *runs.Runner {
	t.Helper()
	return newRemoteRunner(t, w, 200*time.Millisecond, engines)
}

func newRemoteRunner(t *testing.T, w *testworld.World, timeout time.Duration, remote []*scripted.Engine) *runs.Runner {
	t.Helper()
	var urls []string
	for _, e := range remote {
		urls = append(urls, e.URL)
	}
	client, err := engines.New(engines.Config{URLs: urls, Token: "secret", Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	r := runner(w)
	r.Report = time.Millisecond
	r.Remote = runs.Remote{Engines: client, Poll: 5 * time.Millisecond, Timeout: 10 * time.Minute}
	return r
}

// newRemoteSimulation requests a simulation whose configuration asks for a remote
// engine.
func newRemoteSimulation(t *testing.T, w *testworld.World) string {
	t.Helper()
	simple := provisioned(t, w, small())
	configuration := w.Simulation(t, simple).ConfigurationID
	testworld.Do(t, w, configuration, commands.PatchParameters{
		ID: configuration, Of: document.OfGlobal,
		Patch: json.RawMessage(`{"EngineParameters": {"Engine": {"value": "remote", "type": "string"}}}`),
	})
	testworld.Do(t, w, configuration, commands.ValidateConfiguration{ID: configuration, Version: 2, Status: commands.Validated, Findings: "[]"})
	id := events.NewID(events.SimulationPrefix)
	testworld.Do(t, w, id, commands.RequestSimulation{Requested: events.SimulationRequested{
		Origin: commands.OriginStart, AccountID: testworld.Account, WorkspaceID: events.DefaultWorkspace,
		ConfigurationID: configuration, ConfigurationVersion: 2, Name: "test", DurationNs: int64(time.Hour), Duration: "1h",
	}})
	return id
}

// readyRemoteSimulation returns a newRemoteSimulation that is ready to run.
func readyRemoteSimulation(t *testing.T, w *testworld.World) string {
	t.Helper()
	id := newRemoteSimulation(t, w)
	testworld.Do(t, w, id, commands.ValidateSimulation{})
	return id
}

// runInBackground runs the simulation until it or the test ends. The channel
// receives the error of the run.
func runInBackground(t *testing.T, r *runs.Runner, id string) <-chan error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done, left := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(left)
		done <- r.Run(ctx, id)
	}()
	t.Cleanup(func() { cancel(); testwait.Receive(t, left, "the worker to stop") })
	return done
}

func logOf(t *testing.T, w *testworld.World, id string) []string {
	t.Helper()
	lines, _, err := projections.ListLogs(t.Context(), w.DB, projections.LogQuery{Simulation: id, Page: projections.Page{Limit: 100}})
	if err != nil {
		t.Fatal(err)
	}
	var messages []string
	for _, l := range lines {
		messages = append(messages, l.Message)
	}
	return messages
}

func TestRemoteCompletes(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	e := scripted.Start(t, runningEngine())
	id := readyRemoteSimulation(t, w)
	done := runInBackground(t, remoteRunner(t, w, e), id)
	testworld.Await(t, func() bool { return w.Simulation(t, id).SimulatedTimeNs == 500 })
	e.Do(endedEngine("completed"))
	if err := testwait.Receive(t, done, "the run to end"); err != nil {
		t.Fatal(err)
	}

	s := w.Simulation(t, id)
	if s.Status != commands.Completed || s.Engine != "remote" || s.BaseURL != e.URL || s.RunID != "run-0-1" || s.Capabilities != "terminate" || s.Ranks != 8 {
		t.Errorf("got %+v, want completed at the remote engine", s)
	}
	if s.SimulatedTimeNs != 1000 || s.EventsProcessed != 50 || s.DeliveredBytes != 4096 || s.FinishedRanks != 8 || s.TotalPackets != 7 || s.AvgLatencyPs != 9 {
		t.Errorf("got %+v, want the progress and the numbers of the engine", s)
	}
	if s.TotalBytes != 8192 || s.FinishedCollectives != 2 || s.TotalCollectives != 3 {
		t.Errorf("got %d bytes in all and %d of %d collectives, want 8192 and 2 of 3", s.TotalBytes, s.FinishedCollectives, s.TotalCollectives)
	}
	files := resultFiles(t, w, s)
	var receipt execution.Receipt
	if err := json.Unmarshal([]byte(files["receipt.json"]), &receipt); err != nil {
		t.Fatal(err)
	}
	if receipt.SimulationID != id || receipt.Engine != "scripted" || receipt.EngineVersion != "0.1" || receipt.Partial || len(receipt.Results) != 2 ||
		!receipt.StartedAt.Equal(s.CreatedAt) || strings.Contains(files["receipt.json"], "http") || files["test-perf-0.csv"] != "a,b\n1,2\n" {
		t.Errorf("got the receipt %s", files["receipt.json"])
	}
	log := logOf(t, w, id)
	if !slices.Contains(log, "begun") || !slices.Contains(log, "ended") {
		t.Errorf("got the log %q, want the entries of the engine", log)
	}
	orders := e.Calls("order")
	if len(orders) != 1 || orders[0].Simulation != id || orders[0].Token != "secret" || len(e.Calls("free")) != 1 {
		t.Errorf("got the calls %+v, want one order and one free", e.Calls(""))
	}
}

// TestRemoteEnds: a simulation ends as its run at the engine ends.
func TestRemoteEnds(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	failed := endedEngine("failed")
	failed.Run.FailureReason = "out of memory"
	unable := endedEngine("terminated")
	unable.Capabilities = nil
	for name, c := range map[string]struct {
		script         scripted.Script
		status, reason string
		end            string // in the receipt
	}{
		"failed":                 {failed, commands.Failed, "out of memory; the last finished collective is allReduce of 1KB", execution.Failed},
		"stopped there":          {endedEngine("terminated"), commands.Terminated, "", execution.Stopped},
		"stopped, but unable to": {unable, commands.Failed, "the engine stopped the run, which it says it cannot; the last finished collective is allReduce of 1KB", execution.Stopped},
		"refused by the engine":  {refusingEngine("order", 422, "too many ranks"), commands.Failed, "the engine refuses the run: too many ranks", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := readyRemoteSimulation(t, w)
			if err := remoteRunner(t, w, scripted.Start(t, c.script)).Run(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			s := w.Simulation(t, id)
			if s.Status != c.status || s.FailureReason != c.reason {
				t.Errorf("the simulation is %s (%s), want %s (%s)", s.Status, s.FailureReason, c.status, c.reason)
			}
			if c.end == "" {
				return
			}
			files := resultFiles(t, w, s)
			if !strings.Contains(files["receipt.json"], `"state": "`+c.end+`"`) || !strings.Contains(files["receipt.json"], `"partial": true`) {
				t.Errorf("got the receipt %s, want partial and %s", files["receipt.json"], c.end)
			}
		})
	}
}

// refusingEngine returns the script of an engine that refuses one call and is
// otherwise correct.
func refusingEngine(call string, status int, message string) scripted.Script {
	s := endedEngine("completed")
	s.Answers = map[string]scripted.Answer{call: {Status: status, Body: `{"error":{"message":"` + message + `"}}`}}
	return s
}

// TestRemoteRecheck: without an engine the simulation is invalid.
func TestRemoteRecheck(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	sim := w.Simulation(t, newRemoteSimulation(t, w))
	if _, reason, err := remoteRunner(t, w).Check(t.Context(), &sim); err != nil || reason != "engine remote is not available" {
		t.Errorf("no engine: got the reason %q, %v, want that it is not available", reason, err)
	}
	// The check accepts an engine that is down, because it may be up when the run is ordered.
	if hash, reason, err := remoteRunner(t, w, scripted.Down(t)).Check(t.Context(), &sim); err != nil || reason != "" || hash == "" {
		t.Errorf("an engine that is down: got the reason %q, %v, want none", reason, err)
	}
}
