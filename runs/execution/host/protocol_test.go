package host_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"netsim/runs/execution"
)

const token = "a secret of both"

// TestProtocolOfNetsim: "netsim engine serve" conforms to docs/engine-protocol.md.
func TestProtocolOfNetsim(t *testing.T) {
	t.Parallel()
	conforms(t, serveNetsim(t).url)
}

// conforms checks that an engine conforms to the protocol.
func conforms(t *testing.T, url string) {
	t.Helper()
	e := engineAt{t, url, token}
	if about := e.call("GET", "/capabilities", nil).want(200); about["protocol"] != "1" || about["engine"] == "" || about["version"] == "" || fmt.Sprint(about["capabilities"]) != "[terminate]" {
		t.Errorf("got the capabilities %v", about)
	}
	e.strangers()
	e.refusals()

	o := e.order("a-run", small())
	run := e.start(o)
	if again := e.start(o); again != run {
		t.Errorf("the repeated order got run %s, want %s", again, run)
	}
	status := e.ended(run)
	if status["state"] != "completed" || status["simulatedTimeNs"].(float64) <= 0 || status["eventsProcessed"].(float64) <= 0 {
		t.Errorf("got the status %v, want completed with progress", status)
	}
	if after := e.start(o); after != run {
		t.Errorf("the order repeated after its end got run %s, want %s", after, run)
	}
	e.logs(run)
	if files := e.results(run); len(files) < 2 {
		t.Errorf("got the results %v, want at least 2", files)
	}
	e.call("GET", "/runs/"+run+"/results/nothing.csv", nil).want(404)
	e.call("POST", "/runs/"+run+"/terminate", nil).want(409)

	e.stopped()
	wrong := e.order("wrong", small())
	wrong.Traceset.Files[0].Hash = execution.Hash("another")
	if s := e.ended(e.start(wrong)); s["state"] != "failed" || !strings.Contains(s["failureReason"].(string), "does not match its hash") || strings.Contains(fmt.Sprint(s), "secret") {
		t.Errorf("wrong input: got the status %v, want failed because of its hash", s)
	}

	e.call("DELETE", "/runs/"+run, nil).want(204)
	e.unknown(run)
	if again := e.start(o); again == run {
		t.Errorf("the order repeated after the run was freed got run %s, want another one", again)
	}
}

// strangers checks that calls without the right token are refused.
func (e engineAt) strangers() {
	e.t.Helper()
	for _, secret := range []string{"", "another"} {
		stranger := engineAt{e.t, e.url, secret}
		for _, path := range []string{"GET /capabilities", "POST /runs", "GET /runs/x", "GET /runs/x/results", "DELETE /runs/x"} {
			method, path, _ := strings.Cut(path, " ")
			stranger.call(method, path, nil).want(401)
		}
	}
}

// refusals checks that malformed orders and calls for an unknown run are refused.
func (e engineAt) refusals() {
	e.t.Helper()
	for _, body := range []string{"", "{", "[]", "{}", `{"simulationId":"sim_1"}`} {
		if r := e.call("POST", "/runs", []byte(body)); r.status != 400 && r.status != 422 {
			e.t.Errorf("POST /runs %s: got %d %s, want 400 or 422", body, r.status, r.body)
		}
	}
	e.unknown("unknown")
}

// unknown checks that calls for a missing run get 404.
func (e engineAt) unknown(run string) {
	e.t.Helper()
	for _, call := range []string{"GET ", "GET /logs", "GET /results", "GET /results/a.csv", "POST /terminate", "DELETE "} {
		method, path, _ := strings.Cut(call, " ")
		e.call(method, "/runs/"+run+path, nil).want(404)
	}
}

// stopped checks that a terminated run has partial results.
func (e engineAt) stopped() {
	e.t.Helper()
	run := e.start(e.order("endless", endless()))
	e.until("the run has begun", func() bool {
		return len(e.call("GET", "/runs/"+run+"/logs", nil).want(200)["logs"].([]any)) > 0
	})
	if s := e.call("GET", "/runs/"+run, nil).want(200); s["state"] != "running" {
		e.t.Errorf("got the status %v, want running", s)
	}
	e.call("GET", "/runs/"+run+"/results", nil).want(409)
	e.call("GET", "/runs/"+run+"/results/summary.json", nil).want(409)
	if r := e.call("POST", "/runs/"+run+"/terminate", nil); r.status/100 != 2 {
		e.t.Errorf("terminate: got %d %s, want 2xx", r.status, r.body)
	}
	if s := e.ended(run); s["state"] != "terminated" {
		e.t.Errorf("got the status %v, want terminated", s)
	}
	if files := e.results(run); len(files) == 0 {
		e.t.Error("a terminated run has no partial results")
	}
}

// logs reads the log of a run from the beginning and from an entry, and checks both.
func (e engineAt) logs(run string) {
	e.t.Helper()
	var all struct {
		Logs []struct {
			Number                    int
			Timestamp                 time.Time
			Level, Component, Message string
		}
	}
	whole := e.call("GET", "/runs/"+run+"/logs?after=0", nil)
	whole.want(200)
	if err := json.Unmarshal(whole.body, &all); err != nil || len(all.Logs) < 2 || len(all.Logs) > 1000 {
		e.t.Fatalf("got the logs %v: %s", err, whole.body)
	}
	for i, l := range all.Logs {
		if l.Number != i+1 || time.Since(l.Timestamp).Abs() > time.Hour || l.Message == "" || !strings.Contains("debug info warn error", l.Level) {
			e.t.Errorf("got the log entry %+v at position %d", l, i+1)
		}
	}
	last := e.call("GET", fmt.Sprintf("/runs/%s/logs?after=%d", run, len(all.Logs)-1), nil).want(200)["logs"].([]any)
	if len(last) != 1 || last[0].(map[string]any)["number"] != float64(len(all.Logs)) {
		e.t.Errorf("got %v, want only the last entry", last)
	}
}

// results downloads the listed result files, and checks their checksums.
func (e engineAt) results(run string) map[string]string {
	e.t.Helper()
	var list struct {
		Files []struct {
			Name, Checksum string
			Size           int
		}
	}
	r := e.call("GET", "/runs/"+run+"/results", nil)
	r.want(200)
	if err := json.Unmarshal(r.body, &list); err != nil {
		e.t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range list.Files {
		content := e.call("GET", "/runs/"+run+"/results/"+f.Name, nil)
		sum := sha256.Sum256(content.body)
		if content.status != 200 || len(content.body) != f.Size || f.Checksum != "sha256:"+hex.EncodeToString(sum[:]) {
			e.t.Errorf("%s does not have the size and checksum of the list: status %d", f.Name, content.status)
		}
		files[f.Name] = string(content.body)
	}
	return files
}
