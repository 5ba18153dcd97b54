package runs_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"netsim/commands"
	"netsim/internal/scripted"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// TestRemoteTroublePasses: after any temporary fault of an engine, the run
// continues.
func TestRemoteTroublePasses(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	short := endedEngine("completed")
	short.Lies = map[string]string{"test-perf-0.csv": "a"}
	for name, trouble := range map[string]func(e *scripted.Engine){
		"fails":        func(e *scripted.Engine) { e.Do(answeringEngine("status", scripted.Answer{Status: 500})) },
		"answers late": func(e *scripted.Engine) { e.Do(answeringEngine("status", scripted.Answer{Delay: time.Hour})) },
		"sends nonsense": func(e *scripted.Engine) {
			e.Do(answeringEngine("status", scripted.Answer{Status: 200, Body: "<html>"}))
		},
		"redirects":   func(e *scripted.Engine) { e.Do(answeringEngine("status", scripted.Answer{Status: 302})) },
		"has no list": func(e *scripted.Engine) { e.Do(answeringEngine("results", scripted.Answer{Status: 409})) },
		"lists nonsense": func(e *scripted.Engine) {
			e.Do(answeringEngine("results", scripted.Answer{Status: 200, Body: `{"files":3}`}))
		},
		"cuts a file short": func(e *scripted.Engine) { e.Do(short) },
		"has lost a file":   func(e *scripted.Engine) { e.Do(answeringEngine("file", scripted.Answer{Status: 410})) },
		"is down":           nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := scripted.Start(t, runningEngine())
			proxy := e.Proxied()
			id := readyRemoteSimulation(t, w)
			r := remoteRunner(t, w, e)
			if name == "answers late" {
				r = impatientRunner(t, w, e)
			}
			done := runInBackground(t, r, id)
			testworld.Await(t, func() bool { return w.Simulation(t, id).SimulatedTimeNs == 500 })
			if name == "is down" {
				proxy.Refuse()
				e.Lose()
			} else {
				trouble(e)
			}
			testworld.Await(t, func() bool {
				return strings.Contains(strings.Join(logOf(t, w, id), "\n"), "\nthe engine ")
			})
			if s := w.Simulation(t, id); s.Status != commands.Running {
				t.Fatalf("the simulation is %s (%s), want running", s.Status, s.FailureReason)
			}
			if name == "is down" {
				proxy.Heal()
			}
			e.Do(endedEngine("completed"))
			if err := testwait.Receive(t, done, "the run to end"); err != nil {
				t.Fatal(err)
			}
			s := w.Simulation(t, id)
			if s.Status != commands.Completed {
				t.Fatalf("the simulation is %s (%s), want completed", s.Status, s.FailureReason)
			}
			if files := resultFiles(t, w, s); files["test-perf-0.csv"] != "a,b\n1,2\n" || len(files) != 3 {
				t.Errorf("got the files %q", files)
			}
		})
	}
}

// answeringEngine returns the script of an engine whose runs have completed. It
// answers one call as given.
func answeringEngine(call string, a scripted.Answer) scripted.Script {
	s := endedEngine("completed")
	s.Answers = map[string]scripted.Answer{call: a}
	return s
}

// TestRemoteTroubleStays: a run fails if the fault of its engine outlasts the
// timeout. The reason names the fault.
func TestRemoteTroubleStays(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	large := endedEngine("completed")
	large.Files["large.csv"] = strings.Repeat("x", 2000)
	never := runningEngine()
	never.Answers = map[string]scripted.Answer{"terminate": {Status: 409}}
	for name, c := range map[string]struct {
		script scripted.Script
		reason string
	}{
		"fails":          {answeringEngine("status", scripted.Answer{Status: 500, Body: `{"error":{"message":"full"}}`}), "for 100ms: the engine answers with status 500: full; the last"},
		"is silent":      {answeringEngine("status", scripted.Answer{Delay: time.Hour}), "for 100ms: the engine does not answer; the last"},
		"sends nonsense": {answeringEngine("results", scripted.Answer{Status: 200, Body: `{"files":[{"name":"../x"}]}`}), `protocol: the name "../x" of a result file`},
		"has too much":   {large, "the result files have more than the 1KB that a run may write"},
		"stands still":   {runningEngine(), "no simulated progress for 3s; the last finished collective is allReduce of 1KB"},
		"takes too long": {runningEngine(), "the run takes longer than the 50ms that a run may take; the last"},
		"does not stop":  {never, "no simulated progress for 3s; the last finished collective is allReduce of 1KB"},
		"loses its runs": {answeringEngine("status", scripted.Answer{Status: 404}), "the engine has lost the run 11 times"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := readyRemoteSimulation(t, w)
			e := scripted.Start(t, c.script)
			r := remoteRunner(t, w, e)
			if name == "is silent" { // each other engine answers, also on a busy machine
				r = impatientRunner(t, w, e)
			}
			switch name {
			case "fails", "is silent":
				r.Remote.Timeout = 100 * time.Millisecond
			case "sends nonsense", "does not stop":
				r.Remote.Timeout = 2 * time.Second
			case "takes too long":
				r.Limits.Time = 50 * time.Millisecond
			}
			r.Limits.ResultBytes, r.Stall = 1000, 3*time.Second
			if err := r.Run(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			s := w.Simulation(t, id)
			if s.Status != commands.Failed || !strings.Contains(s.FailureReason, c.reason) {
				t.Errorf("the simulation is %s (%s), want failed because of %q", s.Status, s.FailureReason, c.reason)
			}
			still := strings.Contains(strings.Join(logOf(t, w, id), "\n"), "simulated time stands still at 500ns since 2")
			if still != strings.Contains(c.reason, "no simulated") {
				t.Errorf("got the log %q, want a stall only if the run stalls", logOf(t, w, id))
			}
			if stopped := name == "stands still" || name == "takes too long"; stopped != (s.ResultsManifest != "") {
				t.Errorf("got the manifest %q, want one only of a run that the engine stopped", s.ResultsManifest)
			}
		})
	}
}

// TestRemoteLosesRuns: an engine that has restarted gets the order again, and the
// platform link names the new run.
func TestRemoteLosesRuns(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	e := scripted.Start(t, runningEngine())
	id := readyRemoteSimulation(t, w)
	done := runInBackground(t, remoteRunner(t, w, e), id)
	testworld.Await(t, func() bool { return w.Simulation(t, id).SimulatedTimeNs == 500 })
	e.Lose()
	testworld.Await(t, func() bool { return w.Simulation(t, id).RunID == "run-1-1" })
	e.Do(endedEngine("completed"))
	if err := testwait.Receive(t, done, "the run to end"); err != nil {
		t.Fatal(err)
	}
	if s := w.Simulation(t, id); s.Status != commands.Completed || len(e.Calls("order")) != 2 {
		t.Errorf("the simulation is %s after %d orders, want completed after 2", s.Status, len(e.Calls("order")))
	}
}

// TestRemoteLosesResults: after a run was ordered again, all result files are those
// of the new run, even if some files of the lost run had been fetched.
func TestRemoteLosesResults(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	lost := endedEngine("completed")
	lost.Lies = map[string]string{"test-perf-0.csv": "x"}
	lost.Files["a.csv"] = "of the lost run\n"
	e := scripted.Start(t, lost)
	id := readyRemoteSimulation(t, w)
	done := runInBackground(t, remoteRunner(t, w, e), id)
	testworld.Await(t, func() bool { return len(e.Calls("file")) >= 3 })
	e.Lose()
	again := endedEngine("completed")
	again.Files["a.csv"] = "of the other run\n"
	e.Do(again)
	if err := testwait.Receive(t, done, "the run to end"); err != nil {
		t.Fatal(err)
	}
	if got := resultFiles(t, w, w.Simulation(t, id))["a.csv"]; got != again.Files["a.csv"] {
		t.Errorf("got a.csv %q, want that of the second run", got)
	}
}

// TestRemoteWorkerDies: the next worker follows the same run.
func TestRemoteWorkerDies(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	e := scripted.Start(t, runningEngine())
	id := readyRemoteSimulation(t, w)
	r := remoteRunner(t, w, e)
	first, die := context.WithCancel(t.Context())
	died := make(chan error)
	go func() { died <- r.Run(first, id) }()
	testworld.Await(t, func() bool { return w.Simulation(t, id).SimulatedTimeNs == 500 })
	die()
	if err := testwait.Receive(t, died, "the worker to end"); !errors.Is(err, context.Canceled) {
		t.Fatalf("the first worker ended with %v, want its cancellation", err)
	}
	if len(e.Calls("terminate"))+len(e.Calls("free")) != 0 {
		t.Error("the worker stopped the run when it ended")
	}
	e.Do(endedEngine("completed"))
	if err := r.Run(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if s := w.Simulation(t, id); s.Status != commands.Completed || s.RunID != "run-0-1" || len(e.Calls("order")) != 1 {
		t.Errorf("the simulation is %s as run %s after %d orders, want completed as the first run", s.Status, s.RunID, len(e.Calls("order")))
	}
	if log := strings.Join(logOf(t, w, id), "\n"); strings.Count(log, "begun") != 1 {
		t.Errorf("got the log:\n%s\nwant the engine's entries once", log)
	}
}

// TestRemoteTerminated: the worker asks the engine to stop the run, and publishes
// the partial results. If the engine does not stop it, there are no results.
func TestRemoteTerminated(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	for name, answer := range map[string]int{"stops": 0, "does not stop": http.StatusConflict} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := scripted.Start(t, runningEngine())
			id := readyRemoteSimulation(t, w)
			r := remoteRunner(t, w, e)
			if answer != 0 { // else it may take as long as it likes
				r.Remote.Timeout = 300 * time.Millisecond
			}
			done := runInBackground(t, r, id)
			testworld.Await(t, func() bool { return w.Simulation(t, id).SimulatedTimeNs == 500 })
			if answer != 0 {
				never := runningEngine()
				never.Answers = map[string]scripted.Answer{"terminate": {Status: answer}}
				e.Do(never)
			}
			testworld.Do(t, w, id, commands.TerminateSimulation{ID: id, By: "tester"})
			if err := testwait.Receive(t, done, "the run to end"); err != nil {
				t.Fatal(err)
			}
			s := w.Simulation(t, id)
			if s.Status != commands.Terminated || (s.ResultsManifest != "") != (answer == 0) || len(e.Calls("free")) != 1 {
				t.Errorf("the simulation is %s, manifest %q, run freed %d times", s.Status, s.ResultsManifest, len(e.Calls("free")))
			}
			if answer == 0 && !strings.Contains(resultFiles(t, w, s)["receipt.json"], `"partial": true`) {
				t.Error("the receipt does not say that the results are partial")
			}
		})
	}
}

// TestRemoteNobodyTakesIt: the order is repeated until the staging limit, and then
// the simulation fails.
func TestRemoteNobodyTakesIt(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	e := scripted.Start(t, refusingEngine("order", 503, "busy"))
	id := readyRemoteSimulation(t, w)
	r := remoteRunner(t, w, e)
	if err := r.Run(t.Context(), id); err == nil || !strings.Contains(err.Error(), "busy") {
		t.Errorf("got the error %v, want that the engine is busy", err)
	}
	if s := w.Simulation(t, id); s.Status != commands.Provisioning {
		t.Errorf("the simulation is %s, want provisioning", s.Status)
	}
	r.Now = func() time.Time { return time.Now().Add(11 * time.Minute) }
	if err := r.Run(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if s := w.Simulation(t, id); s.Status != commands.Failed || s.FailureReason != "no engine took the run within 10m0s" {
		t.Errorf("the simulation is %s (%s), want failed because no engine took it", s.Status, s.FailureReason)
	}
}
